/** Every form of every type of result is read with pandas, polars and DuckDB. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlTypes } from '../../src/sql/postgres-types.ts';
import type { Oracle } from '../sql/oracle.ts';
import { startOracle } from '../sql/start-oracle.ts';
import { removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { packageRoot } from '../support/lib/package-root.ts';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { authorization, Service } from '../support/service/service.ts';
import { type TypedResult, typedResults } from '../support/sql/result-types.ts';

// DuckDB needs pytz for times with a zone.
const modules = ['pandas', 'polars', 'pyarrow', 'duckdb', 'pytz'];
const { status } = spawnSync('python3', ['-c', `import ${modules.join(', ')}`], { stdio: 'ignore' });
const problem = status === 0 ? undefined : `Python does not have all of ${modules.join(', ')}`;
sayIfSkipped('results read with Python', problem);

/** What the script prints. The event loop goes on meanwhile: kept connections end there. */
async function output(input: string): Promise<string> {
  const python = spawn('python3', ['-W', 'ignore', `${packageRoot()}/test/support/data-frames.py`]);
  let printed = '';
  for (const stream of [python.stdout, python.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  python.stdin.end(input);
  await once(python, 'close');
  return printed;
}

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const logs = {
  resourceLogs: [
    {
      scopeLogs: [
        {
          logRecords: [
            {
              body: { stringValue: '1' },
              attributes: [attribute('a b', '1'), attribute('quote', '"ü')],
            },
            { body: { stringValue: '2' } },
          ],
        },
      ],
    },
  ],
};

const count = String(2n ** 53n + 1n);
const metrics = {
  resourceMetrics: [
    {
      scopeMetrics: [
        {
          metrics: [
            {
              name: 'h',
              exponentialHistogram: {
                aggregationTemporality: 2,
                dataPoints: [
                  { timeUnixNano: `${Date.now()}000000`, count, zeroCount: count, scale: 0, sum: 1 },
                ],
              },
            },
          ],
        },
      ],
    },
  ],
};

test('there are results of every type', () => {
  expect(Object.keys(typedResults)).toEqual(expect.arrayContaining(sqlTypes.map(({ name }) => name)));
});

describe.skipIf(problem !== undefined)('read with Python', () => {
  let service: Service;
  let oracle: Oracle;
  let folder: string;
  beforeAll(async () => {
    oracle = await startOracle();
    service = await Service.start();
    folder = temporaryFolder('frames');
    await service.ingest('typed', [{ i: 1, v: 1.5 }, { i: 2, v: 'text' }, { i: 3, v: true }, { i: 4 }]);
    await service.otlp(
      'logs',
      { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(logs)) },
      'typed-logs',
    );
    await service.otlp(
      'metrics',
      { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(metrics)) },
      'typed-metrics',
    );
  });
  afterAll(async () => {
    await service?.dispose();
    await oracle?.stop();
    if (folder !== undefined) removeFolder(folder);
  });

  test('counts of histograms keep all digits', async () => {
    const reply = await fetch(`${service.url}/api/v1/query`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'select count, zero_count from "typed-metrics".histograms' }),
    });
    expect(await reply.text()).toContain('{"count":9007199254740993,"zero_count":9007199254740993}');
  });

  const cellsOf = async ({ name, sql, expected }: TypedResult) => {
    if (expected !== undefined) return expected;
    const [answer] = await oracle.answers([sql]);
    if (answer === undefined || 'sqlState' in answer) throw new Error(`PostgreSQL refuses ${name}`);
    return answer.rows.map(([cell = null]) => cell);
  };
  const typeOf = async (sql: string): Promise<string> => {
    const reply = await fetch(`${service.url}/api/v1/query/explain`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query: sql }),
    });
    const { fields } = (await reply.json()) as { fields: readonly { type: string }[] };
    return fields[0]?.type ?? '';
  };

  test.each(Object.entries(typedResults))('%s', async (_, cases) => {
    const results = await Promise.all(
      cases.map(async (each) => ({
        name: each.name,
        sql: each.sql,
        type: await typeOf(each.sql),
        cells: await cellsOf(each),
        isRounded: each.isRounded === true,
        hasOthers: each.hasOthers === true,
      })),
    );
    const input = JSON.stringify({ url: service.url, authorization, folder, results });
    expect((await output(input)).trim()).toBe('');
  });
});
