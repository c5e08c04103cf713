import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DatasetFields, describeFields, levelOf } from '../../../src/console/query/dataset-fields.ts';
import { histogramSql, rowsSql, topValuesSql } from '../../../src/console/query/explore-sql.ts';
import {
  maxSearchLength,
  parseSearch,
  SearchError,
  searchWord,
  withCondition,
} from '../../../src/console/query/search-language.ts';
import { searchCondition } from '../../../src/console/query/search-sql.ts';
import { identifier, literal } from '../../../src/console/query/sql-text.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';

const described = describeFields('app', [
  { name: 'p_timestamp', type: 'timestamp with time zone' },
  { name: 'level', type: 'text' },
  { name: 'message', type: 'text' },
  { name: 'status', type: 'double precision' },
  { name: 'ok', type: 'boolean' },
  { name: 'http.path', type: 'text' },
  { name: `we"ird'`, type: 'text' },
  { name: 'tags', type: 'text[]' },
]);
if (described === undefined) throw new Error('it has a column of times');
const dataset: DatasetFields = described;
const sql = (text: string, all = false) => searchCondition(text, dataset, all);

describe('a search', () => {
  it.each([
    ['', ''],
    ['timeout', `"message" ILIKE '%timeout%'`],
    ['"connection reset"', `"message" ILIKE '%connection reset%'`],
    ['a b', `("message" ILIKE '%a%' AND "message" ILIKE '%b%')`],
    ['a AND b', `("message" ILIKE '%a%' AND "message" ILIKE '%b%')`],
    ['a OR b c', `("message" ILIKE '%a%' OR ("message" ILIKE '%b%' AND "message" ILIKE '%c%'))`],
    ['(a OR b) c', `(("message" ILIKE '%a%' OR "message" ILIKE '%b%') AND "message" ILIKE '%c%')`],
    ['level:error', `"level" = 'error'`],
    ['level=error', `"level" = 'error'`],
    ['level!=error', `"level" <> 'error'`],
    ['-level:error', `("level" = 'error') IS NOT TRUE`],
    ['NOT a', `("message" ILIKE '%a%') IS NOT TRUE`],
    ['level:*', `"level" IS NOT NULL`],
    ['level:"*"', `"level" = '*'`],
    ['http.path:/api/*', `"http.path" ILIKE '/api/%'`],
    ['http.path:"/api/*"', `"http.path" = '/api/*'`],
    ['status>=500', `"status" >= 500`],
    ['status:-1.5e3', `"status" = (-1.5e3)`],
    ['status<500 status>400', `("status" < 500 AND "status" > 400)`],
    ['ok:true', `"ok" = TRUE`],
    ['p_timestamp>2026-01-31', `"p_timestamp" > '2026-01-31'`],
    ['tags:x', `CAST("tags" AS text) = 'x'`],
    ['100%_\\', `"message" ILIKE '%100\\%\\_\\\\%'`],
    [`"we\\"ird'":x`, `"we""ird'" = 'x'`],
    ['trace-id', `"message" ILIKE '%trace-id%'`],
    ['"OR"', `"message" ILIKE '%OR%'`],
  ])('%s is %s', (text, expected) => expect(sql(text)).toBe(expected));

  it('looks in all text if it is asked to', () => {
    expect(sql('x', true)).toBe(
      `("level" ILIKE '%x%' OR "message" ILIKE '%x%' OR "http.path" ILIKE '%x%' OR "we""ird'" ILIKE '%x%')`,
    );
  });

  it.each([
    ['(a', 'not closed'],
    ['a)', 'no opening one'],
    ['"a', 'not closed'],
    ['a OR', 'must follow'],
    ['AND a', 'must be here'],
    ['-', 'must follow'],
    ['level:', 'must follow level:'],
    [':x', 'must stand before'],
    ['nope:x', 'there is no field'],
    ['Message:x', 'is it message?'],
    ['status:abc', 'holds numbers'],
    ['status:1;drop', 'holds numbers'],
    ['ok:1', 'true or false'],
    ['p_timestamp>soon', 'holds times'],
    ['x'.repeat(maxSearchLength + 1), 'longer than'],
    [`${'('.repeat(200)}a${')'.repeat(200)}`, 'nested too deeply'],
    [`${'-'.repeat(200)}a`, 'nested too deeply'],
  ])('%s is refused: %s', (text, reason) => {
    expect(() => sql(text)).toThrow(SearchError);
    expect(() => sql(text)).toThrow(reason);
  });
});

