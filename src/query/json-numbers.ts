import type { OutputFilter } from './lists/output-filter.ts';

/**
 * Numbers that JSON cannot write. The store writes them as `"inf"`, `"-inf"`, `"nan"` and `"-nan"`, in
 * columns of numbers and in arrays of them; clients get `"Infinity"`, `"-Infinity"` and `null`, as in
 * PostgreSQL's and JavaScript's words. Texts that read the same stay as they are, so a row with such a string
 * is walked through, column by column. Rows without one pass through untouched.
 */
const replacements: ReadonlyMap<string, Buffer> = new Map([
  ['"inf"', Buffer.from('"Infinity"')],
  ['"-inf"', Buffer.from('"-Infinity"')],
  ['"nan"', Buffer.from('null')],
  ['"-nan"', Buffer.from('null')],
]);

const [newline, quote, backslash, comma, colon] = [0x0a, 0x22, 0x5c, 0x2c, 0x3a];
/** The last five characters of each, and what stands before the quote at their end. */
const tailLength = 5;
const tails: ReadonlySet<string> = new Set([...replacements.keys()].map((text) => text.slice(-tailLength)));
const beforeQuote: ReadonlySet<number> = new Set([...tails].map((tail) => tail.charCodeAt(tailLength - 2)));
/**
 * How far a window of five bytes moves on, by its last byte, so that it misses no tail (Horspool,
 * "Practical fast searching in strings", 1980). JSON is full of quotes: a search for the first byte of each
 * would stop at all of them.
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
 * Takes an output in pieces, cut anywhere: lines, each with one row as a JSON object with all columns in
 * order, or with a bracket of the array around them.
 */
export class JsonNumbers implements OutputFilter {
  readonly #isNumber: readonly boolean[];
  /** Of a line whose end has not come yet. */
  #begun: Buffer[] = [];

  /** @param isNumber of each column */
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

/** Whole lines. */
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

/** Where the next string ends that may be a number; -1 if there is none. */
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

/** Behind the closing quote of a string that begins at `start`. */
function stringEnd(row: Buffer, start: number): number {
  for (let at = row.indexOf(quote, start + 1); at >= 0; at = row.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (row[at - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return row.byteLength;
}
