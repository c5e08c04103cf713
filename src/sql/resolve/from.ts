import type { Alias, FromItem, JoinType } from '../ast.ts';
import { and, apply, some } from '../build.ts';
import { condition } from '../coerce.ts';
import { sqlError, unsupported } from '../errors.ts';
import { compare } from '../functions/operators.ts';
import { type Expr, type FromIr, type OutputColumn, outputName } from '../ir.ts';
import type { ExpressionContext } from './context.ts';
import { datasetRelation, type ResolvedRelation } from './relations.ts';
import { type FromScope, lookup, Scope, type ScopeColumn, type ScopeRelation } from './scope.ts';

export interface ResolvedFrom {
  readonly ir: FromIr;
  readonly scope: FromScope;
}

/** What resolving FROM needs; its expressions get a scope of their own here. */
export type FromContext = Omit<ExpressionContext, 'scope'> & { readonly parent: Scope | undefined };

/** The relations of FROM, comma-separated ones as cross joins. */
export function resolveFrom(items: readonly FromItem[], context: FromContext): ResolvedFrom | undefined {
  let from: ResolvedFrom | undefined;
  for (const item of items) {
    const next = resolveItem(item, context);
    from =
      from === undefined ? next : { ir: crossJoin(from.ir, next.ir), scope: combine(from.scope, next.scope) };
  }
  if (from !== undefined) checkNames(from.scope);
  return from;
}

/**
 * `a, (b JOIN c)` as `(a, b) JOIN c`, since the store takes joins from left to right only. It is the same for
 * joins whose condition may only name b and c, and which keep all rows of their left side or need a match.
 */
function crossJoin(left: FromIr, right: FromIr): FromIr {
  if (right.kind === 'join') {
    if (right.type === 'RIGHT' || right.type === 'FULL') {
      throw unsupported(`A comma before a ${right.type} JOIN`);
    }
    return { ...right, left: crossJoin(left, right.left) };
  }
  return { kind: 'join', type: 'CROSS', left, right, on: undefined };
}

function resolveItem(item: FromItem, context: FromContext): ResolvedFrom {
  switch (item.kind) {
    case 'table':
      return single(resolveTable(item, context), item.alias);
    case 'derived': {
      const { query } = context.query(item.query, context, context.parent, false);
      const alias = context.env.alias();
      const relation = outputsRelation(item.alias?.name, alias, query.columns);
      return single({ ir: { kind: 'derived', alias, query }, relation }, item.alias);
    }
    case 'join':
      return resolveJoin(item, context);
  }
}

function resolveTable(item: Extract<FromItem, { kind: 'table' }>, context: FromContext): ResolvedRelation {
  const [name = ''] = item.path;
  const visible = item.path.length === 1 ? context.ctes.get(name) : undefined;
  if (visible === undefined) return datasetRelation(item.path, item.alias?.name, context.env, item.at);
  const alias = context.env.alias();
  const columns = visible.cte.query.columns.map((column, index) => ({
    ...column,
    name: visible.columns[index] ?? column.name,
  }));
  return {
    ir: { kind: 'cte', alias, cte: visible.cte.name },
    relation: outputsRelation(item.alias?.name ?? name, alias, columns),
  };
}

/** A query's output columns as a relation. */
function outputsRelation(
  name: string | undefined,
  alias: string,
  outputs: readonly OutputColumn[],
): ScopeRelation {
  const columns = outputs.map(({ name: label, type }, index): ScopeColumn => {
    const expr: Expr = {
      kind: 'column',
      type,
      relation: alias,
      name: outputName(index),
      label,
      outer: false,
    };
    return { name: label, expr: () => expr };
  });
  return { name, columns, otherColumn: undefined };
}

/** Renames columns as `AS t(a, b)` says. */
function single(resolved: ResolvedRelation, alias: Alias | undefined): ResolvedFrom {
  const { relation } = resolved;
  const names = alias?.columns ?? [];
  if (names.length > relation.columns.length) {
    throw sqlError(
      'sql_syntax',
      `"${alias?.name ?? ''}" has ${relation.columns.length} columns, not ${names.length}`,
    );
  }
  const columns = relation.columns.map((column, index) => ({ ...column, name: names[index] ?? column.name }));
  const renamed = { ...relation, columns };
  return { ir: resolved.ir, scope: { relations: [renamed], merged: new Map(), star: columns } };
}

