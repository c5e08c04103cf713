import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { sqlError } from '../../sql-error.ts';
import { isTimestamp, type SqlType, timestamptz, typeLabel } from '../../types.ts';
import type { CallSite } from '../definition.ts';

/** A date becomes a timestamp, which every unit can be taken from. */
export function timestampArgument(expr: Expr | undefined, dateAs: SqlType, site: CallSite): Expr {
  if (expr === undefined) throw sqlError('sql_unknown_function', `${site.name} needs a timestamp`, site.at);
  if (expr.type.name === 'date') return convert(expr, dateAs, site.at);
  if (expr.type.name === 'unknown') return coerce(expr, timestamptz, site.at);
  if (isTimestamp(expr.type)) return expr;
  throw sqlError(
    'sql_unknown_function',
    `${site.name} needs a timestamp, not ${typeLabel(expr.type)}`,
    site.at,
  );
}
