import type { Alias, FromItem } from '../ast.ts';
import { spend, spendCatalogRows, spendInlined } from '../budget.ts';
import { columnOf } from '../build.ts';
import { type Expr, type FromIr, type OutputColumn, outputName } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { enclosed } from './enclosed-join.ts';
import type { Environment } from './environment.ts';
import { functionRelation } from './from-function.ts';
import { informationSchema } from './information-schema.ts';
import { isTrue, joinOf, makeJoin } from './join.ts';
import { lateralOf } from './lateral.ts';
import { datasetRelation, type ResolvedRelation } from './relations.ts';
import { checkNames, combine, type FromContext, type ResolvedFrom } from './resolved-from.ts';
import { Scope, starColumns } from './scope.ts';
import { ColumnNames, eachColumn, scopeColumns } from './scope-columns.ts';
import { type ScopeRelation, ScopeRelations } from './scope-relations.ts';

type Join = Extract<FromItem, { kind: 'join' }>;

/** The relations of FROM, comma-separated ones as cross joins. */
export function resolveFrom(items: readonly FromItem[], context: FromContext): ResolvedFrom | undefined {
  let from: ResolvedFrom | undefined;
  for (const item of items) {
    const next = resolveItem(item, context, from);
    from = from === undefined ? next : beside(from, next, context.env);
  }
  if (from !== undefined) checkNames(from.scope);
  return from;
}

/** A comma in FROM. What is made of columns of the left side contains it already. */
function beside(left: ResolvedFrom, right: ResolvedFrom, env: Environment): ResolvedFrom {
  const conditions = [...(left.conditions ?? []), ...(right.conditions ?? [])];
  if (right.link === undefined) {
    if (contains(right.ir, left.ir)) {
      return { ir: right.ir, scope: combine(left.scope, right.scope), conditions };
    }
    const relation = isInnerJoin(right.ir) ? right : enclosed(right, env);
    const scope = combine(left.scope, relation.scope);
    return { ir: crossJoin(left.ir, relation.ir), scope, conditions };
  }
  const { on, keepsLeft, where } = right.link;
  return {
    ir: makeJoin(keepsLeft ? 'LEFT' : 'INNER', left.ir, right.ir, on),
    scope: combine(left.scope, right.scope),
    conditions: [...conditions, ...(where === undefined ? [] : [where])],
  };
}

const contains = (from: FromIr, left: FromIr): boolean => from.kind === 'unnest' && from.input === left;

/** Joins that are the same with other relations in front of them, in a cross join. */
const isInnerJoin = (from: FromIr): boolean =>
  from.kind === 'join'
    ? from.type !== 'RIGHT' && from.type !== 'FULL' && isInnerJoin(from.left)
    : from.kind !== 'unnest' || from.input === undefined;

/**
 * `a, (b JOIN c)` as `(a, b) JOIN c`, since the store takes joins from left to right only. It is the same for
 * joins whose condition may only name b and c, and which keep all rows of their left side or need a match.
 */
function crossJoin(left: FromIr, right: FromIr): FromIr {
  if (right.kind === 'join') return { ...right, left: crossJoin(left, right.left) };
  return { kind: 'join', type: 'CROSS', left, right, on: undefined };
}

/** @param left what a function in FROM, or a LATERAL query, can take columns of */
function resolveItem(item: FromItem, context: FromContext, left: ResolvedFrom | undefined): ResolvedFrom {
  if (item.kind !== 'join') spend('relations', 1, item.kind === 'derived' ? undefined : item.at);
  switch (item.kind) {
    case 'table':
      return single(resolveTable(item, context), item.alias);
    case 'derived':
      return resolveDerived(item, context, item.lateral ? left : undefined);
    case 'function':
      return single(functionRelation(item, left, context), item.alias);
    case 'join':
      // Named from within the join, columns of what stands before it are refused.
      return resolveJoin(
        item,
        left === undefined ? context : { ...context, parent: new Scope(left.scope, context.parent, false) },
      );
  }
}

function resolveDerived(
  item: Extract<FromItem, { kind: 'derived' }>,
  context: FromContext,
  left: ResolvedFrom | undefined,
): ResolvedFrom {
  const parent = left === undefined ? context.parent : new Scope(left.scope, context.parent, false);
  const { query, correlated } = context.query(item.query, context, parent, left !== undefined);
  const name = item.alias?.name;
  if (left !== undefined && correlated) {
    const { ir, columns, link } = lateralOf(query, left.ir, context.env);
    const relation = {
      name,
      columns: { names: namesOf(query.columns), expr: (place: number) => columnAt(columns, place) },
      otherColumn: undefined,
    };
    return { ...single({ ir, relation }, item.alias), link };
  }
  const alias = context.env.alias();
  const relation = outputsRelation(name, alias, query.columns, namesOf(query.columns));
  return single({ ir: { kind: 'derived', alias, query }, relation }, item.alias);
}

