import { quoteIdentifier, quoteString } from '../../lib/quote.ts';
import { type FromIr, outputName } from '../ir.ts';
import { isInteger } from '../types.ts';

type RowsIr = Extract<FromIr, { kind: 'rows' }>;

/**
 * Rows that are written into the statement, as a subselect. A column with the same value in all of them is written
 * once, since the statement has a bound.
 */
export function printRows({ columns, rows }: RowsIr): string {
  const [first = []] = rows;
  const types = columns.map(({ type }) => `Nullable(${isInteger(type) ? 'Int32' : 'String'})`);
  const varying = columns.flatMap((_, index) =>
    rows.some((row) => row[index] !== first[index]) ? [index] : [],
  );
  const items = columns.map((_, index) => {
    const name = quoteIdentifier(outputName(index));
    return varying.includes(index) ? name : `CAST(${printCell(first[index])}, '${types[index]}') AS ${name}`;
  });
  const select = `SELECT ${items.join(', ')}`;
  if (rows.length === 0) return `${select} WHERE false`;
  // One row has nothing that varies.
  if (varying.length === 0) return `${select} FROM numbers(${rows.length})`;
  const structure = varying.map((index) => `${outputName(index)} ${types[index]}`).join(', ');
  const tuples = rows.map((row) => `(${varying.map((index) => printCell(row[index])).join(', ')})`);
  return `${select} FROM values(${quoteString(structure)}, ${tuples.join(', ')})`;
}

function printCell(cell: RowsIr['rows'][number][number] | undefined): string {
  if (cell === null || cell === undefined) return 'NULL';
  return typeof cell === 'number' ? String(cell) : quoteString(cell);
}
