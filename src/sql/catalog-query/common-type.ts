import { sqlError } from '../sql-error.ts';
import { converted } from './catalog-operators.ts';
import type { CompileContext, Compiled } from './catalog-scope.ts';
import { commonTypeOf, mismatch } from './value-conversion.ts';

/**
 * Several expressions, of the type that they have in common.
 * @param where what they are part of, for the error
 * @throws AppError `sql_type` if they have none
 */
export function unified(
  items: readonly Compiled[],
  context: Pick<CompileContext, 'catalog'>,
  where: string,
  at?: number,
): readonly Compiled[] {
  const types = items.map((item) => item.type);
  const differing = mismatch(types);
  if (differing !== undefined)
    throw sqlError('sql_type', `${where} types ${differing.join(' and ')} cannot be matched`, at);
  const type = commonTypeOf(types);
  return items.map((item) => converted(item, type, context.catalog));
}
