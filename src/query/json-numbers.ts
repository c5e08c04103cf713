import type { OutputFilter } from './lists/output-filter.ts';

/**
 * Numbers that JSON cannot write. The store writes them as `"inf"`, `"-inf"`, `"nan"` and `"-nan"`, in
 * columns of numbers and in arrays of numbers. Clients get `"Infinity"`, `"-Infinity"` and `null`, the words
 * of PostgreSQL and JavaScript. A text column may hold the same strings, which must not change. So a row that
 * has such a string is read column by column; all other rows are passed on as they are.
 */
const replacements: ReadonlyMap<string, Buffer> = new Map([
  ['"inf"', Buffer.from('"Infinity"')],
  ['"-inf"', Buffer.from('"-Infinity"')],
  ['"nan"', Buffer.from('null')],
  ['"-nan"', Buffer.from('null')],
]);

const [newline, quote, backslash, comma, colon] = [0x0a, 0x22, 0x5c, 0x2c, 0x3a];
/** The last five characters of each of them, and the characters that can come before the closing quote. */
const tailLength = 5;
const tails: ReadonlySet<string> = new Set([...replacements.keys()].map((text) => text.slice(-tailLength)));
const beforeQuote: ReadonlySet<number> = new Set([...tails].map((tail) => tail.charCodeAt(tailLength - 2)));
/**
 * How far the search can skip ahead after a byte without missing a tail (Horspool, "Practical fast searching
 * in strings", 1980). Searching for the first byte of each string would be slow: it is a quote, and JSON is
 * full of quotes.
 */
const shifts = shiftsOf(tails);

function shiftsOf(words: Iterable<string>): Uint8Array {
  const distances = new Uint8Array(256).fill(tailLength);
  for (const word of words) {
    for (let index = 0; index < tailLength - 1; index += 1) {
      const byte = word.charCodeAt(index);
      distances[byte] = Math.min(distances[byte] ?? 0, tailLength - 1 - index);
    }
  }
  return distances;
}
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Replaces such numbers in an output. The output consists of lines; each holds one row as a JSON object with
 * all columns in order, or a bracket of the array around the rows. The pieces may begin and end anywhere.
 */
export class JsonNumbers implements OutputFilter {
  readonly #isNumber: readonly boolean[];
  /** The pieces of a line whose end has not arrived yet. */
  #begun: Buffer[] = [];

  /** @param isNumber for each column, whether it holds numbers or arrays of them */
  constructor(isNumber: readonly boolean[]) {
    this.#isNumber = isNumber;
  }

  /** The lines that the piece completes. */
  push(piece: Uint8Array): readonly Uint8Array[] {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const end = bytes.lastIndexOf(newline) + 1;
    if (end === 0) {
      this.#begun.push(bytes);
      return [];
    }
    const lines =
      this.#begun.length === 0
        ? bytes.subarray(0, end)
        : Buffer.concat([...this.#begun, bytes.subarray(0, end)]);
    this.#begun = end < bytes.byteLength ? [bytes.subarray(end)] : [];
    return [...nameInLines(lines, this.#isNumber)];
  }

  /** What is left when no piece follows. */
  end(): readonly Uint8Array[] {
    return this.#begun.length === 0 ? [] : [...nameInLines(Buffer.concat(this.#begun), this.#isNumber)];
  }
}

/** Replaces the numbers in complete lines. */
function* nameInLines(lines: Buffer, isNumber: readonly boolean[]): Generator<Uint8Array, void> {
  let done = 0;
  for (let hit = nextSign(lines, 0); hit >= 0; hit = nextSign(lines, done)) {
    const start = lines.lastIndexOf(newline, hit) + 1;
    const lineEnd = lines.indexOf(newline, hit);
    const end = lineEnd < 0 ? lines.byteLength : lineEnd + 1;
    if (start > done) yield lines.subarray(done, start);
    yield nameInRow(lines.subarray(start, end), isNumber);
    done = end;
  }
  if (done < lines.byteLength) yield lines.subarray(done);
}

/** The index of the last byte of the next string that may be a number; -1 if there is none. */
function nextSign(bytes: Buffer, from: number): number {
  for (let last = from + tailLength - 1; last < bytes.byteLength; ) {
    const byte = bytes[last] ?? 0;
    if (byte === quote && beforeQuote.has(bytes[last - 1] ?? 0)) {
      if (tails.has(bytes.toString('latin1', last - tailLength + 1, last + 1))) return last;
    }
    last += shifts[byte] ?? 1;
  }
  return -1;
}

function nameInRow(row: Buffer, isNumber: readonly boolean[]): Buffer {
  const parts: Buffer[] = [];
  let [done, depth, column] = [0, 0, 0];
  let isKey = true;
  for (let at = 0; at < row.byteLength; at += 1) {
    const byte = row[at] ?? 0;
    if (byte === quote) {
      const end = stringEnd(row, at);
      const name =
        isKey || isNumber[column] !== true ? undefined : replacements.get(row.toString('latin1', at, end));
      if (name !== undefined) {
        parts.push(row.subarray(done, at), name);
        done = end;
      }
      at = end - 1;
    } else if (opening.has(byte)) depth += 1;
    else if (closing.has(byte)) depth -= 1;
    else if (depth === 1 && byte === colon) isKey = false;
    else if (depth === 1 && byte === comma) {
      column += 1;
      isKey = true;
    }
  }
  return Buffer.concat([...parts, row.subarray(done)]);
}

/** The index after the closing quote of a string that begins at `start`. */
function stringEnd(row: Buffer, start: number): number {
  for (let at = row.indexOf(quote, start + 1); at >= 0; at = row.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (row[at - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return row.byteLength;
}
