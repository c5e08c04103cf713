/**
 * PostgreSQL's lexical rules as far as they tell where a statement ends and what kind it is
 * (https://www.postgresql.org/docs/15/sql-syntax-lexical.html). One pass, linear in the text.
 */
export interface Token {
  /**
   * `word`: a keyword or an unquoted name, in lower case. `name`: a quoted one. `string`: what it stands for.
   */
  readonly kind: 'word' | 'name' | 'string' | 'number' | 'symbol';
  readonly text: string;
  /** Offsets in the text. */
  readonly start: number;
  readonly end: number;
}

export interface StatementText {
  readonly text: string;
  /** Where it begins in the text of the query, in characters. */
  readonly offset: number;
  /** As many as tell what it is: a query may have many more. */
  readonly tokens: readonly Token[];
}

/** Of a statement that is not a query itself, before the query in it; none has more. */
const maxTokens = 400;
/** What follows the query of a COPY is needed too. */
const maxCopyTokens = 50_000;

/**
 * The statements of a text, without empty ones.
 * @param maxStatements one more than these are returned at most
 */
export function splitStatements(text: string, maxStatements: number): readonly StatementText[] {
  const statements: StatementText[] = [];
  let tokens: Token[] = [];
  let start = 0;
  let isEmpty = true;
  const finish = (end: number): void => {
    const first = tokens[0]?.start ?? start;
    if (!isEmpty)
      statements.push({ text: text.slice(first, end), offset: first, tokens: shifted(tokens, first) });
    tokens = [];
    isEmpty = true;
    start = end + 1;
  };
  for (const token of tokensOf(text)) {
    if (token.kind === 'symbol' && token.text === ';') {
      finish(token.start);
      if (statements.length > maxStatements) return statements;
    } else {
      isEmpty = false;
      const most = tokens[0]?.text === 'copy' ? maxCopyTokens : maxTokens;
      if (tokens.length < most) tokens.push(token);
    }
  }
  finish(text.length);
  return statements;
}

const shifted = (tokens: readonly Token[], by: number): readonly Token[] =>
  by === 0 ? tokens : tokens.map((token) => ({ ...token, start: token.start - by, end: token.end - by }));

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isNameStart = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code >= 128;
const isNamePart = (code: number): boolean => isNameStart(code) || isDigit(code) || code === 36;

function* tokensOf(text: string): Generator<Token> {
  let at = 0;
  const { length } = text;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) at += 1;
    else if (text.startsWith('--', at)) at = lineEnd(text, at);
    else if (text.startsWith('/*', at)) at = commentEnd(text, at);
    else {
      const token = tokenAt(text, at, code);
      yield token;
      at = token.end;
    }
  }
}

function tokenAt(text: string, start: number, code: number): Token {
  const quote = text[start + 1] === "'" ? text[start]?.toLowerCase() : undefined;
  if (quote === 'e') return stringAt(text, start, start + 1, true);
  if (quote === 'b' || quote === 'x' || quote === 'n') return stringAt(text, start, start + 1, false);
  if (code === quoteCode) return stringAt(text, start, start, false);
  if (code === doubleQuoteCode) return nameAt(text, start);
  if (isNameStart(code)) {
    const end = endWhile(text, start + 1, isNamePart);
    return { kind: 'word', text: text.slice(start, end).toLowerCase(), start, end };
  }
  if (isDigit(code) || (code === 46 && isDigit(text.charCodeAt(start + 1)))) {
    const end = endWhile(text, start + 1, (each) => isNamePart(each) || each === 46);
    return { kind: 'number', text: text.slice(start, end), start, end };
  }
  if (code === 36) {
    const tagEnd = endWhile(text, start + 1, (each) => isNamePart(each) && each !== 36);
    if (text[tagEnd] === '$' && !isDigit(text.charCodeAt(start + 1)))
      return dollarStringAt(text, start, tagEnd + 1);
    const end = Math.max(start + 1, tagEnd);
    return { kind: 'symbol', text: text.slice(start, end), start, end };
  }
  return { kind: 'symbol', text: text[start] ?? '', start, end: start + 1 };
}

const quoteCode = 39;
const doubleQuoteCode = 34;

function endWhile(text: string, from: number, isPart: (code: number) => boolean): number {
  let end = from;
  while (end < text.length && isPart(text.charCodeAt(end))) end += 1;
  return end;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

/** Comments nest. */
function commentEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    if (text.startsWith('/*', at)) {
      depth += 1;
      at += 2;
    } else if (text.startsWith('*/', at)) {
      depth -= 1;
      at += 2;
      if (depth === 0) return at;
    } else at += 1;
  }
  return text.length;
}

/** @param quote where the quote is */
function stringAt(text: string, start: number, quote: number, hasEscapes: boolean): Token {
  const pieces: string[] = [];
  let from = quote + 1;
  let at = from;
  while (at < text.length) {
    if (text[at] === "'") {
      if (text[at + 1] !== "'") break;
      pieces.push(text.slice(from, at + 1));
      at += 2;
      from = at;
    } else if (hasEscapes && text[at] === '\\') {
      const [character, length] = escapeAt(text, at + 1);
      pieces.push(text.slice(from, at), character);
      at += 1 + length;
      from = at;
    } else at += 1;
  }
  pieces.push(text.slice(from, at));
  return { kind: 'string', text: pieces.join(''), start, end: Math.min(text.length, at + 1) };
}

const letterEscapes: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const numberEscape = /[0-7]{1,3}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}/y;

/** What an escape stands for, and how long it is behind its backslash. */
function escapeAt(text: string, at: number): readonly [character: string, length: number] {
  const letter = text[at] ?? '';
  numberEscape.lastIndex = at;
  const digits = numberEscape.exec(text)?.[0];
  if (digits === undefined) return [letterEscapes.get(letter) ?? letter, 1];
  const isOctal = letter >= '0' && letter <= '7';
  const code = isOctal ? Number.parseInt(digits, 8) & 0xff : Number.parseInt(digits.slice(1), 16);
  return [code === 0 || code > 0x10_ffff ? '' : String.fromCodePoint(code), digits.length];
}

function nameAt(text: string, start: number): Token {
  let at = start + 1;
  while (at < text.length && !(text[at] === '"' && text[at + 1] !== '"')) at += text[at] === '"' ? 2 : 1;
  return {
    kind: 'name',
    text: text.slice(start + 1, at).replaceAll('""', '"'),
    start,
    end: Math.min(text.length, at + 1),
  };
}

function dollarStringAt(text: string, start: number, bodyStart: number): Token {
  const tag = text.slice(start, bodyStart);
  const close = text.indexOf(tag, bodyStart);
  const bodyEnd = close < 0 ? text.length : close;
  const end = close < 0 ? text.length : close + tag.length;
  return { kind: 'string', text: text.slice(bodyStart, bodyEnd), start, end };
}
