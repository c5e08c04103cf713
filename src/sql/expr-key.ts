import { createHash } from 'node:crypto';
import { children } from './build.ts';
import type { Expr, WindowSpec } from './ir.ts';

/**
 * A text that is equal for expressions that mean the same. A subquery is equal to itself only, which is what
 * PostgreSQL finds for most, too.
 */
export function exprKey(expr: Expr): string {
  const before = knownKeys.get(expr);
  if (before !== undefined) return before;
  const key = keyOf(expr);
  const short = key.length <= maxKeyLength ? key : `#${createHash('sha256').update(key).digest('base64')}`;
  knownKeys.set(expr, short);
  return short;
}

/**
 * An expression stands in the keys of all those around it: each is made once, and a long one is
 * as good as its digest.
 */
const knownKeys = new WeakMap<Expr, string>();
const maxKeyLength = 200;

/** What tells windows apart beside the expressions in them. */
const windowKey = (over: WindowSpec | undefined): string =>
  over === undefined
    ? ''
    : JSON.stringify([
        over.partitionBy.length,
        over.orderBy.map(({ descending, nullsFirst }) => [descending, nullsFirst]),
        over.frame,
      ]);

function keyOf(expr: Expr): string {
  const parts = children(expr).map(exprKey).join(',');
  switch (expr.kind) {
    case 'literal':
      return `${expr.type.name}:${JSON.stringify(expr.value)}`;
    case 'parameter':
      return `$${expr.number}`;
    case 'column':
      return `${expr.relation}.${expr.name}`;
    case 'mixed':
      return `mixed:${expr.label}`;
    case 'apply':
      return `${expr.name}[${parts}]`;
    case 'aggregate':
      return `${expr.name}${expr.distinct ? ' distinct' : ''}[${parts}]${windowKey(expr.over)}`;
    case 'subquery':
      return `subquery:${expr.id}`;
  }
}