const combine = (left: FromScope, right: FromScope): FromScope => ({
  relations: [...left.relations, ...right.relations],
  merged: new Map([...left.merged, ...right.merged]),
  star: [...left.star, ...right.star],
});

function checkNames(scope: FromScope): void {
  const names = scope.relations.map((relation) => relation.name).filter((name) => name !== undefined);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw sqlError('sql_ambiguous', `table name "${repeated}" specified more than once`);
  }
}

function resolveJoin(item: Extract<FromItem, { kind: 'join' }>, context: FromContext): ResolvedFrom {
  const left = resolveItem(item.left, context);
  const right = resolveItem(item.right, context);
  if (right.ir.kind === 'join') throw unsupported('A join in parentheses on the right side of a join');
  const scope = combine(left.scope, right.scope);
  checkNames(scope);
  if (item.using.length > 0) return joinUsing(item.using, item.type, left, right);
  const on = item.on && joinCondition(item.on, scope, item.type, context);
  return { ir: { kind: 'join', type: item.type, left: left.ir, right: right.ir, on }, scope };
}

function joinCondition(
  on: NonNullable<Extract<FromItem, { kind: 'join' }>['on']>,
  from: FromScope,
  type: JoinType,
  context: FromContext,
): Expr {
  const scope = new Scope(from, context.parent, false);
  const expr = context.resolve(on, {
    ...context,
    scope,
    clause: 'JOIN conditions',
    allowAggregates: false,
    allowWindows: false,
  });
  const result = condition(expr, 'JOIN/ON', on.at);
  if (some(result, (each) => each.kind === 'subquery'))
    throw unsupported('A subquery in a JOIN condition', on.at);
  if (type !== 'INNER' && !hasEquality(result)) {
    throw unsupported(`${type} JOIN without an equality between its two sides`, on.at);
  }
  return result;
}

/** An equality among the conditions that must all hold, between columns of different relations. */
function hasEquality(on: Expr): boolean {
  if (on.kind !== 'apply') return false;
  if (on.name === 'and') return on.args.some(hasEquality);
  if (on.name !== 'compare =') return false;
  const [left, right] = on.args.map(relationsIn);
  return (
    left !== undefined && right !== undefined && [...right].some((name) => !left.has(name)) && left.size > 0
  );
}

/** The aliases of the relations that an expression reads. */
export function relationsIn(expr: Expr): ReadonlySet<string> {
  const names = new Set<string>();
  some(expr, (each) => {
    if (each.kind === 'column') names.add(each.relation);
    return false;
  });
  return names;
}

/** `USING (a, b)`: equality of both sides' columns, which appear once, first, and unqualified. */
function joinUsing(
  names: readonly string[],
  type: JoinType,
  left: ResolvedFrom,
  right: ResolvedFrom,
): ResolvedFrom {
  const merged = new Map<string, Expr>();
  const equalities = names.map((name) => {
    const [leftColumn, rightColumn] = [left, right].map((side) => {
      const column = lookup(side.scope, name, undefined) ?? onlyLabel(side.scope, name);
      if (column !== undefined) return column;
      throw sqlError(
        'sql_unknown_column',
        `column "${name}" specified in USING clause does not exist on both sides`,
      );
    });
    if (leftColumn === undefined || rightColumn === undefined) throw new Error('BUG: USING has two sides');
    const equality = compare('=', leftColumn, rightColumn, undefined);
    const [a = leftColumn, b = rightColumn] = equality.kind === 'apply' ? equality.args : [];
    const both = apply('coalesce', a.type, (...sides) => `coalesce(${sides.join(', ')})`, a, b);
    merged.set(name, type === 'FULL' ? both : type === 'RIGHT' ? b : a);
    return equality;
  });
  const rest = (side: ResolvedFrom) => side.scope.star.filter((column) => !names.includes(column.name));
  const scope = combine(left.scope, right.scope);
  const star = [
    ...[...merged].map(([name, expr]) => ({ name, expr: () => expr })),
    ...rest(left),
    ...rest(right),
  ];
  return {
    ir: { kind: 'join', type, left: left.ir, right: right.ir, on: and(...equalities) },
    scope: { relations: scope.relations, merged: new Map([...scope.merged, ...merged]), star },
  };
}

function onlyLabel(scope: FromScope, name: string): Expr | undefined {
  const open = scope.relations.filter((relation) => relation.otherColumn !== undefined);
  return open.length === 1 ? open[0]?.otherColumn?.(name) : undefined;
}
