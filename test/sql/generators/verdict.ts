import { readArrayText } from '../../../src/sql/syntax/literals.ts';

/** What a server says to a statement, in text as the wire protocol has it. */
export type WireAnswer =
  | {
      readonly columns: readonly { readonly name: string; readonly oid: number }[];
      readonly rows: readonly (readonly (string | null)[])[];
    }
  | { readonly sqlState: string; readonly message: string };

/**
 * What two answers to one statement come to: the same names, types and rows; an error of the same class in
 * both; what PostgreSQL answers and Millrace says by name that it does not do; or anything else.
 */
export type Verdict =
  | { readonly kind: 'same' | 'errors' | 'refused' | 'late' }
  | { readonly kind: 'different'; readonly reason: string };

/** SQLSTATEs that say what is not supported: a feature, a function, or the size or depth of the query. */
const refusals: ReadonlySet<string> = new Set(['0A000', '42883', '54000', '54001']);
/** The store has fewer years, months and digits; the message says which. */
const outOfStore = /can be (?:used|computed with)|can have here|the only spelling/;
/**
 * A pattern is read with the query, with all that is said about matches: what is bad is an error also where
 * the text is NULL in all rows.
 */
const isOfPattern = (sqlState: string, message: string): boolean =>
  sqlState === '2201B' || message.startsWith('regexp_');
/**
 * Of a value, of a name or type, and of a feature: of a statement with several faults, each server says
 * the one it meets first.
 */
const faults: ReadonlySet<string> = new Set(['22', '42', '0A']);
/** Of a refusal these say neither what is not supported nor where. */
const vague = /combines features in a way|meets a value that|operation on values of these types/;

/**
 * One of the servers took longer than is waited for, or refuses others after such a statement, which says
 * nothing about the answer.
 */
const isLate = (answer: WireAnswer): boolean =>
  'sqlState' in answer && ['57014', '53400'].includes(answer.sqlState);

export function verdictOf(statement: string, own: WireAnswer, other: WireAnswer): Verdict {
  if (isLate(own) || isLate(other)) return { kind: 'late' };
  if ('sqlState' in own) return verdictOfError(own, other);
  if ('sqlState' in other) {
    const rows = JSON.stringify(own.rows.slice(0, 2));
    return { kind: 'different', reason: `${rows}, PostgreSQL says ${other.sqlState} ${other.message}` };
  }
  const reason = differenceOf(statement, own, other);
  return reason === undefined ? { kind: 'same' } : { kind: 'different', reason };
}

function verdictOfError(own: Extract<WireAnswer, { sqlState: string }>, other: WireAnswer): Verdict {
  const { sqlState, message } = own;
  if (refusals.has(sqlState) && ('sqlState' in other || !vague.test(message))) {
    return { kind: 'sqlState' in other ? 'errors' : 'refused' };
  }
  if (!('sqlState' in other)) {
    if (sqlState.startsWith('22') && outOfStore.test(message)) return { kind: 'refused' };
    if (isOfPattern(sqlState, message) && other.rows.flat().every((cell) => cell === null))
      return { kind: 'refused' };
    const rows = JSON.stringify(other.rows.slice(0, 2));
    return { kind: 'different', reason: `${sqlState} ${message}, PostgreSQL has ${rows}` };
  }
  const states = [sqlState.slice(0, 2), other.sqlState.slice(0, 2)];
  if (states[0] === states[1] || states.every((state) => faults.has(state))) return { kind: 'errors' };
  const reason = `${sqlState} ${message}, PostgreSQL says ${other.sqlState} ${other.message}`;
  return { kind: 'different', reason };
}

type Rows = Exclude<WireAnswer, { sqlState: string }>;

/** `character varying`, names, names of types, rows and an unknown literal are text here. */
const typesHere: ReadonlyMap<number, number> = new Map([
  [1043, 25],
  [19, 25],
  [2206, 25],
  [705, 25],
  [2249, 25],
]);
/** Of logarithms, roots and powers of numbers that it cannot compute exactly, Millrace makes a double. */
const isNumberEither = (own: number, other: number): boolean => own === oids.float && other === oids.numeric;

