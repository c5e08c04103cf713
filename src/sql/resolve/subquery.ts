import type { Query } from '../ast.ts';
import { coerce, isImplicit } from '../coerce.ts';
import { sqlError, unsupported } from '../errors.ts';
import type { Expr, QueryIr, Subquery } from '../ir.ts';
import { bool, commonType, type SqlType, typeLabel } from '../types.ts';
import type { ExpressionContext } from './context.ts';
import { coerceOutputs } from './outputs.ts';

type Form = Pick<Subquery, 'form' | 'type' | 'query'> & Partial<Pick<Subquery, 'arg' | 'zeroWhenEmpty'>>;

const subquery = (form: Form, context: ExpressionContext): Subquery => ({
  kind: 'subquery',
  id: context.env.alias(),
  arg: undefined,
  zeroWhenEmpty: false,
  threeValued: true,
  ...form,
});

/** One column, at most one row; no row gives NULL. */
export function resolveScalarSubquery(ast: Query, context: ExpressionContext, at: number | undefined): Expr {
  const { query, correlated } = context.query(ast, context, context.scope, true);
  const type = onlyColumn(query, at);
  if (!correlated) return subquery({ form: 'scalar', type, query }, context);
  // Without an aggregate the store doesn't check that there is one row only.
  const [item] = query.kind === 'select' ? query.items : [];
  const isAggregate = item?.kind === 'aggregate' && item.over === undefined;
  if (query.kind !== 'select' || !isAggregate || query.groupBy.length > 0 || hasLimit(query)) {
    throw unsupported('A correlated scalar subquery that is not a single aggregate', at);
  }
  return subquery({ form: 'scalar', type, query, zeroWhenEmpty: item.name.startsWith('count') }, context);
}

export function resolveExists(ast: Query, context: ExpressionContext, at: number | undefined): Expr {
  const { query, correlated } = context.query(ast, context, context.scope, true);
  if (correlated && (query.kind !== 'select' || hasLimit(query))) {
    throw unsupported('A correlated EXISTS with LIMIT or a set operation', at);
  }
  return subquery({ form: 'exists', type: bool, query }, context);
}

export function resolveInSubquery(
  arg: Expr,
  ast: Query,
  context: ExpressionContext,
  at: number | undefined,
): Expr {
  const { query, correlated } = context.query(ast, context, context.scope, true);
  if (correlated) throw unsupported('A correlated IN (subquery); EXISTS can be used instead', at);
  const columnType = onlyColumn(query, at);
  const type = commonType([arg.type, columnType]);
  if (type === undefined || !isImplicit(columnType, type)) {
    const types = `${typeLabel(arg.type)} and ${typeLabel(columnType)}`;
    throw sqlError('sql_type', `IN (subquery): types ${types} cannot be matched`, at);
  }
  return subquery(
    { form: 'in', type: bool, query: coerceOutputs(query, [type]), arg: coerce(arg, type, at) },
    context,
  );
}

function onlyColumn(query: QueryIr, at: number | undefined): SqlType {
  const [column, second] = query.columns;
  if (column !== undefined && second === undefined) return column.type;
  throw sqlError('sql_syntax', `subquery must return one column, not ${query.columns.length}`, at);
}

const hasLimit = (query: QueryIr): boolean =>
  query.kind === 'select' && (query.limit !== undefined || query.offset !== undefined);
