import type { Call, Expression, Query } from '../ast.ts';
import { literal } from '../build.ts';
import type { Expr } from '../ir.ts';
import type { QueryParameters } from '../parameters.ts';
import type { SystemCatalog } from '../system-catalog/system-catalog.ts';
import { int4, int8, text } from '../types.ts';
import { answerCatalogQuery } from './answer-catalog-query.ts';
import { isCatalogFunction } from './catalog-functions.ts';

/**
 * `current_user`, `current_setting ('TimeZone')`, `to_regclass ('app')` in a query of the store: what the
 * catalog answers for it, as a constant.
 * @returns undefined for a call that needs rows, or has an effect
 * @throws AppError `sql_…`
 */
export function answerConstantCall(
  call: Call,
  catalog: SystemCatalog,
  parameters: QueryParameters,
): Expr | undefined {
  if (call.name === 'set_config' || !isCatalogFunction(call.name) || !isConstant(call)) return undefined;
  const { query, effects } = answerCatalogQuery(selectOf(call), catalog, parameters, true);
  const { from, items } = query;
  const [item] = items;
  if (from?.kind !== 'rows' || item === undefined || effects.length > 0) return undefined;
  const [row, second] = from.rows;
  if (row === undefined || second !== undefined) return undefined;
  const [, cell = null] = row;
  const type = from.columns[1]?.type ?? text;
  const isNumber = type.name === int4.name || type.name === int8.name;
  const value = literal(type, cell === null ? null : isNumber || type.name === 'text' ? String(cell) : cell);
  return item.kind === 'apply' ? { ...item, args: [value] } : value;
}

/** Made of literals alone. */
function isConstant(expression: Expression): boolean {
  switch (expression.kind) {
    case 'constant':
      return true;
    case 'cast':
      return isConstant(expression.arg);
    case 'call':
      return (
        !expression.star &&
        !expression.distinct &&
        expression.over === undefined &&
        expression.args.every(isConstant)
      );
    default:
      return false;
  }
}

const selectOf = (call: Call): Query => ({
  ctes: [],
  body: {
    kind: 'select',
    distinct: false,
    distinctOn: [],
    items: [{ expression: call, alias: undefined }],
    from: [],
    where: undefined,
    groupingSets: [],
    having: undefined,
    windows: new Map(),
  },
  orderBy: [],
  limit: undefined,
  offset: undefined,
  withTies: false,
});
