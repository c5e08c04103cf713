import { microsPerSecond } from '../lib/timestamp.ts';
import { parseInterval } from '../sql/syntax/datetime.ts';
import { characters } from './character-count.ts';
import { WireError } from './protocol/wire-error.ts';
import type { StatementText, Token } from './sql-scanner.ts';

/**
 * What a statement asks of the session itself, and not of the data; everything else is a query, which the
 * translator reads.
 */
export type SessionStatement =
  | { readonly kind: 'query' }
  | {
      readonly kind: 'begin';
      readonly tag: 'BEGIN' | 'START TRANSACTION';
      readonly settings: ReadonlyArray<readonly [name: string, value: string]>;
    }
  | { readonly kind: 'commit' | 'rollback'; readonly chain: boolean }
  | { readonly kind: 'savepoint' | 'release' | 'rollbackTo'; readonly name: string }
  | {
      readonly kind: 'set';
      readonly name: string;
      readonly value: string | undefined;
      readonly isLocal: boolean;
    }
  | {
      readonly kind: 'setTransaction';
      readonly settings: ReadonlyArray<readonly [name: string, value: string]>;
    }
  | { readonly kind: 'show' | 'reset'; readonly name: string }
  | { readonly kind: 'showAll' | 'resetAll' | 'discardAll' }
  | { readonly kind: 'discard'; readonly what: string }
  | { readonly kind: 'deallocate'; readonly name: string | undefined }
  | {
      readonly kind: 'declare';
      readonly name: string;
      readonly hold: boolean;
      readonly binary: boolean;
      readonly sql: string;
    }
  | { readonly kind: 'fetch' | 'move'; readonly cursor: string; readonly rows: number | 'all' }
  | { readonly kind: 'close'; readonly name: string | undefined }
  | { readonly kind: 'copy'; readonly sql: string; readonly options: CopyOptions }
  | { readonly kind: 'explain'; readonly sql: string }
  | { readonly kind: 'unlisten' };

export interface CopyOptions {
  readonly format: 'text' | 'csv' | 'binary';
  readonly header: boolean;
  readonly delimiter: string;
  readonly nullText: string;
  readonly quote: string;
}

/** First words of queries. */
const queryWords = new Set(['select', 'with', 'values', 'table']);
/** First words of statements that write, or change what there is. */
const writeWords = new Set(
  (
    'insert update delete merge truncate create alter drop grant revoke comment vacuum analyze reindex cluster lock ' +
    'refresh import security notify do call reassign checkpoint load'
  ).split(' '),
);
const refusedWords = new Set(['prepare', 'execute', 'listen']);

/** @throws WireError */
export function readSessionStatement({ text, tokens }: StatementText): SessionStatement {
  const reader = new TokenReader(text, tokens);
  const word = reader.word();
  if (word === undefined || queryWords.has(word)) return { kind: 'query' };
  if (writeWords.has(word)) {
    throw new WireError('25006', `cannot execute ${word.toUpperCase()} in a read-only transaction`, {
      hint: 'Data comes in over HTTP, and datasets and identities are changed there.',
    });
  }
  if (refusedWords.has(word)) {
    throw new WireError('0A000', `${word.toUpperCase()} is not supported`, {
      ...(word === 'listen' ? {} : { hint: 'Prepare statements by the extended query protocol.' }),
    });
  }
  const read = readers.get(word);
  if (read === undefined) return { kind: 'query' };
  const statement = read(reader);
  if (statement.kind !== 'declare' && statement.kind !== 'explain') reader.end();
  return statement;
}

/** What places of errors are in. */
export interface SentQuery {
  readonly sql: string;
  /** Where it begins in what the client sent, in characters. */
  readonly offset: number;
}

/**
 * The query within a statement that was read, such as that of a cursor; the statement, where that has none.
 */
export function queryWithin(statement: StatementText, action: SessionStatement | undefined): SentQuery {
  const { text, offset } = statement;
  if (action === undefined || !('sql' in action)) return { sql: text, offset };
  const at = text.endsWith(action.sql) ? text.length - action.sql.length : text.indexOf(action.sql);
  return at < 0 ? { sql: text, offset } : { sql: action.sql, offset: offset + at };
}

