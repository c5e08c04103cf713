export interface ResultColumn {
  readonly name: string;
  /** As PostgreSQL names it. */
  readonly type: string;
}

/** A value as JSON gives it; integers that JavaScript cannot hold are the text of their digits. */
export type Cell = unknown;
export type Row = readonly Cell[];

export interface QueryStatistics {
  readonly elapsedMs: number;
  readonly rowsRead?: number;
  readonly bytesRead?: number;
}

export interface Result {
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly Row[];
  readonly statistics: QueryStatistics;
}

/** A result that is not whole. */
export class ResultError extends Error {
  override readonly name = 'ResultError';
  readonly problem: { readonly code: string; readonly detail: string };

  constructor(problem: { readonly code: string; readonly detail: string }) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** Digits beyond those that a JavaScript number holds. */
const manyDigits = /\d{16}/;

/** @throws ResultError if the result is not complete */
export function parseResult(text: string): Result {
  const lines = text.split('\n');
  const { columns } = JSON.parse(lines[0] ?? '{}') as { columns: readonly ResultColumn[] };
  const rows: Row[] = [];
  for (const line of lines.slice(1)) {
    if (line === '') continue;
    const value = parseJson(line);
    if (Array.isArray(value)) {
      rows.push(value as Row);
      continue;
    }
    const end = value as { statistics?: QueryStatistics; error?: { code: string; detail: string } };
    if (end.statistics !== undefined) return { columns, rows, statistics: end.statistics };
    if (end.error !== undefined) throw new ResultError(end.error);
  }
  throw new ResultError({ code: 'incomplete', detail: 'The result broke off before its end.' });
}

interface ReviverContext {
  readonly source?: string;
}

/**
 * JSON, with integers that JavaScript cannot hold as the text of their digits. Browsers that do not tell the
 * source of a number show it as a number, with fewer digits.
 */
export const parseJson = (json: string): unknown =>
  manyDigits.test(json)
    ? JSON.parse(json, (_key, value: unknown, context?: ReviverContext) =>
        typeof value === 'number' && context?.source !== undefined && !isExact(value, context.source)
          ? context.source
          : value,
      )
    : JSON.parse(json);

const isExact = (value: number, source: string): boolean =>
  !/^-?\d+$/.test(source) || Number.isSafeInteger(value);