function columnAt(columns: readonly Expr[], index: number): Expr {
  const column = columns[index];
  if (column === undefined) throw new Error(`BUG: output column ${index + 1} is missing`);
  return column;
}

function resolveTable(item: Extract<FromItem, { kind: 'table' }>, context: FromContext): ResolvedRelation {
  const [name = ''] = item.path;
  const visible = item.path.length === 1 ? context.ctes.get(name) : undefined;
  if (visible === undefined) return catalogOrDataset(item, context.env);
  context.env.readCtes.add(visible.cte.name);
  spendInlined(visible.inlined, item.at);
  const alias = context.env.alias();
  const { rows } = visible;
  return {
    ir:
      rows === undefined
        ? { kind: 'cte', alias, cte: visible.cte.name }
        : { kind: 'derived', alias, query: rows },
    relation: outputsRelation(item.alias?.name ?? name, alias, visible.cte.query.columns, visible.names),
  };
}

function catalogOrDataset(
  { path, alias, at }: Extract<FromItem, { kind: 'table' }>,
  env: Environment,
): ResolvedRelation {
  const known = informationSchema(path, env);
  if (known === undefined) return datasetRelation(path, alias?.name, env, at);
  spendCatalogRows(known.rows);
  const name = env.alias();
  return {
    ir: { kind: 'rows', alias: name, ...known },
    relation: outputsRelation(alias?.name ?? path.at(-1), name, known.columns, namesOf(known.columns)),
  };
}

/** A query's output columns as a relation. */
function outputsRelation(
  name: string | undefined,
  alias: string,
  outputs: readonly OutputColumn[],
  names: ColumnNames,
): ScopeRelation {
  const expr = (place: number): Expr => {
    const output = outputs[place];
    if (output === undefined) throw new Error(`BUG: output column ${place + 1} is missing`);
    return columnOf(alias, outputName(place), output.type, names.list[place] ?? output.name);
  };
  return { name, columns: { names, expr }, otherColumn: undefined };
}

const namesOf = (outputs: readonly OutputColumn[]): ColumnNames =>
  new ColumnNames(outputs.map(({ name }) => name));

/** Renames columns as `AS t(a, b)` says. */
function single(resolved: ResolvedRelation, alias: Alias | undefined): ResolvedFrom {
  const { relation } = resolved;
  const names = alias?.columns ?? [];
  const { length } = relation.columns.names.list;
  if (names.length > length) {
    throw sqlError('sql_syntax', `"${alias?.name ?? ''}" has ${length} columns, not ${names.length}`);
  }
  const columns = { ...relation.columns, names: relation.columns.names.renamed(names) };
  const renamed = { ...relation, columns };
  const star = () => eachColumn(columns);
  return {
    ir: resolved.ir,
    scope: { relations: ScopeRelations.of([renamed]), merged: new Map(), star: [star] },
  };
}

function resolveJoin(item: Join, context: FromContext): ResolvedFrom {
  const left = resolveItem(item.left, context, undefined);
  const right = resolveItem(item.right, context, left);
  const joined = contains(right.ir, left.ir)
    ? unnestJoin(item, left, right)
    : joinOf(item, left, isRelation(right) ? right : enclosed(right, context.env), context);
  return item.alias === undefined ? joined : named(joined, item.alias);
}

/** Where the store takes a relation, and no join of several. */
const isRelation = ({ ir, link }: ResolvedFrom): boolean =>
  link !== undefined || (ir.kind !== 'join' && (ir.kind !== 'unnest' || ir.input === undefined));

/** `(a JOIN b …) AS x`, which hides the names of both. */
function named(joined: ResolvedFrom, alias: Alias): ResolvedFrom {
  const columns = scopeColumns([...starColumns(joined.scope)]);
  const relation = { name: alias.name, columns, otherColumn: undefined };
  return { ...single({ ir: joined.ir, relation }, alias), conditions: joined.conditions ?? [] };
}

/** A join with a function of columns of its left side: no condition is left to be checked. */
function unnestJoin(item: Join, left: ResolvedFrom, right: ResolvedFrom): ResolvedFrom {
  const always = item.on === undefined || isTrue(item.on);
  const isPlain = item.type === 'CROSS' || item.type === 'INNER' || item.type === 'LEFT';
  if (right.ir.kind !== 'unnest' || !isPlain || !always || item.using.length > 0 || item.natural) {
    throw unsupported(
      'A join with a function or a query of columns of its other side, other than CROSS or LEFT … ON true,',
      item.at,
    );
  }
  const scope = combine(left.scope, right.scope);
  const outer = item.type === 'LEFT';
  return {
    ir: { ...right.ir, outer },
    scope: outer ? { ...scope, hasOuterJoin: true } : scope,
    conditions: left.conditions ?? [],
  };
}
