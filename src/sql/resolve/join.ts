import type { Expression, FromItem, JoinType } from '../ast.ts';
import { spend } from '../budget.ts';
import { allOf, and, apply, columnOf, relationsIn, some } from '../build.ts';
import { condition } from '../coerce.ts';
import { compare } from '../functions/operators.ts';
import { type Expr, type FromIr, joinKey } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { bool, int4 } from '../types.ts';
import { conjuncts } from './pushdown.ts';
import { combine, type FromContext, type Link, type ResolvedFrom } from './resolved-from.ts';
import { type FromScope, lookup, openRelations, Scope, starColumns } from './scope.ts';
import { type ScopeColumn, scopeColumns } from './scope-columns.ts';
import { ScopeRelations } from './scope-relations.ts';

type Join = Extract<FromItem, { kind: 'join' }>;

/** Two relations, and the names of both. */
interface Sides {
  readonly left: ResolvedFrom;
  readonly right: ResolvedFrom;
  readonly scope: FromScope;
}

/** `ON true` */
export const isTrue = (on: Expression): boolean =>
  on.kind === 'constant' && on.type === 'boolean' && on.text === 'true';

/** A join of two relations that are resolved already. */
export function joinOf(
  item: Join,
  left: ResolvedFrom,
  right: ResolvedFrom,
  context: FromContext,
): ResolvedFrom {
  const both = combine(left.scope, right.scope);
  const scope = item.type === 'INNER' || item.type === 'CROSS' ? both : { ...both, hasOuterJoin: true };
  const sides = { left, right, scope };
  if (right.link !== undefined) return lateralJoin(item, sides, right.link, context);
  const using = item.natural ? sharedNames(left.scope, right.scope) : item.using;
  if (using.length > 0) return joinUsing(using, item, sides);
  const on = item.on && joinCondition(item.on, scope, context);
  const inner = item.type === 'INNER' || item.type === 'CROSS';
  const [later, now] = on === undefined ? [[], []] : split(conjuncts(on), hasCorrelated);
  if (later.length > 0 && !inner) {
    throw unsupported(
      `A subquery that names columns of the query around it in the condition of a ${item.type} JOIN`,
      item.at,
    );
  }
  if (item.type === 'FULL' && on !== undefined && !hasEquality(on) && some(on, isColumn)) {
    throw unsupported('FULL JOIN without an equality between its two sides', item.at);
  }
  const kept = keptConditions(item, left, right);
  const joined = inner && now.length === 0 ? undefined : allOf(now);
  const type = inner ? (joined === undefined ? 'CROSS' : 'INNER') : item.type;
  return { ir: makeJoin(type, left.ir, right.ir, joined), scope, conditions: [...kept, ...later] };
}

const isColumn = (expr: Expr): boolean => expr.kind === 'column';

const hasCorrelated = (expr: Expr): boolean =>
  some(expr, (each) => each.kind === 'subquery' && each.correlated);

function split(
  exprs: readonly Expr[],
  test: (expr: Expr) => boolean,
): readonly [yes: readonly Expr[], no: readonly Expr[]] {
  return [exprs.filter(test), exprs.filter((each) => !test(each))];
}

/** Conditions of the joins within, which stand in WHERE: not for rows that this join may fill up. */
function keptConditions(
  { type, at }: Join,
  { conditions: ofLeft = [] }: ResolvedFrom,
  { conditions: ofRight = [] }: ResolvedFrom,
): readonly Expr[] {
  const lost =
    type === 'FULL' ? [...ofLeft, ...ofRight] : type === 'RIGHT' ? ofLeft : type === 'LEFT' ? ofRight : [];
  if (lost.length === 0) return [...ofLeft, ...ofRight];
  throw unsupported(
    `A condition with a subquery that names columns of its join, on a side of a ${type} JOIN that is filled up,`,
    at,
  );
}

/**
 * The store joins outer joins by equalities alone, with other conditions beside them. Where there is none,
 * both sides get a column that is the same in all rows.
 */
export function makeJoin(type: JoinType, left: FromIr, right: FromIr, on: Expr | undefined): FromIr {
  const plain = { kind: 'join', type, left, right, on } as const;
  if (type === 'CROSS' || type === 'INNER' || (on !== undefined && hasEquality(on))) return plain;
  const [keyedLeft, keyedRight] = [keyed(left), keyed(right)];
  const always = apply(
    'join key',
    bool,
    (a, b) => `(ifNull(${a}, 0) = ${b})`,
    columnOf(keyedLeft.alias, joinKey, int4, joinKey),
    columnOf(keyedRight.alias, joinKey, int4, joinKey),
  );
  const both = on === undefined || isLiteralTrue(on) ? always : and(always, on);
  return { ...plain, left: keyedLeft.from, right: keyedRight.from, on: both };
}

const isLiteralTrue = (expr: Expr): boolean => expr.kind === 'literal' && expr.value === true;