/** By the first word, which has been read. */
const readers: ReadonlyMap<string, (reader: TokenReader) => SessionStatement> = new Map(
  Object.entries({
    begin: (reader: TokenReader): SessionStatement => {
      reader.accept('work', 'transaction');
      return { kind: 'begin', tag: 'BEGIN', settings: transactionModes(reader) };
    },
    start: (reader: TokenReader): SessionStatement => {
      reader.expect('transaction');
      return { kind: 'begin', tag: 'START TRANSACTION', settings: transactionModes(reader) };
    },
    commit: (reader: TokenReader): SessionStatement => readEnd(reader, 'commit'),
    end: (reader: TokenReader): SessionStatement => readEnd(reader, 'commit'),
    abort: (reader: TokenReader): SessionStatement => readEnd(reader, 'rollback'),
    rollback: (reader: TokenReader): SessionStatement => {
      if (reader.peek('prepared')) throw reader.unsupported('ROLLBACK PREPARED');
      const mark = reader.mark();
      reader.accept('work', 'transaction');
      if (reader.accept('to') !== undefined) {
        reader.accept('savepoint');
        return { kind: 'rollbackTo', name: reader.name() };
      }
      reader.back(mark);
      return readEnd(reader, 'rollback');
    },
    savepoint: (reader: TokenReader): SessionStatement => ({ kind: 'savepoint', name: reader.name() }),
    release: (reader: TokenReader): SessionStatement => {
      reader.accept('savepoint');
      return { kind: 'release', name: reader.name() };
    },
    set: readSet,
    show: (reader: TokenReader): SessionStatement => {
      if (reader.accept('all') !== undefined) return { kind: 'showAll' };
      return { kind: 'show', name: settingName(reader) };
    },
    reset: (reader: TokenReader): SessionStatement => {
      if (reader.accept('all') !== undefined) return { kind: 'resetAll' };
      return { kind: 'reset', name: settingName(reader) };
    },
    discard: (reader: TokenReader): SessionStatement => {
      const what = reader.expect('all', 'plans', 'sequences', 'temp', 'temporary');
      return what === 'all' ? { kind: 'discardAll' } : { kind: 'discard', what: what.toUpperCase() };
    },
    deallocate: (reader: TokenReader): SessionStatement => {
      reader.accept('prepare');
      return { kind: 'deallocate', name: reader.accept('all') === undefined ? reader.name() : undefined };
    },
    declare: readDeclare,
    fetch: (reader: TokenReader): SessionStatement => readFetch(reader, 'fetch'),
    move: (reader: TokenReader): SessionStatement => readFetch(reader, 'move'),
    close: (reader: TokenReader): SessionStatement => ({
      kind: 'close',
      name: reader.accept('all') === undefined ? reader.name() : undefined,
    }),
    copy: readCopy,
    explain: readExplain,
    unlisten: (reader: TokenReader): SessionStatement => {
      if (!reader.acceptSymbol('*')) reader.name();
      return { kind: 'unlisten' };
    },
  }),
);

function readEnd(reader: TokenReader, kind: 'commit' | 'rollback'): SessionStatement {
  if (reader.peek('prepared')) throw reader.unsupported(`${kind.toUpperCase()} PREPARED`);
  reader.accept('work', 'transaction');
  let chain = false;
  if (reader.accept('and') !== undefined) {
    chain = reader.accept('no') === undefined;
    reader.expect('chain');
  }
  return { kind, chain };
}

function transactionModes(reader: TokenReader): Array<readonly [string, string]> {
  const settings: Array<readonly [string, string]> = [];
  while (!reader.isAtEnd) {
    if (reader.accept('isolation') !== undefined) {
      reader.expect('level');
      const first = reader.expect('serializable', 'repeatable', 'read');
      const level =
        first === 'serializable'
          ? first
          : `${first} ${first === 'repeatable' ? reader.expect('read') : reader.expect('committed', 'uncommitted')}`;
      settings.push(['transaction_isolation', level]);
    } else if (reader.accept('read') !== undefined) {
      // What is written is refused all the same.
      settings.push(['transaction_read_only', reader.expect('only', 'write') === 'only' ? 'on' : 'off']);
    } else {
      reader.accept('not');
      reader.expect('deferrable');
    }
    reader.acceptSymbol(',');
  }
  return settings;
}

