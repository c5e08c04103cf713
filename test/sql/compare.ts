import { readArrayText } from '../../src/sql/syntax/literals.ts';
import type { PostgresResult } from './oracle.ts';

/** Doubles are sums in another order: this much of a value may differ, and no more. */
const relativeTolerance = 1e-12;

/** Rows as Millrace gives them, cells in the order of the columns. */
export interface Rows {
  readonly names: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** What differs between two answers, in words; undefined if nothing does. */
export function difference(actual: Rows, expected: PostgresResult, ordered: boolean): string | undefined {
  if (JSON.stringify(actual.names) !== JSON.stringify(expected.names)) {
    return `columns ${JSON.stringify(actual.names)}, PostgreSQL has ${JSON.stringify(expected.names)}`;
  }
  if (actual.rows.length !== expected.rows.length) {
    return `${actual.rows.length} rows, PostgreSQL has ${expected.rows.length}`;
  }
  const remaining = [...expected.rows];
  for (const [index, row] of actual.rows.entries()) {
    const place = ordered ? 0 : remaining.findIndex((candidate) => sameRow(row, candidate));
    const candidate = remaining[place];
    if (candidate === undefined || !sameRow(row, candidate)) {
      const other = ordered ? JSON.stringify(candidate) : 'no such row';
      return `row ${index + 1}: ${JSON.stringify(row)}, PostgreSQL has ${other}`;
    }
    remaining.splice(place, 1);
  }
  return undefined;
}

const sameRow = (actual: readonly unknown[], expected: readonly (string | null)[]): boolean =>
  actual.length === expected.length && actual.every((cell, index) => sameCell(cell, expected[index] ?? null));

/** A cell of JSON against PostgreSQL's text. The JSON type says what to compare as. */
function sameCell(actual: unknown, expected: string | null): boolean {
  // JSON has no NaN; Millrace gives null for it.
  if (actual === null) return expected === null || expected === 'NaN';
  if (expected === null) return false;
  if (typeof actual === 'boolean') return expected === (actual ? 't' : 'f');
  if (typeof actual === 'number') return sameNumber(actual, expected);
  if (Array.isArray(actual)) return sameArray(actual, expected);
  if (typeof actual !== 'string') return false;
  return actual === expected || (isInstant(actual) && instantMicros(actual) === instantMicros(expected));
}

/** A JSON array against PostgreSQL's text form of an array, `{1,NULL,"a b"}`. */
function sameArray(actual: readonly unknown[], expected: string): boolean {
  const items = readArrayText(expected);
  return (
    items !== undefined &&
    items.length === actual.length &&
    actual.every((item, index) => sameCell(item, items[index] ?? null))
  );
}

function sameNumber(actual: number, text: string): boolean {
  const expected = Number(text);
  if (actual === expected) return true;
  // JSON gives infinities as strings: the tolerance of one would be anything.
  if (!Number.isFinite(expected)) return false;
  // Of a whole number PostgreSQL writes all digits; a double that is one by its size alone has an exponent.
  if (Number.isInteger(actual) && Number.isInteger(expected) && !text.includes('e')) return false;
  return Math.abs(actual - expected) <= relativeTolerance * Math.max(Math.abs(actual), Math.abs(expected));
}

/** RFC 3339, as Millrace prints timestamps. */
const isInstant = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text);

/** Of RFC 3339 and of PostgreSQL's own form, `2024-03-01 10:00:00.5+00`. */
function instantMicros(text: string): number {
  const [, day, time, fraction = ''] =
    /^(\S{10})[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00)?$/.exec(text) ?? [];
  return Date.parse(`${day}T${time}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
}
