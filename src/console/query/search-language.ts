/**
 * The search language of Explore:
 *
 *     timeout                      the word, anywhere in the message
 *     "connection reset"           the phrase
 *     level:error  level=error     the field is this; with * anything: path:/api/*
 *     status>=500                  also > < <= and !=
 *     user_id:*                    the field is there
 *     -level:debug  NOT x          not this
 *     a OR b,  (a OR b) c          the rest is joined by AND
 *
 * It becomes a syntax tree here; `search-sql.ts` prints that as a WHERE clause. It is never sent as it is.
 */
export type Search =
  | { readonly kind: 'all' }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Search[] }
  | { readonly kind: 'not'; readonly part: Search }
  | { readonly kind: 'words'; readonly text: string }
  | {
      readonly kind: 'field';
      readonly field: string;
      readonly operator: Comparison;
      readonly value: string;
      /** Whether the value was in quotes, in which `*` means itself. */
      readonly isQuoted: boolean;
    };

export type Comparison = ':' | '!=' | '>' | '>=' | '<' | '<=';

/** What is wrong with a search, and where. */
export class SearchError extends Error {
  override readonly name = 'SearchError';
  /** Offset in the text. */
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** Longer texts are not searches of people; the server bounds the SQL by itself. */
export const maxSearchLength = 4000;
const maxDepth = 50;

interface Token {
  readonly kind: '(' | ')' | '-' | 'and' | 'or' | 'not' | 'term';
  readonly at: number;
  readonly search?: Search;
}

/** @throws SearchError */
export function parseSearch(text: string): Search {
  if (text.length > maxSearchLength) {
    throw new SearchError(`the search is longer than ${maxSearchLength} characters`, maxSearchLength);
  }
  const parser = new Parser(tokensOf(text), text.length);
  return parser.whole();
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #end: number;
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], end: number) {
    this.#tokens = tokens;
    this.#end = end;
  }

  whole(): Search {
    if (this.#tokens.length === 0) return { kind: 'all' };
    const search = this.#or();
    const rest = this.#peek();
    if (rest !== undefined) throw new SearchError('this closing parenthesis has no opening one', rest.at);
    return search;
  }

  #or(): Search {
    const parts = [this.#and()];
    while (this.#take('or')) parts.push(this.#and());
    return joined('or', parts);
  }

  #and(): Search {
    const parts = [this.#unary()];
    for (;;) {
      const isNamed = this.#take('and');
      const kind = this.#peek()?.kind;
      const begins = kind === 'term' || kind === '(' || kind === '-' || kind === 'not';
      if (!begins && !isNamed) return joined('and', parts);
      parts.push(this.#unary());
    }
  }

  #unary(): Search {
    this.#depth += 1;
    const token = this.#peek();
    const at = token?.at ?? this.#end;
    if (this.#depth > maxDepth) throw new SearchError('this is nested too deeply', at);
    try {
      if (token === undefined) throw new SearchError('something must follow here', at);
      this.#next += 1;
      if (token.kind === '-' || token.kind === 'not') return { kind: 'not', part: this.#unary() };
      if (token.kind === '(') {
        const inner = this.#or();
        if (!this.#take(')')) throw new SearchError('this parenthesis is not closed', at);
        return inner;
      }
      if (token.search === undefined) throw new SearchError('a word or a field must be here', at);
      return token.search;
    } finally {
      this.#depth -= 1;
    }
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#next];
  }

  #take(kind: Token['kind']): boolean {
    if (this.#peek()?.kind !== kind) return false;
    this.#next += 1;
    return true;
  }
}

const joined = (kind: 'and' | 'or', parts: readonly Search[]): Search => {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind, parts };
};

const space = /\s/;
const operators: readonly string[] = ['>=', '<=', '!=', ':', '=', '>', '<'];
const keywords: ReadonlyMap<string, Token['kind']> = new Map([
  ['AND', 'and'],
  ['OR', 'or'],
  ['NOT', 'not'],
]);

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (space.test(character)) {
      at += 1;
    } else if (character === '(' || character === ')' || character === '-') {
      tokens.push({ kind: character, at });
      at += 1;
    } else {
      const [token, end] = term(text, at);
      tokens.push(token);
      at = end;
    }
  }
  return tokens;
}

/** A word, a phrase, or a field with its value, which begins at `at`. */
function term(text: string, at: number): readonly [Token, number] {
  const first = word(text, at, true);
  const operator = operators.find((each) => text.startsWith(each, first.end));
  if (operator === undefined) {
    const keyword = first.isQuoted ? undefined : keywords.get(first.text);
    if (keyword !== undefined) return [{ kind: keyword, at }, first.end];
    return [{ kind: 'term', at, search: { kind: 'words', text: first.text } }, first.end];
  }
  if (first.text === '') throw new SearchError(`a field must stand before ${operator}`, at);
  const value = word(text, first.end + operator.length, false);
  if (value.text === '' && !value.isQuoted) {
    throw new SearchError(`a value must follow ${first.text}${operator}`, first.end);
  }
  const search: Search = {
    kind: 'field',
    field: first.text,
    operator: operator === '=' ? ':' : (operator as Comparison),
    value: value.text,
    isQuoted: value.isQuoted,
  };
  return [{ kind: 'term', at, search }, value.end];
}

interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
  readonly end: number;
}

/** @param endsAtOperator whether it may be a field, which ends where its operator begins */
function word(text: string, at: number, endsAtOperator: boolean): Word {
  if (text.charAt(at) === '"') return phrase(text, at);
  let end = at;
  while (end < text.length) {
    const character = text.charAt(end);
    if (space.test(character) || character === '(' || character === ')' || character === '"') break;
    if (endsAtOperator && operators.some((each) => text.startsWith(each, end))) break;
    end += 1;
  }
  return { text: text.slice(at, end), isQuoted: false, end };
}

/** A text in quotes, in which a backslash takes the next quote or backslash as it is. */
function phrase(text: string, at: number): Word {
  let found = '';
  for (let end = at + 1; end < text.length; end += 1) {
    const character = text.charAt(end);
    if (character === '"') return { text: found, isQuoted: true, end: end + 1 };
    const next = text.charAt(end + 1);
    if (character === '\\' && (next === '"' || next === '\\')) {
      found += next;
      end += 1;
    } else {
      found += character;
    }
  }
  throw new SearchError('this quote is not closed', at);
}

const plainWord = /^[^\s()":=<>!*-][^\s()":=<>!*]*$/;

/** A value or the name of a field as the language writes it, in quotes where it needs them. */
export const searchWord = (text: string): string =>
  plainWord.test(text) && !keywords.has(text)
    ? text
    : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/**
 * A search with one more condition; a condition that is there already stays once.
 * @param value null: that the field has any value
 */
export function withCondition(
  search: string,
  field: string,
  value: string | null,
  isExcluded: boolean,
): string {
  const test = value === null ? `${searchWord(field)}:*` : `${searchWord(field)}:${searchWord(value)}`;
  const sign = isExcluded ? '-' : '';
  const condition = sign + test;
  const before = search.trim();
  if (before === '') return condition;
  if (` ${before} `.includes(` ${condition} `)) return before;
  return / OR /.test(before) && !/^\([^()]*\)$/.test(before)
    ? `(${before}) ${condition}`
    : `${before} ${condition}`;
}
