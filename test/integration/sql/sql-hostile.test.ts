import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { AppError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits/limits.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import { catalogOf, fixtures } from '../../sql/fixtures.ts';
import { asker, queryService } from '../../sql/querier.ts';

const metrics: DatasetInfo = {
  tenant: defaultTenant,
  name: 'm',
  id: 'm',
  kind: 'metrics',
  columns: new Map(),
  ready: true,
};
const secret: DatasetInfo = {
  tenant: 'acme',
  name: 'secret',
  id: 'secret',
  kind: 'events',
  columns: new Map(),
  ready: true,
};

/** What reached the store. Nothing may. */
const sent: string[] = [];
const ask = asker(
  queryService(
    {
      stream: (sql) => {
        sent.push(sql);
        return {
          progress: undefined,
          async *[Symbol.asyncIterator]() {
            yield { parts: [Buffer.from('[]')], isLast: true };
          },
        };
      },
    },
    catalogOf(fixtures, [metrics, secret]),
  ),
);

async function refusal(sql: string): Promise<AppError> {
  sent.length = 0;
  const error = await ask(sql).then(
    () => new Error(`it was run: ${sent.join()}`),
    (thrown: unknown) => thrown,
  );
  expect(sent).toEqual([]);
  if (error instanceof AppError) return error;
  throw error;
}

const attacks = readFileSync(new URL('../../sql/hostile.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

describe('refused, with nothing sent to the store', () => {
  test.each(attacks)('%s', async (attack) => {
    const error = await refusal(attack);
    expect(error.code).toMatch(/^sql_/);
    expect(error.definition.status).toBe(400);
    expect(error.message).not.toBe('');
  });

  test('the same service runs a query that is allowed', async () => {
    sent.length = 0;
    await ask('select level from app');
    expect(sent).toHaveLength(1);
  });

  test.each([
    ['NUL', 'select 1\0; select 2'],
    ['a text beyond the bound', `select '${'x'.repeat(limits.maxQueryTextBytes)}'`],
    ['an empty text', ''],
    ['nothing but comments', '-- x\n/* y */'],
    ['deep parentheses', `select ${'(select '.repeat(300)}1${')'.repeat(300)}`],
    ['deep operators', `select ${'1+'.repeat(1000)}1`],
    ['deep negation', `select ${'not '.repeat(1000)}true`],
    ['deep CASE', `select ${'case when true then '.repeat(300)}1${' end'.repeat(300)}`],
    ['deep unions', `select 1${' union select 1'.repeat(1000)}`],
    [
      'deep joins',
      `select 1 from app a0${Array.from({ length: 300 }, (_, i) => ` join app b${i} on true`).join('')}`,
    ],
    ['text that doubles at each level', doubling(20)],
    [
      'a result of too many columns',
      `select ${Array.from({ length: 9000 }, () => 'message').join(', ')} from app`,
    ],
  ])('%s', async (_, attack) => {
    const error = await refusal(attack);
    expect(['sql_syntax', 'sql_unsupported', 'sql_too_large']).toContain(error.code);
  });

  /** BETWEEN names its operand twice. */
  function doubling(levels: number): string {
    let expression = 'ms';
    for (let level = 0; level < levels; level += 1) expression = `((${expression}) between 0 and 1)::int`;
    return `select ${expression} from app`;
  }
});
