import { and, apply, children, some } from '../build.ts';
import { exprKey } from '../expr-key.ts';
import type { Aggregate, Expr } from '../ir.ts';
import { unsupported } from '../sql-error.ts';
import { bool } from '../types.ts';
import { groupedBy, isGroupingCall } from './grouping.ts';

/** A key of GROUP BY: an expression, and the output column that it is, if it is one. */
export interface GroupKey {
  readonly expr: Expr;
  readonly item: number | undefined;
}

/**
 * The keys of several grouping sets, told apart as PostgreSQL does. An output column that is a key is NULL in
 * the sets without it, also if another key has the same value, and if it is a constant. The store goes by the
 * value, and by names of columns without their relations, so those that it would take for one another are
 * made different.
 */
export class GroupingKeys {
  readonly sets: readonly (readonly Expr[])[];
  readonly #ofItems = new Map<number, Expr>();
  /** By the value: where an expression means a key, it means the first one. */
  readonly #ofValues = new Map<string, Expr>();
  readonly #keys = new Set<string>();
  /** Output columns of one value that are different keys. */
  readonly #twins = new Set<string>();

  /** @param items the output columns */
  constructor(sets: readonly (readonly GroupKey[])[], items: readonly Expr[]) {
    if (sets.length < 2) {
      this.sets = sets.map((keys) => keys.map(({ expr }) => groupedBy(expr)));
      return;
    }
    const places = new Map<string, number>();
    for (const [place, item] of items.entries())
      if (!places.has(exprKey(item))) places.set(exprKey(item), place);
    const taken = new Map<string, number>();
    const made = new Map<string, Expr>();
    this.sets = sets.map((keys) =>
      keys.map(({ expr: written, item = places.get(exprKey(written)) }) => {
        const expr = groupedBy(written);
        const value = exprKey(expr);
        const name = item === undefined ? value : `item ${item}`;
        const known = made.get(name);
        if (known !== undefined) return known;
        const shown = unqualified(expr);
        const before = taken.get(shown) ?? 0;
        taken.set(shown, before + 1);
        const key = apart(expr, isValue(expr) ? before + 1 : before);
        made.set(name, key);
        this.#keys.add(exprKey(key));
        if (item !== undefined) this.#ofItems.set(item, asWritten(written, key));
        const first = this.#ofValues.get(value);
        if (first === undefined) this.#ofValues.set(value, key);
        else if (!isValue(expr)) for (const each of [first, key]) this.#twins.add(exprKey(each));
        return key;
      }),
    );
  }

  /**
   * Whether an expression is one of several keys that have the same value: PostgreSQL takes them for one key
   * when it sorts by them.
   */
  isTwin(expr: Expr): boolean {
    return this.#twins.has(exprKey(expr));
  }

  /** An output column. */
  item(expr: Expr, place: number): Expr {
    return this.#ofItems.get(place) ?? this.within(expr);
  }

  /** An expression over the groups, with its keys in it. A constant in it is none. */
  within(expr: Expr): Expr {
    if (this.#ofValues.size === 0 || this.#keys.has(exprKey(expr))) return expr;
    if (isGroupingCall(expr) && expr.kind === 'aggregate') {
      return { ...expr, args: expr.args.map((arg) => this.#ofValues.get(exprKey(arg)) ?? arg) };
    }
    const key = this.#ofValues.get(exprKey(expr));
    if (key !== undefined && !isValue(expr)) return key;
    const inside = (each: Expr): Expr => this.within(each);
    if (expr.kind === 'apply') return { ...expr, args: children(expr).map(inside) };
    if (expr.kind === 'subquery') return expr.arg === undefined ? expr : { ...expr, arg: inside(expr.arg) };
    if (expr.kind !== 'aggregate' || expr.over === undefined) return expr;
    const { partitionBy, orderBy, frame } = expr.over;
    const over = {
      partitionBy: partitionBy.map(inside),
      orderBy: orderBy.map((sort) => ({ ...sort, expr: inside(sort.expr) })),
      frame,
    };
    // The store does not find them again there.
    if ([...over.partitionBy, ...over.orderBy.map((sort) => sort.expr)].some((each) => some(each, isApart)))
      throw unsupported('A window over columns of one name that are keys of several grouping sets');
    return { ...expr, args: expr.args.map(inside), filter: expr.filter && inside(expr.filter), over };
  }
}

/** The expression that is grouped by a key. */
const asWritten = (expr: Expr, key: Expr): Expr =>
  expr.kind === 'apply' && expr.ofInteger === true ? { ...expr, args: [key] } : key;

/** The same for each row. */
const isValue = (expr: Expr): boolean => !some(expr, ({ kind }) => kind === 'column' || kind === 'mixed');

/** The same value, which the store takes for another one at each number of times. */
const apart = (expr: Expr, times: number): Expr =>
  times === 0
    ? expr
    : apply(
        `group key ${times}`,
        expr.type,
        (a) => `${'materialize('.repeat(times)}${a}${')'.repeat(times)}`,
        expr,
      );

const isApart = (expr: Expr): boolean => expr.kind === 'apply' && expr.name.startsWith('group key ');

function unqualified(expr: Expr): string {
  if (expr.kind === 'column') return expr.name;
  return expr.kind === 'apply' ? `${expr.name}[${children(expr).map(unqualified).join(',')}]` : exprKey(expr);
}

const anyRows: Aggregate = {
  kind: 'aggregate',
  type: bool,
  name: 'any rows',
  render: () => 'ignore(count())',
  args: [],
  distinct: false,
  filter: undefined,
  over: undefined,
  finish: (a) => `(NOT ${a})`,
};

/** HAVING with an aggregate, without which the store forgets the row of all rows. */
export const havingAnyRows = (having: Expr | undefined): Expr =>
  having === undefined ? anyRows : and(having, anyRows);
