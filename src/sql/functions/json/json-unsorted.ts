import { apply } from '../../build.ts';
import type { Expr, Renderer } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { json as jsonType, type SqlType } from '../../types.ts';
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

/**
 * JSON that the engine reads: with numbers within bigint and double precision. Of a literal this is known
 * here; what the query makes of numbers is checked when it runs.
 */
export function withReadNumbers(expr: Expr, at: number | undefined): Expr {
  if (isMadeOfNumbers(expr)) return apply('json with read numbers', expr.type, checked, expr);
  if (expr.kind === 'literal' && typeof expr.value === 'string') checkNumbers(expr.value, at);
  return expr;
}

/** Whether the query writes numbers into this JSON. */
const isMadeOfNumbers = (expr: Expr): boolean =>
  expr.kind === 'apply' &&
  expr.args.some(
    (part) =>
      part.kind === 'apply' &&
      part.name.startsWith('json of ') &&
      part.args.some(({ type }) => hasFarNumbers(type.name === 'array' ? type.element : type)),
  );

const hasFarNumbers = ({ name }: SqlType): boolean => name === 'float' || name === 'numeric';

const checked: Renderer = (json) => {
  const isLong = raiseIf("NOT isValidJSON(ifNull(v, '0'))", 'longJsonNumber');
  return letBindings(['v'], [json], `concat(v, substring('', 1 + ${isLong}))`);
};

function checkNumbers(written: string, at: number | undefined): void {
  for (const [found] of written.matchAll(stringOrNumber)) {
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
