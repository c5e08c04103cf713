import { reservedWords } from '../syntax/reserved-words.ts';
import type { CatalogColumn, Value } from '../system-catalog/catalog-value.ts';
import { catalogError } from './catalog-error.ts';
import { listOf, numberOf, textOf } from './catalog-function.ts';
import type { CompileContext } from './catalog-scope.ts';
import { splitByPattern, splitText } from './catalog-text-functions.ts';
import { elementOf, lowerBound } from './value-conversion.ts';
import { spendRows } from './value-length.ts';

/** Functions that give several rows. */
interface RowsFunction {
  readonly type: (types: readonly string[]) => string;
  /** Fewest and most arguments. */
  readonly arity: readonly [min: number, max: number];
  /** Of an argument without a type. */
  readonly defaultType: string;
  readonly rows: (
    values: readonly Value[],
    types: readonly string[],
    context: CompileContext,
  ) => readonly Value[];
}

/** Columns of the rows of functions that give rows, by the names that `pg_typeof` would give them. */
export const setFunctionTypes: Readonly<Record<string, readonly CatalogColumn[]>> = {
  _pg_expandarray: [
    { name: 'x', type: 'int4' },
    { name: 'n', type: 'int4' },
  ],
};

export const rowsFunctions: Readonly<Record<string, RowsFunction>> = {
  unnest: {
    type: ([type = '_text']) => elementOf(type),
    arity: [1, 1],
    defaultType: '_text',
    rows: ([array], _, context) => {
      spendRows(context, listOf(array).length);
      return listOf(array);
    },
  },
  generate_series: {
    type: (types) => (types.includes('int8') ? 'int8' : 'int4'),
    arity: [2, 3],
    defaultType: 'int4',
    rows: ([from = null, to = null, step], _, context) => {
      if (from === null || to === null || step === null) return [];
      const by = step === undefined ? 1 : numberOf(step);
      if (by === 0) throw catalogError('invalid_parameter_value', 'step size cannot equal zero');
      const count = Math.max(0, Math.floor((numberOf(to) - numberOf(from)) / by) + 1);
      spendRows(context, count);
      return Array.from({ length: count }, (__, index) => numberOf(from) + index * by);
    },
  },
  generate_subscripts: {
    type: () => 'int4',
    arity: [2, 3],
    defaultType: 'int4',
    rows: ([array, dimension, isReversed], [type = ''], context) => {
      if (numberOf(dimension) !== 1) return [];
      spendRows(context, listOf(array).length);
      const places = listOf(array).map((_, index) => index + lowerBound(type));
      return isReversed === true ? places.toReversed() : places;
    },
  },
  _pg_expandarray: {
    type: () => '_pg_expandarray',
    arity: [1, 1],
    defaultType: '_int4',
    rows: ([array], _, context) => {
      spendRows(context, listOf(array).length);
      return listOf(array).map((item, index) => [item, index + 1]);
    },
  },
  pg_get_keywords: {
    type: () => 'text',
    arity: [0, 0],
    defaultType: 'text',
    rows: () => [...reservedWords],
  },
  regexp_split_to_table: {
    type: () => 'text',
    arity: [2, 2],
    defaultType: 'text',
    rows: ([value = null, pattern = null], _, context) =>
      value === null || pattern === null ? [] : splitByPattern(textOf(value), textOf(pattern), context),
  },
  string_to_table: {
    type: () => 'text',
    arity: [2, 3],
    defaultType: 'text',
    rows: ([value = null, by = null, nullText], _, context) =>
      value === null ? [] : splitText(textOf(value), by, nullText, context),
  },
};

/** Relations that are also functions. */
export const relationFunctions: Readonly<Record<string, string>> = {
  pg_show_all_settings: 'pg_settings',
  pg_timezone_names: 'pg_timezone_names',
};

export const isRowsFunction = (name: string): boolean => Object.hasOwn(rowsFunctions, name);
