import { existsSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { limits } from '../../../src/limits.ts';
import { SqlParser } from '../../../src/query/parser.ts';

const worker = new URL('../../../dist/workers/parse.js', import.meta.url);

const open: SqlParser[] = [];
const tenant = 'default';
function createParser(url = worker): SqlParser {
  const parser = new SqlParser(url, createLogger('silent'));
  open.push(parser);
  return parser;
}

beforeAll(() => {
  if (!existsSync(worker)) throw new Error('dist/ is missing: npm run build');
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((parser) => parser.close()));
});

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'parsed',
    (thrown: unknown) => (thrown instanceof AppError ? thrown.code : thrown),
  );

describe('the parser thread', () => {
  test('parses', async () => {
    const { body } = await createParser().parse('select level from app', tenant);
    expect(body).toMatchObject({ kind: 'select', from: [{ kind: 'table', path: ['app'] }] });
  });

  test('answers queries that arrive together, each with its own answer', async () => {
    const parser = createParser();
    const queries = Array.from({ length: 50 }, (_, index) => `select ${index} as x${index}`);
    const answers = await Promise.all(queries.map((query) => parser.parse(query, tenant)));
    const aliases = answers.map(({ body }) => (body.kind === 'select' ? body.items[0]?.alias : undefined));
    expect(aliases).toEqual(queries.map((_, index) => `x${index}`));
  });

  test('an error in a query keeps its place, and the thread', async () => {
    const parser = createParser();
    const error = await parser.parse('select 1\nfrm x y', tenant).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'sql_syntax', details: { line: 2, column: 5 } });
    expect(await codeOf(parser.parse('select 1', tenant))).toBe('parsed');
  });

  test.each([
    ['a chain of operators', `select ${'1+'.repeat(100_000)}1`],
    ['parentheses', `select ${'('.repeat(100_000)}1${')'.repeat(100_000)}`],
    ['subqueries', `${'select ('.repeat(20_000)}select 1${')'.repeat(20_000)}`],
    ['many comments', `select 1${'/**/'.repeat(60_000)}`],
    ['open comments', `select 1${'/*'.repeat(100_000)}`],
    ['negations', `select ${'not '.repeat(60_000)}true`],
    ['joins', `select 1 from a${' join a on true'.repeat(15_000)}`],
    ['CASE', `select ${'case when true then '.repeat(10_000)}1${' end'.repeat(10_000)}`],
  ])('%s of 200 KB: a refusal, and later queries work', async (_, hostile) => {
    const parser = createParser();
    expect(['sql_too_large', 'sql_syntax']).toContain(await codeOf(parser.parse(hostile, tenant)));
    expect(await codeOf(parser.parse('select 1', tenant))).toBe('parsed');
  });

  test('as many comments as are allowed are parsed', async () => {
    const comments = '/**/'.repeat(limits.maxSqlComments);
    expect(await codeOf(createParser().parse(`select 1${comments}`, tenant))).toBe('parsed');
    expect(await codeOf(createParser().parse(`select 1${comments}/**/`, tenant))).toBe('sql_too_large');
  });

  test('a wide query of 200 KB is parsed', async () => {
    expect(await codeOf(createParser().parse(`select 1 in (${'1,'.repeat(100_000)}1)`, tenant))).toBe(
      'parsed',
    );
  });

  test('a text beyond the bound never gets there', async () => {
    const parser = createParser(new URL('file:///nowhere.js'));
    expect(await codeOf(parser.parse('x'.repeat(limits.maxQueryTextBytes + 1), tenant))).toBe(
      'sql_too_large',
    );
  });

  test('a thread that cannot start is an error for each query, not a hang', async () => {
    const parser = createParser(new URL('file:///nowhere.js'));
    await expect(parser.parse('select 1', tenant)).rejects.toThrow('cannot be started');
    await expect(parser.parse('select 1', tenant)).rejects.toThrow('cannot be started');
  });

  test('more queries than may wait are refused', async () => {
    const parser = createParser();
    const all = Array.from({ length: limits.maxQueuedQueries + 20 }, () =>
      codeOf(parser.parse('select 1', tenant)),
    );
    const codes = new Set(await Promise.all(all));
    expect(codes).toEqual(new Set(['parsed', 'overloaded']));
  });

  test('a tenant that sends more queries than may wait takes no room and no turn from another', async () => {
    const parser = createParser();
    const done: string[] = [];
    const ask = async (of: string, count: number) =>
      await Promise.all(
        Array.from({ length: count }, async () => {
          const code = await codeOf(parser.parse('select 1', of));
          if (code === 'parsed') done.push(of);
          return code;
        }),
      );
    const [, codes] = await Promise.all([ask('noisy', limits.maxQueuedQueries + 20), ask('quiet', 5)]);
    expect(codes).toEqual(Array(5).fill('parsed'));
    // The first one is at work when the others come; from then on they take turns.
    expect(done.lastIndexOf('quiet')).toBeLessThanOrEqual(2 * 5);
    expect(done.length).toBeGreaterThan(20);
  });

  test('after close, queries are refused', async () => {
    const parser = createParser();
    await parser.parse('select 1', tenant);
    await parser.close();
    expect(await codeOf(parser.parse('select 1', tenant))).toBe('shutting_down');
  });
});
