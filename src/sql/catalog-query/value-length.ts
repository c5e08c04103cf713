import { limits } from '../../limits/limits.ts';
import { sqlError } from '../sql-error.ts';
import type { Value } from '../system-catalog/catalog-value.ts';

/**
 * Values of queries of the catalog are made in the heap of the thread. V8 ends the whole process where an
 * allocation of more than 16 MiB fails, so no value comes near that: what is put together is counted before.
 */

/** Counts steps. */
interface Spending {
  readonly spend: (steps: number) => void;
}

/** Characters or elements that take about as long as one other step. */
const perStep = 32;

/** Characters of a text, and elements of an array with those of their texts. */
export function lengthOf(value: Value | undefined): number {
  if (typeof value === 'string') return value.length;
  if (!Array.isArray(value)) return 1;
  let length = 0;
  for (const item of value as readonly Value[]) length += 1 + (typeof item === 'number' ? 0 : lengthOf(item));
  return length;
}

/** @throws AppError `sql_too_large` */
export function requireLength(length: number): void {
  const most = limits.maxCatalogValueLength;
  if (length > most)
    throw sqlError(
      'sql_too_large',
      `A value in a query of the catalog has more than ${most} characters or elements`,
    );
}

/**
 * Asked before a text or an array of this length is made or read: a query can make each longer than the one
 * before. @throws AppError `sql_too_large`
 */
export function spendLength({ spend }: Spending, length: number): void {
  requireLength(length);
  spend(Math.ceil(length / perStep));
}

/**
 * What a function was given and what it has made, beyond what its own step pays for: functions as `upper` and
 * `quote_literal` take as long as their texts, and give a small multiple of them.
 * @throws AppError `sql_too_large`
 */
export function spendCall({ spend }: Spending, given: readonly Value[], made: Value): void {
  const length = lengthOf(made);
  requireLength(length);
  let whole = length;
  for (const value of given) whole += typeof value === 'string' || Array.isArray(value) ? value.length : 0;
  if (whole >= perStep) spend(Math.floor(whole / perStep));
}

/** @param rows that a function gives @throws AppError likewise */
export function spendRows(spending: Spending, rows: number): void {
  spendLength(spending, rows);
  spending.spend(rows);
}
