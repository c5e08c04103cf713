import { quoteString } from '../../../lib/quote.ts';
import { apply } from '../../build.ts';
import { convert, settle } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { reservedWords } from '../../syntax/reserved-words.ts';
import { text } from '../../types.ts';
import { checkCount, constantFormat, type SpecialForm } from '../definition.ts';

/** `%[position$][-][width]type` of a format. */
const specifier = /^%(?:(\d+)\$)?(-)?(\d+)?([A-Za-z])/;

/** A boolean as PostgreSQL's output shows it; casts show it as a word. */
export const shownBool = (value: string): string => `multiIf(${value}, 't', NOT ${value}, 'f', NULL)`;

/** Any value as PostgreSQL's output shows it. */
export const shownText = (arg: Expr, at: number | undefined): Expr =>
  arg.type.name === 'bool' ? apply('show bool', text, shownBool, arg) : convert(settle(arg, at), text, at);

/**
 * A literal, with what is special in it doubled.
 * @param ofNull what there is for NULL, in the store's SQL
 */
export const quotedLiteral = (value: string, ofNull: string): string => {
  const doubled = `replaceAll(replaceAll(${value}, '\\\\', '\\\\\\\\'), '\\'', '\\'\\'')`;
  return `ifNull(concat(if(position(${value}, '\\\\') > 0, 'E', ''), '\\'', ${doubled}, '\\''), ${ofNull})`;
};

const words = `(${[...reservedWords].map(quoteString).join(', ')})`;

/** An identifier as it has to be written. */
export const quotedIdentifier = (value: string): string =>
  letBindings(
    ['w'],
    [value],
    `if(match(w, '^[a-z_][a-z0-9_]*$') AND w NOT IN ${words}, w, concat('"', replaceAll(w, '"', '""'), '"'))`,
  );

/** There is no name that is NULL. */
const namedPart = (part: string): string =>
  quotedIdentifier(
    `concat(ifNull(${part}, ''), substring('', 1 + ${raiseIf(`isNull(${part})`, 'nullKey')}))`,
  );

const padded = (value: string, width: number, isLeft: boolean): string =>
  `if(lengthUTF8(${value}) >= ${width}, ${value}, ${isLeft ? 'rightPadUTF8' : 'leftPadUTF8'}(${value}, ${width}, ' '))`;

/** Widths beyond this one are refused: each makes its text so long. */
const maxWidth = 1000;

type Piece = (parts: readonly string[]) => string;

/**
 * One specifier at the begin of a text; `next` is the place of the argument behind the last one that was
 * used.
 */
function specifierAt(rest: string, next: number, count: number, at: number | undefined) {
  const bad = (message: string): Error => sqlError('sql_bad_value', `format: ${message}`, at);
  const [whole, position, minus, digits, type] = specifier.exec(rest) ?? [];
  if (whole === undefined) {
    throw /^%[-$\d]*\*/.test(rest)
      ? unsupported('format with a width from an argument', at)
      : bad('unterminated format specifier');
  }
  if (type !== 's' && type !== 'L' && type !== 'I') throw bad(`unrecognized format type "${type}"`);
  const place = position === undefined ? next : Number(position) - 1;
  if (place < 0) throw bad('an argument of the place 0');
  if (place >= count) throw bad('too few arguments');
  const width = Number(digits ?? 0);
  if (width > maxWidth) throw unsupported(`format with a width over ${maxWidth}`, at);
  const piece: Piece = (parts) => {
    const part = parts[place] ?? "''";
    const shown =
      type === 'L' ? quotedLiteral(part, "'NULL'") : type === 'I' ? namedPart(part) : `ifNull(${part}, '')`;
    return width === 0 ? shown : padded(shown, width, minus !== undefined);
  };
  return { piece, next: place + 1, length: whole.length };
}

/** `format ('%s of %L', …)` */
export const format: SpecialForm = (args, site) => {
  checkCount(args, 1, 1000, site);
  const written = constantFormat(args[0], site);
  const values = args.slice(1).map((arg) => shownText(arg, site.at));
  const pieces: Piece[] = [];
  let rest = written;
  let next = 0;
  while (rest !== '') {
    const plain = /^[^%]+/.exec(rest)?.[0] ?? (rest.startsWith('%%') ? '%%' : undefined);
    if (plain === undefined) {
      const found = specifierAt(rest, next, values.length, site.at);
      pieces.push(found.piece);
      next = found.next;
      rest = rest.slice(found.length);
    } else {
      const words = quoteString(plain === '%%' ? '%' : plain);
      pieces.push(() => words);
      rest = rest.slice(plain.length);
    }
  }
  const render = (...parts: string[]): string =>
    `concat('', ${[...pieces.map((piece) => piece(parts)), "''"].join(', ')})`;
  return apply(`format ${written}`, text, render, ...values);
};
