import { AppError, type ErrorCode } from '../errors.ts';

/** Characters of a line shown around the place of an error. */
const excerptCharacters = 80;

/**
 * An error in a query. `at` is the byte offset in the UTF-8 text, as the parser's tree has it; `located`
 * turns it into line and column, where the text is at hand.
 */
export const sqlError = (code: ErrorCode, message: string, at?: number): AppError =>
  new AppError(code, message, at === undefined ? {} : { details: { offset: at } });

export const unsupported = (construct: string, at?: number): AppError =>
  sqlError('sql_unsupported', `${construct} is not supported`, at);

/** Does a part of a translation; a refusal without a place gets this one. */
export function inPlace<Result>(at: number | undefined, work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    const isRefusal = thrown instanceof AppError && thrown.code === 'sql_unsupported';
    if (!isRefusal || at === undefined || thrown.details?.['offset'] !== undefined) throw thrown;
    throw new AppError(thrown.code, thrown.message, {
      details: { ...thrown.details, offset: at },
      cause: thrown,
    });
  }
}

/** Adds line, column, the line itself and a caret under the place; other errors pass through as they are. */
export function located(thrown: unknown, text: string): unknown {
  if (!(thrown instanceof AppError)) return thrown;
  const { offset, ...others } = thrown.details ?? {};
  if (typeof offset !== 'number') return thrown;
  const before = Buffer.from(text).subarray(0, offset).toString();
  const lineStart = before.lastIndexOf('\n') + 1;
  const lineNumber = before.split('\n').length;
  const column = [...before.slice(lineStart)].length + 1;
  const line = [...(text.slice(lineStart).split('\n', 1)[0] ?? '')];
  const from = Math.max(0, column - 1 - excerptCharacters / 2);
  const excerpt = line
    .slice(from, from + excerptCharacters)
    .join('')
    .replace(/\s/g, ' ');
  return new AppError(
    thrown.code,
    `${thrown.message} (line ${lineNumber}, column ${column})\n${excerpt}\n${' '.repeat(column - 1 - from)}^`,
    { details: { ...others, line: lineNumber, column }, cause: thrown },
  );
}

/** The byte offset of a position given in characters (code points). */
export const byteOffset = (text: string, characters: number): number =>
  Buffer.byteLength([...text].slice(0, characters).join(''));
