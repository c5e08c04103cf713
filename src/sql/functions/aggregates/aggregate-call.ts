import type { Aggregate, Expr, Renderer, Sort, WindowSpec } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import type { SqlType } from '../../types.ts';
import {
  type CallSite,
  callOverload,
  choose,
  coerceArguments,
  type Overload,
  resultType,
} from '../definition.ts';

/** A call of an aggregate, as it was resolved. */
export interface AggregateCall {
  readonly args: readonly Expr[];
  /** `count(*)` */
  readonly star: boolean;
  readonly distinct: boolean;
  readonly filter: Expr | undefined;
  readonly withinGroup: readonly Sort[];
  /** The order in which the rows are brought together. */
  readonly orderBy: readonly Sort[];
  readonly over: WindowSpec | undefined;
}

export interface AggregateOverload extends Overload {
  /** Applied to the finished call, behind FILTER and OVER. */
  readonly finish?: Renderer;
}

export type AggregateForm = (call: AggregateCall, site: CallSite) => Expr;
export type AggregateDefinition = readonly AggregateOverload[] | AggregateForm;

/** An aggregate over these arguments, with all else as in the call. */
export const aggregate = (
  name: string,
  type: SqlType,
  render: Renderer,
  call: AggregateCall,
  args: readonly Expr[],
  finish?: Renderer,
): Aggregate => ({
  kind: 'aggregate',
  type,
  name,
  render,
  args,
  distinct: call.distinct,
  filter: call.filter,
  over: call.over,
  finish,
});

/** Calls an aggregate of the table. */
export function callAggregate(definition: AggregateDefinition, call: AggregateCall, site: CallSite): Expr {
  if (typeof definition === 'function') return definition(call, site);
  rejectOrderAndStar(call, site);
  const types = call.args.map((arg) => arg.type);
  const overload = choose(definition, types);
  // Says what is wrong with the arguments.
  if (overload === undefined) return callOverload(definition, call.args, site);
  const args = coerceArguments(overload, call.args, site.at);
  const name = `${site.name}(${overload.args.join(' ')})`;
  return aggregate(name, resultType(overload, args), overload.render, call, args, overload.finish);
}

/** For aggregates of plain arguments. ORDER BY among them changes nothing where the order does not count. */
export function rejectOrderAndStar(call: AggregateCall, site: CallSite): void {
  if (call.withinGroup.length > 0) throw unsupported(`WITHIN GROUP for ${site.name}`, site.at);
  if (call.star) throw sqlError('sql_unknown_function', `function ${site.name}(*) does not exist`, site.at);
}