/** What people try, and what telemetry holds by accident. */
const injections = [
  `'`,
  `''`,
  `' OR '1'='1`,
  `'; DROP TABLE app; --`,
  `\\'`,
  `\\' OR 1=1 --`,
  `'/*`,
  `*/ UNION SELECT secret FROM other --`,
  `") OR ("1"="1`,
  `"; DELETE FROM app; --`,
  `$$`,
  `$tag$ x $tag$`,
  `E'\\x27'`,
  `U&"\\0022"`,
  `%' OR message ILIKE '%`,
  `x\0' OR TRUE --`,
  `x\n' OR TRUE --`,
  `x\r\n--`,
  `\u2019 OR \u02bc`,
  `\ud800`,
  `1; SELECT pg_sleep(10)`,
  `1 OR 1=1`,
  `1e999`,
  `0x27`,
];

/** Whether the SQL is one SELECT whose condition is of this shape and no other. */
async function nodesOf(condition: string): Promise<readonly string[]> {
  const tree = await parseQuery(`SELECT 1 FROM app WHERE ${condition}`);
  return JSON.stringify(tree).match(/"kind":"[a-z_]+"/g) ?? [];
}

describe('a text from outside', () => {
  it.each(injections)('stays one literal and one identifier: %j', (text) => {
    expect(literal(text)).toMatch(/^'(?:[^'\0]|'')*'$/);
    expect(identifier(text)).toMatch(/^"(?:[^"\0]|"")*"$/);
  });

  it.each(injections)('is one value of a search: %j', async (text) => {
    const value = JSON.stringify(text).startsWith('"') ? `level:${quoted(text)}` : '';
    expect(sql(value)).toBe(`"level" = ${literal(text)}`);
    expect(await nodesOf(sql(value))).toEqual(await nodesOf(sql('level:"harmless"')));
    expect(await nodesOf(sql(quoted(text)))).toEqual(await nodesOf(sql('"harmless"')));
  });

  it.each(injections)('is the name of a field or of a dataset: %j', async (text) => {
    const hostile = describeFields(text, [
      { name: 'timestamp', type: 'timestamp with time zone' },
      { name: text, type: 'text' },
    ]);
    if (hostile === undefined) throw new Error('it has a column of times');
    const condition = searchCondition(`${quoted(text)}:x`, hostile);
    expect(condition).toBe(`${identifier(text)} = 'x'`);
    const question = { dataset: hostile, bounds: { fromMs: 0, toMs: 1 }, condition };
    for (const each of [rowsSql(question, 1), histogramSql(question, 1000), topValuesSql(question, text)])
      expect(each).toContain(`FROM ${identifier(text)}`);
  });

  it('is a search of any characters: the SQL is refused or is one condition of literals', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60, unit: 'binary' }), (text) => {
        let condition: string;
        try {
          condition = sql(text);
        } catch (error) {
          expect(error).toBeInstanceOf(SearchError);
          return;
        }
        // Without literals and identifiers, nothing of the text is left.
        const bare = condition.replace(/'(?:[^']|'')*'/g, '').replace(/"(?:[^"]|"")*"/g, '');
        expect(bare).toMatch(/^(?:[()\s=<>+\-.\deE]|ILIKE|AND|OR|NOT|IS|NULL|TRUE|FALSE|CAST|AS|text)*$/);
      }),
    );
  });

  it('is found again by the filter that is made of it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        const search = parseSearch(withCondition('', 'level', text, false));
        expect(search).toMatchObject({ kind: 'field', field: 'level', value: text });
      }),
    );
  });
});

const quoted = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

it('conditions are added once, and beside an OR', () => {
  expect(withCondition('', 'level', 'error', false)).toBe('level:error');
  expect(withCondition('level:error', 'level', 'error', false)).toBe('level:error');
  expect(withCondition('a', 'level', 'error', true)).toBe('a -level:error');
  expect(withCondition('a OR b', 'level', 'error', false)).toBe('(a OR b) level:error');
  expect(withCondition('', 'level', null, true)).toBe('-level:*');
  expect(withCondition('', 'level', null, false)).toBe('level:*');
  expect(searchWord('a b')).toBe('"a b"');
});

it('levels are known as agents write them', () => {
  expect(['ERROR', 'err', 'Warning', 'INFO2', 'critical', 'x', null].map(levelOf)).toEqual([
    'error',
    'error',
    'warn',
    'info',
    'fatal',
    'none',
    'none',
  ]);
});
