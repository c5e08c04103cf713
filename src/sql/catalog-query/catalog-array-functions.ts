import type { Value } from '../system-catalog/catalog-value.ts';
import { type CallOf, type FunctionTable, fn, listOf, numberOf } from './catalog-function.ts';
import { isEqual } from './catalog-operators.ts';
import { arrayOf, isArrayType, lowerBound } from './value-conversion.ts';
import { lengthOf, spendLength } from './value-length.ts';

/** Functions of arrays, which have one dimension here (PostgreSQL's documentation, "Array Functions"). */

const firstType = (types: readonly string[]): string => {
  const [array = '_text', item = 'text'] = types;
  return isArrayType(array) ? array : arrayOf(item);
};

const secondType = ([item = 'text', array = '_text']: readonly string[]): string =>
  isArrayType(array) ? array : arrayOf(item);

/** NULL for a dimension that an array does not have, and for an empty array. */
const ofDimension = (measure: (length: number, first: number) => number) =>
  fn('any int4', 'int4', ([array, dimension], { args }) => {
    const { length } = listOf(array);
    return numberOf(dimension) !== 1 || length === 0
      ? null
      : measure(length, lowerBound(args[0]?.type ?? ''));
  });

/** Elements put together, counted before. */
function appended(parts: ReadonlyArray<readonly Value[]>, { context }: CallOf): readonly Value[] {
  spendLength(
    context,
    parts.reduce((sum, part) => sum + lengthOf(part), 0),
  );
  return parts.flat();
}

export const arrayFunctions: FunctionTable = {
  array_length: ofDimension((length) => length),
  array_upper: ofDimension((length, first) => length - 1 + first),
  array_lower: ofDimension((_, first) => first),
  array_ndims: fn('any', 'int4', ([array]) => (listOf(array).length === 0 ? null : 1)),
  cardinality: fn('any', 'int4', ([array]) => listOf(array).length),
  array_position: fn(
    'any any',
    'int4',
    ([array = null, item = null], { args, context }) => {
      if (array === null) return null;
      spendLength(context, listOf(array).length);
      const index = listOf(array).findIndex((each) => isEqual(each, item));
      return index < 0 ? null : index + lowerBound(args[0]?.type ?? '');
    },
    { takesNulls: true },
  ),
  array_positions: fn(
    'any any',
    '_int4',
    ([array = null, item = null], { args, context }) => {
      if (array === null) return null;
      spendLength(context, listOf(array).length);
      const first = lowerBound(args[0]?.type ?? '');
      return listOf(array).flatMap((each, index) => (isEqual(each, item) ? [index + first] : []));
    },
    { takesNulls: true },
  ),
  array_append: fn(
    'any any',
    firstType,
    ([array, item = null], call) => appended([listOf(array), [item]], call),
    {
      takesNulls: true,
    },
  ),
  array_prepend: fn(
    'any any',
    secondType,
    ([item = null, array], call) => appended([[item], listOf(array)], call),
    {
      takesNulls: true,
    },
  ),
  array_cat: fn(
    'any any',
    firstType,
    ([first = null, second = null], call) =>
      first === null && second === null ? null : appended([listOf(first), listOf(second)], call),
    { takesNulls: true },
  ),
  array_remove: fn(
    'any any',
    firstType,
    ([array = null, item = null], { context }) => {
      if (array === null) return null;
      spendLength(context, listOf(array).length);
      return listOf(array).filter((each) => !isEqual(each, item));
    },
    { takesNulls: true },
  ),
  array_replace: fn(
    'any any any',
    firstType,
    ([array = null, from = null, to = null], { context }) => {
      if (array === null) return null;
      spendLength(context, listOf(array).length * (1 + lengthOf(to)));
      return listOf(array).map((each) => (isEqual(each, from) ? to : each));
    },
    { takesNulls: true },
  ),
};
