import { describe, expect, test } from 'vitest';
import type { ParameterValue } from '../../../src/sql/parameters.ts';
import { located } from '../../../src/sql/sql-error.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';
import { translate } from '../../../src/sql/translate-query.ts';
import { type SqlType, typeLabel } from '../../../src/sql/types.ts';
import { rejectedError } from '../../support/lib/caught.ts';
import { smallCatalog } from '../../support/sql/small-catalogs.ts';

async function translated(
  sql: string,
  types: readonly (SqlType | undefined)[] = [],
  values?: readonly ParameterValue[],
) {
  const range = { start: false, end: false };
  return translate(await parseQuery(sql), smallCatalog, range, undefined, { types, values });
}

describe('the type of a parameter', () => {
  test.each([
    ['select $1', ['text']],
    [
      'select level from app where ms > $1 and level = $2 and ok = $3',
      ['double precision', 'text', 'boolean'],
    ],
    ['select level from app where status = $1', ['text']],
    ['select level from app where status > $1::int', ['integer']],
    ['select value from m where labels[$1] = $2', ['text', 'text']],
    ['select level from app where p_timestamp > $1 limit $2', ['timestamp with time zone', 'bigint']],
    ['select $2::int, $1::date', ['date', 'integer']],
    ['select level from app where level = any($1)', ['text[]']],
    ['select $1 is null', ['text']],
  ])('%s', async (sql, types) => {
    const { parameters } = await translated(sql);
    expect(parameters.map(({ type }) => typeLabel(type))).toEqual(types);
  });

  test('may be given by the client', async () => {
    const { parameters, columns } = await translated('select $1, $2 + 1', [
      { name: 'bool' },
      { name: 'int8' },
    ]);
    expect(parameters.map(({ type }) => type.name)).toEqual(['bool', 'int8']);
    expect(columns.map(({ type }) => type.oid)).toEqual([16, 20]);
    expect((await rejectedError(translated('select $1 + 1', [{ name: 'text' }]))).code).toBe(
      'sql_unknown_function',
    );
  });

  test.each([
    [
      'select $1, $1 + 1',
      'sql_parameter_type',
      'inconsistent types deduced for parameter $1: integer and text',
    ],
    ['select $2::int', 'sql_parameter_type', 'could not determine data type of parameter $1'],
    ['select $1::int = $1 || $1', 'sql_unknown_function', 'operator does not exist'],
    ['select level from app where $1 + 1', 'sql_type', 'WHERE'],
    ['select $0', 'sql_syntax', 'there is no parameter $0'],
    ['select $1001', 'sql_too_large', 'beyond $1000'],
    ['select labels = $1 from m', 'sql_unknown_function', 'map'],
  ])('is not certain, or fits nothing: %s', async (sql, code, words) => {
    const error = await rejectedError(translated(sql));
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(words);
  });

  test('an error says where the parameter stands', async () => {
    const sql = "select level,\n  $1, '$1', ms + $1 -- $1\nfrom app";
    const error = located(await rejectedError(translated(sql)), sql);
    expect(error).toMatchObject({ code: 'sql_parameter_type', details: { line: 2, column: 3 } });
  });
});

test('a parameter is the same expression wherever it stands', async () => {
  const sql = 'select ms + $1, count(*) from app group by ms + $1 order by ms + $1';
  expect((await translated(sql)).parameters).toHaveLength(1);
  expect((await rejectedError(translated('select ms + $1 from app group by ms + $2'))).code).toBe(
    'sql_grouping',
  );
});

test('only what depends on values holds for them alone', async () => {
  const fixed = async (sql: string, values: readonly ParameterValue[]) =>
    (await translated(sql, [], values)).fixedParameters;
  expect(await fixed('select level from app where ms > $1 and level = $2', ['1', 'x'])).toEqual([]);
  expect(await fixed('select date_trunc($2, p_timestamp) from app where ms > $1', ['1', 'day'])).toEqual([2]);
  expect(
    await fixed('select $1::numeric, $2::interval, $3::int[], $4::jsonb, $5::int', [
      '1',
      '1 s',
      '{}',
      '{}',
      '1',
    ]),
  ).toEqual([1, 2, 3, 4]);
});
