import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { conversion } from '../sql/functions/numbers/conversions.ts';
import type { ResultColumn } from '../sql/translate-query.ts';
import { maxDecimalDigits, quotientScale, type SqlType, storeType, text } from '../sql/types.ts';
import type { OutputForm } from './result-format.ts';

/** The expression for a column in the output; undefined if the column needs no change. */
type Render = (column: string, type: SqlType) => string | undefined;

/**
 * Changes a statement so that its columns have the types that readers of the output format expect. The rows
 * and their order stay the same. Formats without a rule get the statement unchanged.
 */
export function inForm(sql: string, columns: readonly ResultColumn[], form: OutputForm): string {
  const render = renderings[form];
  if (render === undefined) return sql;
  const changed = columns.flatMap(({ name, type }) => {
    const column = quoteIdentifier(name);
    const rendered = render(column, type.sql);
    return rendered === undefined ? [] : [`${rendered} AS ${column}`];
  });
  return changed.length === 0 ? sql : `SELECT * REPLACE (${changed.join(', ')}) FROM (${sql})`;
}

/** Elements that PostgreSQL quotes in the text of an array (its src/backend/utils/adt/arrayfuncs.c). */
const needsQuotes = quoteString('^$|^(?i:null)$|["\\\\{},\\s]');
const quoted = `concat('"', replaceRegexpAll(x, ${quoteString('(["\\\\])')}, ${quoteString('\\\\\\1')}), '"')`;

/** Intervals and times of day are written as text: no format has a time of 24:00. */
const shownType = (type: SqlType): SqlType =>
  type.name === 'interval' || type.name === 'time' ? text : type;

/**
 * The array in a column of arrays. Such a column is a variant so that it can be NULL; NULL gives no elements.
 */
const elements = (column: string, element: SqlType): string =>
  `variantElement(${column}, ${quoteString(`Array(Nullable(${storeType(element)}))`)})`;

/** The text of an array as PostgreSQL writes it: `{1,NULL,"a b"}`. */
function arrayText(column: string, element: SqlType): string {
  const written = `if(match(assumeNotNull(x), ${needsQuotes}), ${quoted}, x)`;
  const texts = `arrayMap(e -> ${elementText('e', element)}, ${elements(column, element)})`;
  const shown = `arrayMap(x -> if(isNull(x), 'NULL', ${written}), ${texts})`;
  return `if(isNull(${column}), NULL, concat('{', arrayStringConcat(${shown}, ','), '}'))`;
}

function elementText(value: string, element: SqlType): string {
  if (element.name === 'bool') return `multiIf(${value}, 't', NOT ${value}, 'f', NULL)`;
  // It is not known here how many digits PostgreSQL would show.
  if (element.name === 'numeric' && !element.exact) return `toString(${value})`;
  return conversion(element, text)?.(value) ?? `toString(${value})`;
}

const inCsv: Render = (column, type) => {
  if (type.name === 'array') return arrayText(column, shownType(type.element));
  return type.name === 'map' ? `toJSONString(${column})` : undefined;
};

/** Every column gets the type that it has in SQL, even if it holds only NULLs. */
const inColumns: Render = (column, type) => {
  if (type.name === 'map') return `CAST(${column}, ${quoteString(storeType(type))})`;
  const shown = shownType(type.name === 'array' ? type.element : type);
  const stored = `Nullable(${columnType(shown)})`;
  if (type.name !== 'array') return `CAST(${typed(column, shown)}, ${quoteString(stored)})`;
  const items = `arrayMap(x -> ${typed('x', shown)}, ${elements(column, shown)})`;
  // The store has no NULL arrays, so this is a tuple; `ArrowLists` and `ParquetLists` make it a list.
  return `if(isNull(${column}), NULL, CAST(tuple(${items}), ${quoteString(`Nullable(Tuple(list Array(${stored})))`)}))`;
};

/** The expression for a value before it is cast to the type of its column. */
function typed(value: string, type: SqlType): string {
  if (type.name !== 'numeric') return value;
  const stored = columnType(type);
  // Through its text: the direct conversion divides two doubles and can give another number.
  if (stored === 'Float64') return `toFloat64(toString(${value}))`;
  return stored === 'String' ? `toDecimalString(${value}, ${type.scale})` : value;
}

/**
 * The type of a column in Arrow and Parquet, as a type of the store. Readers support decimals of up to 38
 * digits, so a numeric with a fixed scale becomes one, and text if it was declared with more digits. For
 * averages, quotients and numbers from JSON, PostgreSQL chooses the digits by the value; they become doubles.
 * They are recognised by their scale, which is larger here than that of all others.
 */
function columnType(type: SqlType): string {
  switch (type.name) {
    case 'numeric':
      if (!type.exact && type.scale >= quotientScale) return 'Float64';
      return Math.max(type.scale, type.digits ?? 0) > maxDecimalDigits
        ? 'String'
        : `Decimal(${maxDecimalDigits}, ${type.scale})`;
    default:
      return storeType(type);
  }
}

const renderings: Readonly<Partial<Record<OutputForm, Render>>> = {
  csv: inCsv,
  arrow: inColumns,
  parquet: inColumns,
};
