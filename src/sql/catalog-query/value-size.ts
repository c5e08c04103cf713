import { limits } from '../../limits/limits.ts';
import { sqlError } from '../sql-error.ts';
import type { Value } from '../system-catalog/catalog-value.ts';

/**
 * Values of queries of the catalog are made in the heap of the thread. V8 ends the whole process where an
 * allocation of more than 16 MiB fails, so no value comes near that: what is put together is counted before.
 */

/** Characters of a text, and elements of an array with those of their texts. */
export function sizeOf(value: Value | undefined): number {
  if (typeof value === 'string') return value.length;
  if (!Array.isArray(value)) return 1;
  let size = 0;
  for (const item of value as readonly Value[]) size += 1 + sizeOf(item);
  return size;
}

/** @throws AppError `sql_too_large` */
export function requireSize(size: number): void {
  if (size <= limits.maxCatalogValueSize) return;
  throw sqlError(
    'sql_too_large',
    `A value of a query of the catalog has more than ${limits.maxCatalogValueSize} characters or elements`,
  );
}

/** The value itself. @throws AppError `sql_too_large` */
export function bounded(value: Value): Value {
  requireSize(sizeOf(value));
  return value;
}