function readSet(reader: TokenReader): SessionStatement {
  const scope = reader.accept('session', 'local');
  const isLocal = scope === 'local';
  if (reader.accept('transaction') !== undefined)
    return { kind: 'setTransaction', settings: transactionModes(reader) };
  if (reader.accept('characteristics') !== undefined) {
    reader.expect('as');
    reader.expect('transaction');
    const settings = transactionModes(reader).map(([name, value]) => [`default_${name}`, value] as const);
    return { kind: 'setTransaction', settings };
  }
  if (reader.accept('names') !== undefined)
    return { kind: 'set', name: 'client_encoding', value: reader.value(), isLocal };
  if (reader.accept('authorization') !== undefined || reader.peek('role')) {
    reader.accept('role');
    const who = reader.value();
    if (who === undefined || who.toLowerCase() === 'none')
      return { kind: 'set', name: 'role', value: 'none', isLocal };
    throw new WireError('42501', 'permission denied to set another role');
  }
  if (reader.accept('time') !== undefined) {
    reader.expect('zone');
    const value = reader.accept('interval') === undefined ? reader.value() : zoneInterval(reader);
    return { kind: 'set', name: 'TimeZone', value, isLocal };
  }
  const name = reader.dottedName();
  if (!reader.acceptSymbol('=')) reader.expect('to');
  const values = [reader.value()];
  while (reader.acceptSymbol(',')) values.push(reader.value());
  const value = values.length === 1 ? values[0] : values.join(', ');
  return { kind: 'set', name, value, isLocal };
}

/** `INTERVAL '+02:30' HOUR TO MINUTE`, as PostgreSQL hands it on. @throws WireError */
function zoneInterval(reader: TokenReader): string {
  const written = reader.value() ?? '';
  while (reader.accept('hour', 'to', 'minute', 'second') !== undefined);
  const parts = parseInterval(written.replace(/^\s*\+/, ''));
  if (parts === undefined)
    throw new WireError('22007', `invalid input syntax for type interval: "${written}"`);
  if (parts.months !== 0 || parts.days !== 0)
    throw new WireError('22023', `invalid value for parameter "TimeZone": "INTERVAL '${written}'"`);
  const seconds = Math.trunc(parts.micros / microsPerSecond);
  const size = Math.abs(seconds);
  const clock = [size / 3600, (size / 60) % 60, size % 60].map((each) =>
    String(Math.floor(each)).padStart(2, '0'),
  );
  return `INTERVAL '${seconds < 0 ? '-' : ''}${clock.join(':')}'`;
}

function settingName(reader: TokenReader): string {
  if (reader.accept('time') !== undefined) {
    reader.expect('zone');
    return 'TimeZone';
  }
  if (reader.accept('transaction') !== undefined) {
    reader.expect('isolation');
    reader.expect('level');
    return 'transaction_isolation';
  }
  if (reader.peek('session')) {
    const mark = reader.mark();
    reader.accept('session');
    if (reader.accept('authorization') !== undefined) return 'session_authorization';
    reader.back(mark);
  }
  return reader.dottedName();
}

function readDeclare(reader: TokenReader): SessionStatement {
  const name = reader.name();
  let binary = false;
  let hold = false;
  while (reader.accept('cursor') === undefined) {
    const option = reader.expect('binary', 'insensitive', 'asensitive', 'no', 'scroll');
    if (option === 'binary') binary = true;
    if (option === 'no') reader.expect('scroll');
    else if (option === 'scroll') throw reader.unsupported('a cursor with SCROLL');
  }
  const holdWord = reader.accept('with', 'without');
  if (holdWord !== undefined) {
    reader.expect('hold');
    hold = holdWord === 'with';
  }
  reader.expect('for');
  return { kind: 'declare', name, hold, binary, sql: reader.rest() };
}

