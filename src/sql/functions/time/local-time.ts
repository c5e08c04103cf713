import { convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { isSessionInUtc } from '../../session-times.ts';
import { timestamp, timestamptz } from '../../types.ts';
import type { CallSite } from '../definition.ts';
import { timestampArgument } from './timestamp-argument.ts';

/** What the clocks of the session show; for UTC, that is the moment itself. */
export const localTime = (moment: Expr, at: number | undefined): Expr =>
  moment.type.name === 'timestamptz' && !isSessionInUtc() ? convert(moment, timestamp, at) : moment;

/** Of several times all as moments, if one of them is a moment. */
export const commonMoments = (times: readonly Expr[], at: number | undefined): readonly Expr[] =>
  !isSessionInUtc() && times.some(({ type }) => type.name === 'timestamptz')
    ? times.map((each) => convert(each, timestamptz, at))
    : times;

/**
 * Arguments of a function that takes all of them with or all of them without time zone. Dates and literals
 * are what the others are, and with time zone if there are no others.
 */
export function momentArguments(args: readonly Expr[], site: CallSite): readonly Expr[] {
  const isGiven = (name: string): boolean => args.some(({ type }) => type.name === name);
  const isLocal = isGiven('timestamp') && !isGiven('timestamptz');
  const moments = args.map((arg) =>
    isLocal && arg.type.name === 'unknown'
      ? convert(arg, timestamp, site.at)
      : timestampArgument(arg, isLocal ? timestamp : timestamptz, site),
  );
  return commonMoments(moments, site.at);
}
