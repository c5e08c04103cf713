import type { CopyOptions } from './session-statement.ts';

/** The lines of COPY TO (PostgreSQL's documentation of COPY, "File Formats"), with their ends. */

export function copyLine(row: ReadonlyArray<string | null>, options: CopyOptions): string {
  const write = options.format === 'csv' ? csvCell : textCell;
  const isAlone = row.length === 1;
  return `${row.map((cell) => write(cell, options, isAlone)).join(options.delimiter)}\n`;
}

function textCell(cell: string | null, { nullText, delimiter }: CopyOptions): string {
  if (cell === null) return nullText;
  let text = '';
  let from = 0;
  for (let at = 0; at < cell.length; at++) {
    const character = cell[at] ?? '';
    const letter = textEscapes.get(character) ?? (character === delimiter ? character : undefined);
    if (letter === undefined) continue;
    text += `${cell.slice(from, at)}\\${letter}`;
    from = at + 1;
  }
  return from === 0 ? cell : text + cell.slice(from);
}

const textEscapes: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ['\b', 'b'],
  ['\f', 'f'],
  ['\n', 'n'],
  ['\r', 'r'],
  ['\t', 't'],
  ['\v', 'v'],
]);

/** @param isAlone a line of nothing but `\.` would be the end of the data */
function csvCell(cell: string | null, { nullText, delimiter, quote }: CopyOptions, isAlone: boolean): string {
  if (cell === null) return nullText;
  const needsQuotes =
    cell === nullText ||
    cell.includes(delimiter) ||
    cell.includes(quote) ||
    cell.includes('\n') ||
    cell.includes('\r') ||
    (isAlone && cell === '\\.');
  return needsQuotes ? `${quote}${cell.replaceAll(quote, quote + quote)}${quote}` : cell;
}

/** `PGCOPY\n\377\r\n\0`, no flags, no extension. */
export const binaryCopyHeader: Buffer = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex');