function differenceOf(statement: string, own: Rows, other: Rows): string | undefined {
  if (own.columns.length !== other.columns.length) {
    return `${own.columns.length} columns, PostgreSQL has ${other.columns.length}`;
  }
  for (const [index, { name, oid }] of other.columns.entries()) {
    const column = own.columns[index];
    if (column?.name !== name) return `column ${column?.name}, PostgreSQL has ${name}`;
    if (![oid, typesHere.get(oid)].includes(column.oid) && !isNumberEither(column.oid, oid)) {
      return `${name} is of type ${column.oid}, PostgreSQL has ${oid}`;
    }
  }
  return differenceOfRows(statement, own, other);
}

function differenceOfRows(statement: string, own: Rows, other: Rows): string | undefined {
  const isRounded = rounds.test(statement);
  const types = own.columns.map(({ oid }) => oid);
  const isSame = (row: readonly (string | null)[], expected: readonly (string | null)[]): boolean =>
    row.every((cell, index) => isSameCell(cell, expected[index] ?? null, types[index] ?? 0, isRounded));
  if (own.rows.length !== other.rows.length) {
    return `${own.rows.length} rows, PostgreSQL has ${other.rows.length}`;
  }
  const ordered = isWhollyOrdered(statement, types.length);
  const rest = [...other.rows];
  for (const [index, row] of own.rows.entries()) {
    const place = ordered ? 0 : rest.findIndex((candidate) => isSame(row, candidate));
    const candidate = rest[place];
    if (candidate === undefined || !isSame(row, candidate)) {
      const expected = ordered || rest.length === 1 ? rest[0] : rest.slice(0, 3);
      return `row ${index + 1} is ${JSON.stringify(row)}, PostgreSQL has ${JSON.stringify(expected)}`;
    }
    rest.splice(place, 1);
  }
  return undefined;
}

const position = String.raw`\d+(?: asc| desc)?(?: nulls (?:first|last))?`;
const orderOfPositions = new RegExp(
  String.raw`order by (${position}(?:, ${position})*)(?: limit \d+)?(?: offset \d+)?$`,
  'i',
);

/** Ends with an ORDER BY of all positions: equal rows cannot be told apart, so that there is one order. */
function isWhollyOrdered(statement: string, columns: number): boolean {
  const [, list = ''] = orderOfPositions.exec(statement) ?? [];
  return new Set(list.split(', ').map((each) => Number.parseInt(each, 10))).size === columns && list !== '';
}

/** Sums in another order and functions of the C library differ in the last digits of a double. */
const rounds =
  /\b(?:sum|avg|stddev\w*|var\w*|corr|covar\w*|regr\w*|percentile_cont|exp|ln|log\w*|power|sqrt|cbrt|sin|cos|tan|cot|sinh|cosh|tanh|asinh|acosh|atanh|atan2?|asin|acos|degrees|radians|pi|cume_dist|percent_rank)\b|[\^/]/i;
const relativeTolerance = 1e-12;
/** Quotients of decimals have 20 digits behind the point. */
const numericTolerance = 1e-19;

const oids = { float: 701, numeric: 1700, floats: 1022, numerics: 1231 } as const;

function isSameCell(own: string | null, other: string | null, oid: number, isRounded: boolean): boolean {
  if (own === other) return true;
  if (own === null || other === null) return false;
  if (oid === oids.float) return isRounded && isClose(own, other);
  if (oid === oids.numeric) return isSameNumeric(own, other, isRounded);
  if (oid !== oids.floats && oid !== oids.numerics) return false;
  const [left, right] = [readArrayText(own), readArrayText(other)];
  const element = oid === oids.floats ? oids.float : oids.numeric;
  return (
    left !== undefined &&
    left.length === right?.length &&
    left.every((each, index) => isSameCell(each, right[index] ?? null, element, isRounded))
  );
}

const isClose = (a: string, b: string): boolean =>
  Number.isFinite(Number(a)) &&
  Number.isFinite(Number(b)) &&
  Math.abs(Number(a) - Number(b)) <= relativeTolerance * Math.max(Math.abs(Number(a)), Math.abs(Number(b)));

/**
 * The same value; how many zeros stand behind it depends on the scale of the type in the store. A quotient,
 * a root or an average has as many digits as each of the two computes.
 */
function isSameNumeric(own: string, other: string, isRounded: boolean): boolean {
  const value = (text: string): string =>
    text.includes('.') ? text.replace(/\.?0+$/, '').replace(/^-0$/, '0') : text.replace(/^-0$/, '0');
  return (
    value(own) === value(other) ||
    (isRounded && (isClose(own, other) || Math.abs(Number(own) - Number(other)) < numericTolerance))
  );
}
