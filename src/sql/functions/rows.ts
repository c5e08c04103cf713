import { apply } from '../build.ts';
import type { Apply, Expr } from '../ir.ts';
import { unsupported } from '../sql-error.ts';
import { record } from '../types.ts';
import { shownText } from './text/format.ts';

/** A row of values with their names: of `ROW (…)`, or of a whole relation. */
export interface Row extends Apply {
  readonly fields: readonly string[];
}

/** Undefined for a row whose values are not at hand, such as a column of a subquery. */
export const asRow = (expr: Expr): Row | undefined =>
  expr.kind === 'apply' && expr.fields !== undefined ? { ...expr, fields: expr.fields } : undefined;

/** What is empty or has a sign in it stands in quotes (record_out in src/backend/utils/adt/rowtypes.c). */
const quoted = (value: string): string => {
  const doubled = `replaceAll(replaceAll(${value}, '\\\\', '\\\\\\\\'), '"', '""')`;
  return `if(${value} = '' OR match(${value}, '[\\\\s"\\\\\\\\(),]'), concat('"', ${doubled}, '"'), ${value})`;
};

/** A row, which is its text where nothing takes its values. */
export function rowOf(names: readonly string[], values: readonly Expr[], at: number | undefined): Row {
  if (values.length === 0) throw unsupported('A row without values', at);
  if (values.some(({ type }) => type.name === 'array' || type.name === 'map' || type.name === 'record')) {
    return { ...apply('row', record, () => neverPrinted(at), ...values), fields: names };
  }
  return { ...textRow(values, at), fields: names };
}

const neverPrinted = (at: number | undefined): never => {
  throw unsupported('The text of a row with arrays, labels or rows in it', at);
};

function textRow(values: readonly Expr[], at: number | undefined): Apply {
  const isFixed = values.every(({ type }) => type.name !== 'numeric' || type.exact);
  // The text of such a number is refused where it is asked for, and JSON of it, too.
  if (!isFixed) {
    return apply(
      'row',
      record,
      () => {
        throw unsupported('A row with a numeric whose digits are not fixed (use round(x, digits) first)', at);
      },
      ...values,
    );
  }
  const texts = values.map((value) => shownText(value, at));
  const render = (...parts: string[]): string => {
    const shown = parts.slice(values.length);
    const each = shown.map((part) => `arrayMap(y -> ifNull(${quoted('y')}, ''), [${part}])[1]`);
    return `concat('(', arrayStringConcat([${each.join(', ')}], ','), ')')`;
  };
  const row = apply('row', record, render, ...values, ...texts);
  return row;
}
