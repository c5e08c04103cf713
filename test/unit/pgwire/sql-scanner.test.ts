import { describe, expect, test } from 'vitest';
import { readSessionStatement } from '../../../src/pgwire/session-statement.ts';
import { splitStatements } from '../../../src/pgwire/sql-scanner.ts';

const split = (text: string): string[] => splitStatements(text, 100).map((statement) => statement.text);

describe('where statements end', () => {
  test.each([
    ['', []],
    [' ; ;; -- nothing\n /* ; */ ;', []],
    ['select 1; select 2', ['select 1', 'select 2']],
    ["select ';' , ';'';'; x", ["select ';' , ';'';'", 'x']],
    ["select E'\\';' ; x", ["select E'\\';' ", 'x']],
    ["select '\\'; x", ["select '\\'", 'x']],
    ['select ";" ; x', ['select ";" ', 'x']],
    ['select $$;$$, $a$ ; $b$ ; $a$; x', ['select $$;$$, $a$ ; $b$ ; $a$', 'x']],
    ['select $1; x', ['select $1', 'x']],
    ['select a$1$; x', ['select a$1$', 'x']],
    ['select 1 -- ;\n; x', ['select 1 -- ;\n', 'x']],
    ['/* a; /* b; */ ; */ select 1; x', ['select 1', 'x']],
    ["select 'never ends; x", ["select 'never ends; x"]],
    ['select $$ never ends; x', ['select $$ never ends; x']],
  ])('%s', (text, statements) => {
    expect(split(text)).toEqual(statements);
  });

  test('no more than one beyond the bound', () => {
    expect(splitStatements('a;'.repeat(1000), 100)).toHaveLength(101);
  });
});

test.each([
  ["E'\\t'", '\t'],
  ["E'a\\nb\\r\\f\\b'", 'a\nb\r\f\b'],
  ["e'\\101\\x41\\x9'", 'AA\t'],
  ["E'\\u00fc\\U0001F600'", 'ü😀'],
  ["E'\\'\\\\\\q'", "'\\q"],
  ["'\\t'", '\\t'],
])('escapes in %s', (text, meant) => {
  expect(splitStatements(text, 1)[0]?.tokens[0]).toMatchObject({ kind: 'string', text: meant });
});

const read = (text: string) => {
  const [statement] = splitStatements(text, 1);
  if (statement === undefined) throw new Error('no statement');
  return readSessionStatement(statement);
};

describe('what a statement asks of the session', () => {
  test.each([
    ['SELECT 1', { kind: 'query' }],
    ['(SELECT 1)', { kind: 'query' }],
    ['nonsense', { kind: 'query' }],
    [
      'begin isolation level repeatable read, read only',
      {
        kind: 'begin',
        tag: 'BEGIN',
        settings: [
          ['transaction_isolation', 'repeatable read'],
          ['transaction_read_only', 'on'],
        ],
      },
    ],
    ['START TRANSACTION', { kind: 'begin', tag: 'START TRANSACTION', settings: [] }],
    ['END WORK AND NO CHAIN', { kind: 'commit', chain: false }],
    ['ABORT', { kind: 'rollback', chain: false }],
    ['ROLLBACK TO SAVEPOINT "A b"', { kind: 'rollbackTo', name: 'A b' }],
    ["SET a.b TO 'x'", { kind: 'set', name: 'a.b', value: 'x', isLocal: false }],
    [
      'set local statement_timeout = -1',
      { kind: 'set', name: 'statement_timeout', value: '-1', isLocal: true },
    ],
    [
      'SET search_path = a, "B", DEFAULT',
      { kind: 'set', name: 'search_path', value: 'a, B, ', isLocal: false },
    ],
    ['SET TIME ZONE LOCAL', { kind: 'set', name: 'TimeZone', value: 'local', isLocal: false }],
    ['SET datestyle = DEFAULT', { kind: 'set', name: 'datestyle', value: undefined, isLocal: false }],
    ['show transaction isolation level', { kind: 'show', name: 'transaction_isolation' }],
    ['FETCH FORWARD ALL IN c', { kind: 'fetch', cursor: 'c', rows: 'all' }],
    ['FETCH c', { kind: 'fetch', cursor: 'c', rows: 1 }],
    ['fetch forward 7 from "C"', { kind: 'fetch', cursor: 'C', rows: 7 }],
    [
      'DECLARE c NO SCROLL CURSOR WITH HOLD FOR select 1',
      { kind: 'declare', name: 'c', hold: true, binary: false, sql: 'select 1' },
    ],
    ['EXPLAIN (VERBOSE, COSTS off) select 1', { kind: 'explain', sql: 'select 1' }],
  ])('%s', (text, statement) => {
    expect(read(text)).toEqual(statement);
  });

  test('COPY', () => {
    expect(
      read("copy (select ')' from (values (1)) v) to stdout with (format csv, header, delimiter ';')"),
    ).toEqual({
      kind: 'copy',
      sql: "select ')' from (values (1)) v",
      options: { format: 'csv', header: true, delimiter: ';', nullText: '', quote: '"' },
    });
    expect(read('copy public.app (a, "B") to stdout')).toMatchObject({
      sql: 'SELECT a, "B" FROM public.app',
    });
    // PHP says STDIN, and writes what it is given as escapes.
    expect(read(String.raw`copy t to stdin with delimiter E'\x09' null as E'\\N'`)).toMatchObject({
      options: { delimiter: '\t', nullText: String.raw`\N` },
    });
  });

  test.each([
    ['BEGIN nonsense', '42601'],
    ['FETCH BACKWARD 1 FROM c', '55000'],
    ['FETCH -1 FROM c', '55000'],
    ["COPY t TO '/tmp/x'", '42501'],
    ['COPY (select 1 TO STDOUT', '42601'],
    ['UPDATE t SET a = 1', '25006'],
    ['SET SESSION AUTHORIZATION alice', '42501'],
    ['PREPARE a AS SELECT 1', '0A000'],
    ['EXPLAIN ANALYZE SELECT 1', '0A000'],
  ])('%s: %s', (text, code) => {
    expect(() => read(text)).toThrowError(expect.objectContaining({ code }) as Error);
  });
});