/** With the column on its first relation. Filled up with NULLs, it counts like the others. */
function keyed(from: FromIr): { readonly from: FromIr; readonly alias: string } {
  if (from.kind === 'join') {
    const left = keyed(from.left);
    return { from: { ...from, left: left.from }, alias: left.alias };
  }
  if (from.kind === 'unnest') {
    if (from.input === undefined) throw new Error('BUG: rows of constants are a query');
    const input = keyed(from.input);
    return { from: { ...from, input: input.from }, alias: input.alias };
  }
  return { from: { ...from, keyed: true }, alias: from.alias };
}

/** A join with what was made of columns of its left side: it has a condition of its own. */
function lateralJoin(
  item: Join,
  { left, right, scope }: Sides,
  link: Link,
  context: FromContext,
): ResolvedFrom {
  const { type, on, at } = item;
  const always = on === undefined || isTrue(on);
  const inner = type === 'CROSS' || type === 'INNER';
  if ((!inner && type !== 'LEFT') || item.natural || item.using.length > 0) {
    throw unsupported(
      `${item.natural ? 'NATURAL' : type} JOIN${item.using.length > 0 ? ' … USING' : ''} with a query of columns of its other side (LATERAL)`,
      at,
    );
  }
  const given = always ? undefined : joinCondition(on, scope, context);
  if (given !== undefined && hasCorrelated(given)) {
    throw unsupported(
      'A subquery in the condition of a join with LATERAL that names columns of the join',
      at,
    );
  }
  // There is a row for every row of the left side: what drops some of them stands in WHERE.
  const later = [
    ...(link.where === undefined ? [] : [link.where]),
    ...(link.keepsLeft && given ? [given] : []),
  ];
  if (later.length > 0 && !inner) {
    throw unsupported('LEFT JOIN LATERAL of aggregates with HAVING, or ON something other than true,', at);
  }
  const condition = given === undefined || link.keepsLeft ? link.on : and(link.on, given);
  const kept = keptConditions(item, left, right);
  const outer = type === 'LEFT' || link.keepsLeft;
  const ir = makeJoin(outer ? 'LEFT' : 'INNER', left.ir, right.ir, condition);
  const all = outer ? { ...scope, hasOuterJoin: true } : scope;
  return { ir, scope: all, conditions: [...kept, ...later] };
}

/** The columns by which NATURAL joins, in the order of the left side. */
function sharedNames(left: FromScope, right: FromScope): readonly string[] {
  if (openRelations(left).length + openRelations(right).length > 0) {
    throw unsupported('NATURAL JOIN with a relation whose labels are columns');
  }
  const names = namesOf(right);
  return [...namesOf(left)].filter((name) => names.has(name));
}

function namesOf(scope: FromScope): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name } of starColumns(scope)) names.add(name);
  return names;
}

function joinCondition(on: NonNullable<Join['on']>, from: FromScope, context: FromContext): Expr {
  const scope = new Scope(from, context.parent, false);
  const expr = context.resolve(on, {
    ...context,
    scope,
    clause: 'JOIN conditions',
    allowAggregates: false,
    allowWindows: false,
  });
  return condition(expr, 'JOIN/ON', on.at);
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

/** `USING (a, b)`: equality of both sides' columns, which appear once, first, and unqualified. */
function joinUsing(names: readonly string[], item: Join, { left, right, scope }: Sides): ResolvedFrom {
  const { type, usingAlias } = item;
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
  let columns: ScopeColumn[] | undefined;
  // Made once: a join around this one would go through all within it again.
  const star = (): readonly ScopeColumn[] => {
    if (columns !== undefined) return columns;
    columns = [...merged].map(([name, expr]) => ({ name, expr: () => expr }));
    for (const column of starColumns(scope)) {
      spend('steps');
      if (!merged.has(column.name)) columns.push(column);
    }
    return columns;
  };
  const aliased =
    usingAlias === undefined
      ? scope.relations
      : scope.relations.with(
          ScopeRelations.of([
            {
              name: usingAlias,
              columns: scopeColumns([...merged].map(([name, expr]) => ({ name, expr: () => expr }))),
              otherColumn: undefined,
            },
          ]),
        );
  const hides = { first: 0, end: aliased.length };
  const columnsOfBoth = [...merged].map(([name, expr]) => [name, { ...hides, expr }] as const);
  return {
    ir: makeJoin(type, left.ir, right.ir, and(...equalities)),
    scope: {
      ...scope,
      relations: aliased,
      merged: new Map([...scope.merged, ...columnsOfBoth]),
      star: [star],
    },
    conditions: keptConditions(item, left, right),
  };
}

function onlyLabel(scope: FromScope, name: string): Expr | undefined {
  const [open, second] = openRelations(scope);
  return second === undefined ? open?.otherColumn?.(name) : undefined;
}
