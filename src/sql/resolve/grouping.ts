import { children, some } from '../build.ts';
import { sqlError } from '../errors.ts';
import type { Expr } from '../ir.ts';

export const isAggregate = (expr: Expr): boolean => expr.kind === 'aggregate' && expr.over === undefined;
export const hasAggregate = (expr: Expr): boolean => some(expr, isAggregate);

/**
 * A text that is equal for expressions that mean the same. A subquery is equal to itself only, which is what
 * PostgreSQL finds for most, too.
 */
export function exprKey(expr: Expr): string {
  const parts = children(expr).map(exprKey).join(',');
  switch (expr.kind) {
    case 'literal':
      return `${expr.type.name}:${JSON.stringify(expr.value)}`;
    case 'column':
      return `${expr.relation}.${expr.name}`;
    case 'mixed':
      return `mixed:${expr.label}`;
    case 'apply':
      return `${expr.name}[${parts}]`;
    case 'aggregate':
      return `${expr.name}${expr.distinct ? ' distinct' : ''}[${parts}]${JSON.stringify(expr.over?.frame ?? null)}`;
    case 'subquery':
      return `subquery:${expr.id}`;
  }
}

/**
 * Checks that a grouped query's expression has nothing but grouped expressions, aggregates and what is made
 * of them.
 * @throws AppError `sql_grouping`, which names the column
 */
export function checkGrouped(expr: Expr, groupKeys: ReadonlySet<string>, at: number | undefined): void {
  if (groupKeys.has(exprKey(expr)) || isAggregate(expr)) return;
  if (expr.kind === 'column' && !expr.outer) {
    throw sqlError(
      'sql_grouping',
      `column "${expr.label}" must appear in the GROUP BY clause or be used in an aggregate function`,
      at,
    );
  }
  for (const child of children(expr)) checkGrouped(child, groupKeys, at);
}
