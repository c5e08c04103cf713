import { describe, expect, test } from 'vitest';
import { AppError } from '../../../../src/errors.ts';
import { limits } from '../../../../src/limits/limits.ts';
import { parseQuery } from '../../../../src/sql/syntax/parse.ts';

const refusal = async (text: string): Promise<AppError> => {
  const thrown = await parseQuery(text).then(
    (query) => new Error(`parsed: ${JSON.stringify(query)}`),
    (error: unknown) => error,
  );
  if (thrown instanceof AppError) return thrown;
  throw thrown;
};

describe('an error shows its place', () => {
  test('by line, column and a caret', async () => {
    const error = await refusal('select level\n  from app\n where and x');
    expect(error.code).toBe('sql_syntax');
    expect(error.details).toEqual({ line: 3, column: 8 });
    expect(error.message).toBe('syntax error at or near "and" (line 3, column 8)\n where and x\n       ^');
  });

  test('counting characters, not bytes or UTF-16 units', async () => {
    const error = await refusal("select 'é😀ü' 5");
    expect(error.details).toEqual({ line: 1, column: 14 });
    expect(error.message).toBe(
      'syntax error at or near "5" (line 1, column 14)\nselect \'é😀ü\' 5\n             ^',
    );
  });

  test('also for what is not supported, behind other characters than ASCII', async () => {
    const error = await refusal("select 'é😀ü',\n  '😀' collate \"de\"");
    expect(error.code).toBe('sql_unsupported');
    expect(error.details).toEqual({ line: 2, column: 7 });
    expect(error.message).toBe(
      'COLLATE de is not supported (line 2, column 7)\n  \'😀\' collate "de"\n      ^',
    );
  });

  test('of a long line only the part around it', async () => {
    const error = await refusal(`select ${'a, '.repeat(1000)} from from x`);
    const [, excerpt = '', caret = ''] = error.message.split('\n');
    expect(excerpt.length).toBeLessThanOrEqual(80);
    expect(excerpt.slice(caret.indexOf('^'))).toMatch(/^from/);
  });

  test('at the end of the text', async () => {
    const error = await refusal('select * from');
    expect(error.message).toBe(
      'syntax error at end of input (line 1, column 14)\nselect * from\n             ^',
    );
  });
});

describe('bounds', () => {
  test('the text, in bytes', async () => {
    const text = (length: number) => `select '${'é'.repeat(length)}'`;
    await parseQuery(text(limits.maxQueryTextBytes / 2 - 10));
    expect((await refusal(text(limits.maxQueryTextBytes / 2))).code).toBe('sql_too_large');
  });

  test('the depth', async () => {
    const nested = (levels: number) =>
      `select ${'('.repeat(levels)}${'abs('.repeat(levels)}1${'))'.repeat(levels)}`;
    await parseQuery(nested(limits.maxSqlDepth - 10));
    const error = await refusal(nested(limits.maxSqlDepth));
    expect(error.code).toBe('sql_too_large');
    expect(error.message).toContain(`deeper than ${limits.maxSqlDepth} levels`);
  });

  test('a long list is not deep', async () => {
    await parseQuery(`select 1 where ${'true and '.repeat(1000)} true or ${'false or '.repeat(1000)} false`);
  });
});

describe('what is not on the lists is refused by name', () => {
  test.each([
    ['select 1 from a for update', 'FOR UPDATE'],
    ['select a into b from c', 'SELECT INTO'],
    ['insert into a values (1)', 'INSERT (only SELECT is)'],
    ['create table a (b int)', 'CREATE (only SELECT is)'],
    ['select 1; select 2', 'More than one statement'],
    ['select a[1:2][1] from b', 'A slice of several dimensions'],
    ['select f(variadic a) from b', 'VARIADIC'],
    ['select (a, 1) @> (1, a) from b', '@> of rows'],
    ['with a as (delete from b returning 1) select 1', 'DELETE in WITH'],
  ])('%s', async (text, construct) => {
    const error = await refusal(text);
    expect(error.message).toContain(construct);
    expect(error.code).toBe('sql_unsupported');
  });
});

test.each(['', '  ', '-- nothing', '/* nothing */', ';'])('%j holds no query', async (text) => {
  expect((await refusal(text)).message).toContain('The query is empty');
});

test('NUL is refused where it stands', async () => {
  const error = await refusal("select 'ü\0'");
  expect(error.details).toEqual({ line: 1, column: 10 });
});
