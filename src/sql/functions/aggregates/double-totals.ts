import { apply } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { bindOnce } from '../../let-bindings.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { bool, float } from '../../types.ts';
import { argument, type CallSite, checkCount } from '../definition.ts';
import { type AggregateCall, aggregate, rejectOrderAndStar } from './aggregate-call.ts';

/**
 * The sum or average of doubles. A total that left the doubles although all values are in them is an
 * error, as in PostgreSQL. Most values cannot be infinite; where they can, the store looks at each, which
 * costs it a little more.
 */
export function totalOfDoubles(name: 'sum' | 'avg', call: AggregateCall, site: CallSite): Expr {
  rejectOrderAndStar(call, site);
  checkCount(call.args, 1, 1, site);
  const value = coerce(argument(call.args, 0), float, site.at);
  const total = aggregate(`${name}(float)`, float, (a) => `${name}(${a})`, call, [value]);
  if (neverInfinite(value)) {
    return apply(`finite ${name}`, float, (sql) => checked(sql), total);
  }
  const all = { ...call, distinct: false };
  const some = (a: string): string => `groupBitOr(ifNull(isFinite(${a}) = 0, 0))`;
  const infinite = aggregate('some are not finite', bool, some, all, [value]);
  return apply(name, float, checked, total, infinite);
}

const checked = (total: string, infinite?: string): string =>
  bindOnce([total], (sum) => {
    const lost = `isFinite(${sum}) = 0`;
    const range = infinite === undefined ? lost : `(${lost}) > ${infinite}`;
    return `(${sum} - ${raiseIf(range, 'outOfRange')})`;
  });

/** Whether no value of the expression is an infinity or NaN. */
function neverInfinite(expr: Expr): boolean {
  if (expr.kind === 'column') return expr.finite === true;
  if (expr.kind === 'literal') return expr.value === null || Number.isFinite(Number(expr.value));
  // What leaves the doubles is an error.
  return expr.kind === 'apply' && expr.arithmetic !== undefined && expr.args.every(neverInfinite);
}
