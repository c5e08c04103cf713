import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { databaseOf, defaultTenant, physicalTable } from '../../../src/model/dataset.ts';
import { Translator } from '../../../src/query/translator.ts';
import { semanticSettings } from '../../../src/sql/print/semantic-settings.ts';
import { uniqueNames } from '../../../src/sql/resolve/output-name.ts';
import { difference } from '../../sql/compare.ts';
import { catalogOf, fixtures, loadEvents, postgresStatements } from '../../sql/fixtures.ts';
import type { Oracle, PostgresAnswer } from '../../sql/oracle.ts';
import { type Ask, administrator, asker, nowMicros, queryService } from '../../sql/querier.ts';
import { anyQuery } from '../../sql/queries.ts';
import { randomRuns } from '../../sql/random-runs.ts';
import { startOracle } from '../../sql/start-oracle.ts';
import { anyTiedQuery } from '../../sql/tied-queries.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { InlineTranslations } from '../../support/sql/inline-translations.ts';

let oracle: Oracle;
let store: TestStore;
let ask: Ask;

beforeAll(async () => {
  oracle = await startOracle();
  store = await openTestStore();
  for (const fixture of fixtures) {
    await oracle.execute(postgresStatements(fixture));
    await loadEvents(store.store, fixture);
  }
  ask = asker(queryService(store.store, catalogOf(fixtures)));
});
afterAll(async () => {
  await store?.close();
  await oracle?.stop();
});

test.each([
  ['', anyQuery],
  [' over ties and NULLs', anyTiedQuery],
])('random queries%s give what PostgreSQL gives', async (_, anyOfKind) => {
  const batch = fc.array(anyOfKind, { minLength: 20, maxLength: 20 });
  const property = fc.asyncProperty(batch, async (queries) => {
    for (const [index, expected] of (await oracle.answers(queries)).entries()) {
      expect(await compared(queries[index] ?? '', expected), queries[index]).toBeUndefined();
    }
  });
  await fc.assert(property, randomRuns(10));
});

async function compared(query: string, expected: PostgresAnswer): Promise<string | undefined> {
  if ('sqlState' in expected) throw new Error(`${oracle.name} refused this query: ${expected.sqlState}`);
  try {
    return difference(await ask(query), { ...expected, names: uniqueNames(expected.names) }, false);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'sql_unsupported') return undefined;
    throw thrown;
  }
}

test('the store reads no other tables than those of the datasets that a translation names', async () => {
  const translator = new Translator({
    catalog: catalogOf(fixtures),
    translations: new InlineTranslations(),
    readableRows: () => 'all',
    storedSizes: () => Promise.resolve(undefined),
    waitForPending: () => Promise.resolve(false),
  });
  const times = { startMicros: undefined, endMicros: undefined, nowMicros };
  const translated = async (sql: string) => {
    try {
      return await translator.translate({ principal: administrator, tenant: defaultTenant, sql, times });
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'sql_unsupported') return undefined;
      throw thrown;
    }
  };
  const property = fc.asyncProperty(fc.oneof(anyQuery, anyTiedQuery), async (query) => {
    const translation = await translated(query);
    if (translation === undefined) return;
    const { datasets, sql } = translation;
    const tree = await store.rows<{ explain: string }>(`EXPLAIN QUERY TREE ${sql}`, {
      settings: semanticSettings,
    });
    const lines = tree.map(({ explain }) => explain);
    const read = lines.flatMap((line) => /\bTABLE id: \d+.*\btable_name: (\S+)/.exec(line)?.[1] ?? []);
    const allowed = datasets.map((name) => `${databaseOf(defaultTenant)}.${physicalTable(name, 'events')}`);
    // A SELECT without FROM reads one row of the engine's own.
    expect([...new Set(read)].filter((table) => table !== 'system.one').sort()).toEqual([...allowed].sort());
    // `numbers` counts a series, and reads nothing.
    const functions = lines.filter((line) => line.includes('TABLE_FUNCTION'));
    expect(functions.filter((line) => !line.endsWith('table_function_name: numbers'))).toEqual([]);
  });
  await fc.assert(property, randomRuns(40));
});