function readFetch(reader: TokenReader, kind: 'fetch' | 'move'): SessionStatement {
  let rows: number | 'all' = 1;
  const direction = reader.accept(
    'next',
    'forward',
    'all',
    'prior',
    'first',
    'last',
    'absolute',
    'relative',
    'backward',
  );
  if (direction !== undefined && !['next', 'forward', 'all'].includes(direction)) {
    throw new WireError('55000', 'cursor can only scan forward', {
      hint: `FETCH ${direction.toUpperCase()} needs a cursor that goes back, which there is not.`,
    });
  }
  if (direction === 'all') rows = 'all';
  else if (direction !== 'next') {
    const count = reader.integer();
    if (count !== undefined) rows = count;
    else if (direction === 'forward' && reader.accept('all') !== undefined) rows = 'all';
  }
  reader.accept('from', 'in');
  if (rows !== 'all' && rows < 0) throw new WireError('55000', 'cursor can only scan forward');
  return { kind, cursor: reader.name(), rows };
}

function readCopy(reader: TokenReader): SessionStatement {
  const sql = reader.acceptSymbol('(') ? reader.parenthesized() : readCopiedTable(reader);
  const direction = reader.expect('to', 'from');
  if (direction === 'from') {
    throw new WireError('25006', 'cannot execute COPY FROM in a read-only transaction', {
      hint: 'Data comes in over HTTP.',
    });
  }
  // PostgreSQL takes either word for the client's side, and PHP sends the other one.
  if (reader.accept('stdout', 'stdin') === undefined)
    throw new WireError('42501', 'COPY writes to STDOUT only', {
      hint: 'psql has \\copy for files of the client.',
    });
  return { kind: 'copy', sql, options: readCopyOptions(reader) };
}

/** `name`, `schema.name`, `name (columns)`, as they are written. */
function readCopiedTable(reader: TokenReader): string {
  const table = reader.source(() => {
    reader.name();
    while (reader.acceptSymbol('.')) reader.name();
  });
  const columns = reader.acceptSymbol('(') ? reader.parenthesized() : '*';
  return `SELECT ${columns} FROM ${table}`;
}

function readCopyOptions(reader: TokenReader): CopyOptions {
  const given: { -readonly [K in keyof CopyOptions]?: CopyOptions[K] } = {};
  reader.accept('with');
  const isList = reader.acceptSymbol('(');
  while (!reader.isAtEnd) {
    if (isList && reader.acceptSymbol(')')) break;
    readCopyOption(reader, given, isList);
    reader.acceptSymbol(',');
  }
  const { format = 'text', header = false, quote = '"' } = given;
  const isCsv = format === 'csv';
  const { delimiter = isCsv ? ',' : '\t', nullText = isCsv ? '' : '\\N' } = given;
  if (Buffer.byteLength(delimiter) !== 1 || /[\r\n\\a-z0-9.]/.test(delimiter))
    throw new WireError('22023', 'COPY delimiter must be a single one-byte character');
  if (Buffer.byteLength(quote) !== 1 || quote === delimiter)
    throw new WireError('22023', 'COPY quote must be a single one-byte character');
  if (header && format === 'binary') throw new WireError('0A000', 'COPY HEADER is not for the format binary');
  return { format, header, delimiter, nullText, quote };
}

/** @param isList of names and values; else of the words of before PostgreSQL 9 */
function readCopyOption(
  reader: TokenReader,
  given: { -readonly [K in keyof CopyOptions]?: CopyOptions[K] },
  isList: boolean,
): void {
  const option = reader.expect(...copyOptions);
  switch (option) {
    case 'csv':
    case 'binary':
      given.format = option;
      return;
    case 'format':
      given.format = copyFormat(reader.value());
      return;
    case 'header':
      given.header = isList ? reader.optionalBoolean() : true;
      return;
    default: {
      reader.accept('as');
      const value = reader.value() ?? '';
      if (option === 'null') given.nullText = value;
      else if (option === 'quote') given.quote = value;
      else if (option !== 'encoding') given.delimiter = value;
    }
  }
}

const copyOptions = [
  'format',
  'csv',
  'binary',
  'header',
  'delimiter',
  'delimiters',
  'null',
  'quote',
  'encoding',
] as const;

function copyFormat(name: string | undefined): CopyOptions['format'] {
  const format = (['text', 'csv', 'binary'] as const).find((each) => each === name?.toLowerCase());
  if (format !== undefined) return format;
  throw new WireError('22023', `COPY format "${name}" not recognized`);
}

