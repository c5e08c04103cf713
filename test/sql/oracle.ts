/** A query's answer, cell by cell as PostgreSQL prints it; null is NULL. */
export interface PostgresResult {
  readonly names: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** What PostgreSQL says to a query: rows, or its SQLSTATE. */
export type PostgresAnswer = PostgresResult | { readonly sqlState: string };

/** A PostgreSQL of which nobody else knows. */
export interface Oracle {
  /** For messages: which PostgreSQL it is. */
  readonly name: string;
  /** Runs statements; fails if one does. */
  execute(sql: string): Promise<void>;
  /** Each query's answer, all in one session. */
  answers(queries: readonly string[]): Promise<readonly PostgresAnswer[]>;
  stop(): Promise<void>;
}

/** What `COPY (query) TO … (FORMAT text, HEADER)` writes. */
export function parseCopy(text: string): PostgresResult {
  const [header = '', ...lines] = text.replace(/\n$/, '').split('\n');
  return { names: header.split('\t'), rows: lines.map((line) => line.split('\t').map(parseCell)) };
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v' };

/** One cell of COPY's text format. */
const parseCell = (cell: string): string | null =>
  cell === '\\N' ? null : cell.replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character);
