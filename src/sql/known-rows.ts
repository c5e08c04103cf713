import { type ConstantValue, constantValue } from './constant-value.ts';
import type { Expr, QueryIr } from './ir.ts';
import { dateText } from './syntax/literals.ts';
import type { SqlType } from './types.ts';

/**
 * The rows of a query that needs no store: of constants, or of the catalog. They are written as the store
 * writes them in its format TabSeparated with the settings of the form `rows`, so that readers of that form
 * cannot tell them apart.
 */
export interface KnownRows {
  readonly count: number;
  /** The whole document. */
  readonly text: string;
}

/** @param rows cells as they are written: `textCell`, `arrayCell`, `nullCell`, or a number */
export const tabSeparated = (rows: ReadonlyArray<readonly string[]>): KnownRows => ({
  count: rows.length,
  text: rows.map((row) => `${row.join('\t')}\n`).join(''),
});

export const nullCell = '\\N';

/** A text, without what would end its cell. */
export const textCell = (text: string): string =>
  /[\\\t\n]/.test(text) ? text.replace(/[\\\t\n]/g, (each) => escapes[each] ?? each) : text;

/** A text within an array, where it stands in quotes. */
const quotedText = (text: string): string =>
  `'${text.replace(/[\\'\t\n]/g, (each) => escapes[each] ?? each)}'`;

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '\t': '\\t', '\n': '\\n' };

/** An array, in which texts stand in quotes. */
export const arrayCell = (items: ReadonlyArray<string | number | boolean | null>): string =>
  `[${items.map((item) => (item === null ? 'NULL' : typeof item === 'string' ? quotedText(item) : String(item))).join(',')}]`;

/** Of a query whose rows are constants; undefined for every other one, and where the answer is an error. */
export function constantRows(query: QueryIr): KnownRows | undefined {
  const rows = rowsOf(query);
  if (rows === undefined) return undefined;
  const cells: string[][] = [];
  for (const row of rows) {
    const made: string[] = [];
    for (const [index, expr] of row.entries()) {
      const type = query.columns[index]?.type;
      const value = constantValue(expr);
      const cell = type === undefined || value === undefined ? undefined : cellOf(value, type);
      if (cell === undefined) return undefined;
      made.push(cell);
    }
    cells.push(made);
  }
  return tabSeparated(cells);
}

function rowsOf(query: QueryIr): ReadonlyArray<readonly Expr[]> | undefined {
  if (query.kind === 'values') return query.rows;
  if (query.kind === 'set' || query.items.length === 0) return undefined;
  const { from, where, having, limit, offset, limitBy, distinctOn, groupingSets } = query;
  const hasClause = [from, where, having, limit, offset, limitBy].some((clause) => clause !== undefined);
  return hasClause || distinctOn.length > 0 || groupingSets.length > 0 ? undefined : [query.items];
}

/** A value as the store writes it; undefined where that is not sure. */
function cellOf(value: ConstantValue, type: SqlType): string | undefined {
  if (value === null) return type.name === 'array' || type.name === 'map' ? undefined : nullCell;
  switch (type.name) {
    case 'bool':
      return typeof value === 'boolean' ? (value ? 't' : 'f') : undefined;
    case 'int2':
    case 'int4':
    case 'int8':
      return typeof value === 'bigint' ? String(value) : undefined;
    case 'float':
      return typeof value === 'number' ? doubleCell(value) : undefined;
    case 'numeric':
      return typeof value === 'string' ? decimalCell(value, type.scale) : undefined;
    case 'text':
      return typeof value === 'string' ? textCell(value) : undefined;
    case 'timestamp':
    case 'timestamptz':
      return typeof value === 'number' ? timestampCell(value) : undefined;
    case 'date':
      return typeof value === 'number' ? dateText(value) : undefined;
    default:
      return undefined;
  }
}

/** Readers of the form take any text of a double that gives it back. */
export function doubleCell(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Undefined for what the store would write in another way than it was given. */
function decimalCell(text: string, scale: number): string | undefined {
  const match = /^-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text);
  if (match === null || (match[1]?.length ?? 0) !== scale) return undefined;
  return /^-[0.]+$/.test(text) ? undefined : text;
}

/** @param micros since 1970, within the years of the store's time types */
function timestampCell(micros: number): string | undefined {
  if (!Number.isSafeInteger(micros)) return undefined;
  const ms = Math.floor(micros / 1000);
  const rest = micros - ms * 1000;
  return `${new Date(ms).toISOString().slice(0, 23).replace('T', ' ')}${String(rest).padStart(3, '0')}`;
}
