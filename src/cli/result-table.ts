import { CommandError } from './command-error.ts';

/**
 * The rows of a CSV text, the header first. `undefined` is NULL: an empty field without quotes, or `\N`.
 * @param text CSV as the service writes it (RFC 4180)
 * @throws CommandError if it ends within a field
 */
export function parseCsv(text: string): ReadonlyArray<ReadonlyArray<string | undefined>> {
  const rows: Array<Array<string | undefined>> = [];
  let row: Array<string | undefined> = [];
  let at = 0;
  while (at < text.length) {
    if (text[at] === '"') {
      let field = '';
      let end = text.indexOf('"', at + 1);
      for (; end >= 0 && text[end + 1] === '"'; end = text.indexOf('"', at + 1)) {
        field += text.slice(at + 1, end + 1);
        at = end + 1;
      }
      if (end < 0) throw new CommandError('the reply is not CSV: a quote is not closed');
      row.push(field + text.slice(at + 1, end));
      at = end + 1;
    } else {
      endOfField.lastIndex = at;
      const end = endOfField.exec(text)?.index ?? text.length;
      const field = text.slice(at, end);
      row.push(field === '' || field === '\\N' ? undefined : field);
      at = end;
    }
    if (text[at] === ',') {
      at += 1;
      // A comma at the end of a line is followed by an empty field.
      if (at === text.length || text[at] === '\n' || text[at] === '\r') row.push(undefined);
      else continue;
    }
    if (text[at] === '\r') at += 1;
    at += 1;
    rows.push(row);
    row = [];
  }
  return rows;
}

const endOfField = /[,\r\n]/g;

/**
 * A table in the format of psql: column names are centred, numbers are right-aligned, NULL is empty, and the
 * number of rows comes last. Control characters are escaped, because a terminal would interpret them, and
 * anyone who sends logs could put them into rows.
 * @param rows the header is the first row
 */
export function renderTable(rows: ReadonlyArray<ReadonlyArray<string | undefined>>): string {
  const [header = [], ...body] = rows.map((row) => row.map((cell) => printable(cell ?? '')));
  const columns = header.map((name, index) => {
    const cells = body.map((row) => row[index] ?? '');
    return {
      width: cells.reduce((most, cell) => Math.max(most, displayWidth(cell)), displayWidth(name)),
      isNumeric: cells.every((cell) => cell === '' || number.test(cell)) && cells.some((cell) => cell !== ''),
    };
  });
  const line = (cells: readonly string[], separator: string) => cells.join(separator).trimEnd();
  const titles = header.map((name, index) => ` ${centred(name, columns[index]?.width ?? 0)} `);
  const rule = columns.map(({ width }) => '-'.repeat(width + 2)).join('+');
  const lines = body.map((row) =>
    line(
      columns.map(({ width, isNumeric }, index) => {
        const cell = row[index] ?? '';
        const fill = ' '.repeat(width - displayWidth(cell));
        return isNumeric ? ` ${fill}${cell} ` : ` ${cell}${fill} `;
      }),
      '|',
    ),
  );
  const count = `(${body.length} ${body.length === 1 ? 'row' : 'rows'})`;
  return [line(titles, '|'), rule, ...lines, count, ''].join('\n');
}

const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$|^-?(?:nan|inf|infinity)$/i;

function centred(text: string, width: number): string {
  const fill = width - displayWidth(text);
  const left = Math.floor(fill / 2);
  return ' '.repeat(left) + text + ' '.repeat(fill - left);
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes characters that a terminal would interpret: control characters, and changes of text direction. */
export const printable = (text: string): string =>
  text.replace(
    /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (each) => escapes[each] ?? `\\u${(each.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );

/** The width in a terminal: East Asian characters and emoji take two columns, combining marks take none. */
export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += none.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

const plain = /^[\x20-\x7e]*$/;
const none = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]$/u;
