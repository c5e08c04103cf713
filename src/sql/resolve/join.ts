import type { Expression, FromItem, JoinType } from '../ast.ts';
import { spend } from '../budget.ts';
import { and, apply, relationsIn, some } from '../build.ts';
import { condition } from '../coerce.ts';
import { compare } from '../functions/operators.ts';
import type { Expr } from '../ir.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { combine, type FromContext, type Link, type ResolvedFrom } from './resolved-from.ts';
import { type FromScope, lookup, openRelations, Scope, starColumns } from './scope.ts';
import type { ScopeColumn } from './scope-columns.ts';

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
  if (right.ir.kind === 'join') throw unsupported('A join in parentheses on the right side of a join');
  const scope = combine(left.scope, right.scope);
  if (right.link !== undefined) return lateralJoin(item, { left, right, scope }, right.link, context);
  const using = item.natural ? sharedNames(left.scope, right.scope) : item.using;
  if (using.length > 0) return joinUsing(using, item.type, { left, right, scope });
  if (item.natural && item.type !== 'INNER') {
    throw unsupported(`NATURAL ${item.type} JOIN of relations without a column in common`);
  }
  const on = item.on && joinCondition(item.on, scope, item.type, context);
  const type = item.natural ? 'CROSS' : item.type;
  return { ir: { kind: 'join', type, left: left.ir, right: right.ir, on }, scope };
}

/** A join with what was made of columns of its left side: it has a condition of its own. */
function lateralJoin(
  item: Join,
  { left, right, scope }: Sides,
  link: Link,
  context: FromContext,
): ResolvedFrom {
  const { type, on } = item;
  const always = on === undefined || isTrue(on);
  const isPlain = type === 'CROSS' || type === 'INNER' || type === 'LEFT';
  if (!isPlain || item.natural || item.using.length > 0 || (link.keepsLeft && !always)) {
    throw unsupported(
      'A join with a query of columns of its other side (LATERAL), by USING, or of aggregates other than ON true,',
    );
  }
  const condition = always ? link.on : and(link.on, joinCondition(on, scope, 'INNER', context));
  const kept = type === 'LEFT' || link.keepsLeft;
  const ir = {
    kind: 'join',
    type: kept ? 'LEFT' : 'INNER',
    left: left.ir,
    right: right.ir,
    on: condition,
  } as const;
  return { ir, scope };
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

function joinCondition(
  on: NonNullable<Join['on']>,
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

/** `USING (a, b)`: equality of both sides' columns, which appear once, first, and unqualified. */
function joinUsing(names: readonly string[], type: JoinType, { left, right, scope }: Sides): ResolvedFrom {
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
  return {
    ir: { kind: 'join', type, left: left.ir, right: right.ir, on: and(...equalities) },
    scope: { relations: scope.relations, merged: new Map([...scope.merged, ...merged]), star: [star] },
  };
}

function onlyLabel(scope: FromScope, name: string): Expr | undefined {
  const [open, second] = openRelations(scope);
  return second === undefined ? open?.otherColumn?.(name) : undefined;
}
