import { apply } from '../../build.ts';
import type { Expr } from '../../ir.ts';
import { unsupported } from '../../sql-error.ts';
import { json as jsonType } from '../../types.ts';
import { conversion } from '../numbers/conversions.ts';

/**
 * `x::jsonb` sorts the members of objects and writes numbers anew, which takes much longer than to find
 * something in the text. What only looks into it takes the text as it was.
 */
const sorting: ReadonlySet<string> = new Set(['cast text jsonb', 'cast json jsonb']);

export const isUnsorted = (expr: Expr): boolean => expr.kind === 'apply' && sorting.has(expr.name);

/** The JSON of which a value of `jsonb` was made; others as they are. */
export function withoutOrder(expr: Expr): Expr {
  const [source] = expr.kind === 'apply' && sorting.has(expr.name) ? expr.args : [];
  if (source === undefined) return expr;
  if (source.type.name === 'json') return source;
  const checked = conversion(source.type, jsonType);
  if (checked === undefined) throw new Error(`BUG: ${source.type.name} is no JSON`);
  return apply('cast text json', jsonType, checked, source);
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|[^\s,:"{}[\]]+/g;

/** The engine reads JSON whose numbers are within bigint and double precision. */
export function checkNumbers(expr: Expr, at: number | undefined): void {
  if (expr.kind !== 'literal' || typeof expr.value !== 'string') return;
  for (const [found] of expr.value.matchAll(stringOrNumber)) {
    if (!/^-?\d/.test(found)) continue;
    const isInteger = /^-?\d+$/.test(found);
    const isFar = isInteger
      ? found.length > 18 && (BigInt(found) < -(2n ** 63n) || BigInt(found) >= 2n ** 64n)
      : !Number.isFinite(Number(found));
    if (isFar) throw unsupported('An operation on JSON with a number beyond bigint or double precision', at);
  }
}

/** A NULL of which the engine knows that it is a text. */
export const typedNull = (expr: Expr): Expr =>
  expr.kind === 'literal' && expr.value === null
    ? apply('null json', expr.type, () => "CAST(NULL, 'Nullable(String)')")
    : expr;