function readExplain(reader: TokenReader): SessionStatement {
  if (reader.acceptSymbol('(')) {
    const options = reader.parenthesized().toLowerCase();
    if (/\banalyze\b/.test(options)) throw reader.unsupported('EXPLAIN ANALYZE');
  } else {
    if (reader.accept('analyze', 'analyse') !== undefined) throw reader.unsupported('EXPLAIN ANALYZE');
    reader.accept('verbose');
  }
  return { kind: 'explain', sql: reader.rest() };
}

/** Reads the first tokens of a statement. */
class TokenReader {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text;
    this.#tokens = tokens;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  mark(): number {
    return this.#at;
  }

  back(mark: number): void {
    this.#at = mark;
  }

  /** Any keyword. */
  word(): string | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'word') return undefined;
    this.#at += 1;
    return token.text;
  }

  peek(word: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.kind === 'word' && token.text === word;
  }

  /** One of these words, if it is next. */
  accept<Word extends string>(...words: readonly Word[]): Word | undefined {
    const token = this.#tokens[this.#at];
    const word = token?.kind === 'word' ? words.find((each) => each === token.text) : undefined;
    if (word !== undefined) this.#at += 1;
    return word;
  }

  /** @throws WireError */
  expect<Word extends string>(...words: readonly Word[]): Word {
    const word = this.accept(...words);
    if (word === undefined) throw this.#syntaxError();
    return word;
  }

  acceptSymbol(symbol: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'symbol' || token.text !== symbol) return false;
    this.#at += 1;
    return true;
  }

  /** @throws WireError */
  name(): string {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'word' && token?.kind !== 'name') throw this.#syntaxError();
    this.#at += 1;
    return token.text;
  }

  dottedName(): string {
    let name = this.name();
    while (this.acceptSymbol('.')) name += `.${this.name()}`;
    return name;
  }

  /** A value of a setting: a word, a string or a number with its sign; undefined for DEFAULT. */
  value(): string | undefined {
    if (this.accept('default') !== undefined) return undefined;
    const isNegative = this.acceptSymbol('-');
    if (!isNegative) this.acceptSymbol('+');
    const token = this.#tokens[this.#at];
    if (token === undefined || token.kind === 'symbol') throw this.#syntaxError();
    this.#at += 1;
    return isNegative ? `-${token.text}` : token.text;
  }

  integer(): number | undefined {
    const mark = this.#at;
    const isNegative = this.acceptSymbol('-');
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'number' || !/^\d{1,15}$/.test(token.text)) {
      this.#at = mark;
      return undefined;
    }
    this.#at += 1;
    return isNegative ? -Number(token.text) : Number(token.text);
  }

  optionalBoolean(): boolean {
    const token = this.#tokens[this.#at];
    if (token === undefined || token.kind === 'symbol') return true;
    this.#at += 1;
    return ['true', 'on', '1'].includes(token.text.toLowerCase());
  }

  /** What is between the parenthesis that was just read and its partner. */
  parenthesized(): string {
    const start = this.#tokens[this.#at - 1]?.end ?? 0;
    let depth = 1;
    for (; this.#at < this.#tokens.length; this.#at++) {
      const token = this.#tokens[this.#at];
      if (token?.kind !== 'symbol') continue;
      if (token.text === '(') depth += 1;
      if (token.text === ')') depth -= 1;
      if (depth === 0) {
        this.#at += 1;
        return this.#text.slice(start, token.start);
      }
    }
    throw this.#syntaxError();
  }

  /** The text that `read` goes over. */
  source(read: () => void): string {
    const start = this.#tokens[this.#at]?.start ?? this.#text.length;
    read();
    return this.#text.slice(start, this.#tokens[this.#at - 1]?.end);
  }

  /** The rest of the statement. @throws WireError */
  rest(): string {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw this.#syntaxError();
    return this.#text.slice(token.start);
  }

  /** @throws WireError */
  end(): void {
    if (!this.isAtEnd) throw this.#syntaxError();
  }

  unsupported(what: string): WireError {
    return new WireError('0A000', `${what} is not supported`);
  }

  #syntaxError(): WireError {
    const token = this.#tokens[this.#at];
    if (token === undefined) return new WireError('42601', 'syntax error at end of input');
    const near = this.#text.slice(token.start, Math.min(token.end, token.start + 100));
    return new WireError('42601', `syntax error at or near "${near}"`, {
      position: characters(this.#text, token.start) + 1,
    });
  }
}
