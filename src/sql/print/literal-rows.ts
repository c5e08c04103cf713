import { quoteIdentifier, quoteString } from '../../lib/quote.ts';
import { type FromIr, outputName } from '../ir.ts';
import { isInteger } from '../types.ts';

type RowsIr = Extract<FromIr, { kind: 'rows' }>;

/**
 * Rows that are written into the statement, as a subselect: as one text, since the store takes 50,000
 * elements of a statement at most, and as a value of a table, since it would compute with a constant when it
 * plans. A column with the same value in all rows is written once.
 */
export function printRows({ columns, rows }: RowsIr): string {
  const [first = []] = rows;
  const types = columns.map(({ type }) => `Nullable(${isInteger(type) ? 'Int32' : 'String'})`);
  const varying = columns.flatMap((_, index) =>
    rows.some((row) => row[index] !== first[index]) ? [index] : [],
  );
  const items = columns.map((_, index) => {
    const place = varying.indexOf(index) + 1;
    const value =
      place > 0 ? `tupleElement(r, ${place})` : `CAST(${printCell(first[index])}, '${types[index]}')`;
    return `${value} AS ${quoteIdentifier(outputName(index))}`;
  });
  const select = `SELECT ${items.join(', ')}`;
  if (rows.length === 0) return `${select} WHERE false`;
  // One row has nothing that varies.
  if (varying.length === 0) return `${select} FROM numbers(${rows.length})`;
  const json = JSON.stringify(rows.map((row) => varying.map((index) => row[index])));
  const type = `Array(Tuple(${varying.map((index) => types[index]).join(', ')}))`;
  return `${select} FROM (SELECT arrayJoin(JSONExtract(j, '${type}')) AS r FROM values('j String', ${quoteString(json)}))`;
}

function printCell(cell: RowsIr['rows'][number][number] | undefined): string {
  if (cell === null || cell === undefined) return 'NULL';
  return typeof cell === 'number' ? String(cell) : quoteString(cell);
}

/** Whole numbers as a subselect: of as many rows as the store works on at a time, however many there are. */
export function printSeries({ series, ordinality }: Extract<FromIr, { kind: 'series' }>): string {
  const { first, step, count } = series;
  const values = [
    `toInt64(${first}) + toInt64(number) * toInt64(${step})`,
    ...(ordinality ? ['toInt64(number) + 1'] : []),
  ];
  const items = values.map((value, index) => `${value} AS ${quoteIdentifier(outputName(index))}`);
  return `SELECT ${items.join(', ')} FROM numbers(${count})`;
}
