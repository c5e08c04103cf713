import { quoteIdentifier, quoteString } from '../lib/quote.ts';
import { conversion } from '../sql/functions/numbers/conversions.ts';
import type { ResultColumn } from '../sql/translate.ts';
import { maxDecimalDigits, quotientScale, type SqlType, storeType, text } from '../sql/types.ts';
import type { OutputForm } from './result-format.ts';

/** A column of the statement as the store is to write it; undefined: as it is. */
type Render = (column: string, type: SqlType) => string | undefined;

/**
 * The statement whose columns are what readers of a form expect. A form without a rule gets the statement as
 * it is; rows and their order stay.
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

/** What PostgreSQL has to quote in the text of an array (its src/backend/utils/adt/arrayfuncs.c). */
const needsQuotes = quoteString('^$|^(?i:null)$|["\\\\{},\\s]');
const quoted = `concat('"', replaceRegexpAll(x, ${quoteString('(["\\\\])')}, ${quoteString('\\\\\\1')}), '"')`;

/** Intervals are shown as text. */
const shownType = (type: SqlType): SqlType => (type.name === 'interval' ? text : type);

/** The array within a column of arrays, which is a variant so that it can be NULL; empty for NULL. */
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
  // How many digits PostgreSQL would show is not known then.
  if (element.name === 'numeric' && !element.exact) return `toString(${value})`;
  return conversion(element, text)?.(value) ?? `toString(${value})`;
}

const inCsv: Render = (column, type) => {
  if (type.name === 'array') return arrayText(column, shownType(type.element));
  return type.name === 'map' ? `toJSONString(${column})` : undefined;
};

/** Every column is of the type that its name in SQL says, also one of NULLs alone. */
const inColumns: Render = (column, type) => {
  if (type.name === 'map') return `CAST(${column}, ${quoteString(storeType(type))})`;
  const shown = shownType(type.name === 'array' ? type.element : type);
  const stored = `Nullable(${columnType(shown)})`;
  if (type.name !== 'array') return `CAST(${typed(column, shown)}, ${quoteString(stored)})`;
  const items = `arrayMap(x -> ${typed('x', shown)}, ${elements(column, shown)})`;
  // The store has no array that is NULL; `ArrowLists` and `ParquetLists` make a list of the tuple.
  return `if(isNull(${column}), NULL, CAST(tuple(${items}), ${quoteString(`Nullable(Tuple(list Array(${stored})))`)}))`;
};

/** A value on its way to the type of its column. */
function typed(value: string, type: SqlType): string {
  if (type.name !== 'numeric') return value;
  const stored = columnType(type);
  // By way of its text: a quotient of two doubles would be another one.
  if (stored === 'Float64') return `toFloat64(toString(${value}))`;
  return stored === 'String' ? `toDecimalString(${value}, ${type.scale})` : value;
}

/**
 * The type of a column in Arrow and Parquet, as a type of the store. Readers know decimals of 38 digits: a
 * numeric with a fixed number of digits behind the point is one, unless it was declared with more. One whose
 * digits PostgreSQL chooses by the value (averages, quotients, numbers of JSON) is a double; these have more
 * digits behind the point here than all others.
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
