import { spend } from '../../budget.ts';
import { and, apply, literal } from '../../build.ts';
import type { Aggregate, Expr, WindowSpec } from '../../ir.ts';
import { unsupported } from '../../sql-error.ts';
import { bool } from '../../types.ts';
import type { CallSite } from '../definition.ts';

/** A piece of a frame, in the order of the pieces. */
interface Part {
  readonly over: WindowSpec;
  /** It has no row, whatever its frame. */
  readonly isEmpty: boolean;
}

/** Aggregates of the store whose states are kept apart and brought together, as they are printed. */
const mergeable: ReadonlySet<string> = new Set([
  'sum',
  'count',
  'min',
  'max',
  'avg',
  'groupArray',
  'groupUniqArray',
  'groupBitAnd',
  'groupBitOr',
  'groupBitXor',
  'groupConcat',
  'varPopStable',
  'varSampStable',
  'stddevPopStable',
  'stddevSampStable',
]);

const neverNull: ReadonlySet<string> = new Set(['count', 'groupArray', 'groupUniqArray']);

/**
 * An aggregate over a frame of several pieces, which the store has none of: the state of each piece, and the
 * sum of the states.
 */
export function mergedParts(called: Expr, parts: readonly Part[], site: CallSite): Expr {
  if (called.kind === 'apply') {
    return { ...called, args: called.args.map((arg) => mergedParts(arg, parts, site)) };
  }
  if (called.kind !== 'aggregate' || called.over === undefined) return called;
  const { finish, filter, name, type, args, render } = called;
  const sample = render(...args.map((_, index) => `x${index}`));
  const [, aggregateName = ''] = /^(\w+)\(/.exec(sample) ?? [];
  if (!mergeable.has(aggregateName) || !isOneCall(sample)) {
    throw unsupported(`EXCLUDE in the frame of ${site.name}`, site.at);
  }
  // The store computes each of them as a window of its own.
  spend('windows', parts.length, site.at);
  const never = literal(bool, false);
  // What gives NULL of no rows by a setting says so itself in a state.
  const state = neverNull.has(aggregateName) ? 'State' : 'OrNullState';
  const states = parts.map(
    ({ over, isEmpty }): Aggregate => ({
      ...called,
      name: `state of ${name}`,
      render: (...values) => render(...values).replace(aggregateName, `${aggregateName}${state}`),
      filter: isEmpty ? (filter === undefined ? never : and(filter, never)) : filter,
      over,
      finish: undefined,
    }),
  );
  return apply(
    `merged ${name} ${finish?.('x') ?? ''}`,
    type,
    (...printed) => {
      const merged = `finalizeAggregation(${printed.join(' + ')})`;
      return finish === undefined ? merged : finish(merged);
    },
    ...states,
  );
}

/** A call, or one with parameters before its arguments: nothing stands outside of its parentheses. */
function isOneCall(sql: string): boolean {
  let depth = 0;
  for (const character of sql.slice(sql.indexOf('('))) {
    if (depth === 0 && character !== '(') return false;
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
  }
  return depth === 0;
}
