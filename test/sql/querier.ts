import type { CatalogView } from '../../src/catalog/dataset-entry.ts';
import type { ResultChunk, ResultStore } from '../../src/clickhouse/store.ts';
import { createLogger } from '../../src/lib/log.ts';
import { limits } from '../../src/limits/limits.ts';
import { defaultTenant } from '../../src/model/dataset.ts';
import type { Principal } from '../../src/model/identity.ts';
import { defaultSettings } from '../../src/pgwire/session-settings.ts';
import { QueryService, type QueryServiceParts } from '../../src/query/query-service.ts';
import type { QueryRequest } from '../../src/query/request.ts';
import { InlineTranslations } from '../support/sql/inline-translations.ts';
import type { Rows } from './compare.ts';

export const administrator: Principal = {
  kind: 'root',
  name: 'admin',
  tenant: defaultTenant,
  privileges: [{ privilege: 'admin' }],
};

/** 2024-03-03 12:00:00 UTC. */
export const nowMicros = 1_709_467_200_000_000;

/** The query service on a real store; the translation in this thread. */
export function queryService(
  store: ResultStore,
  catalog: CatalogView,
  parts: Partial<QueryServiceParts> = {},
): QueryService {
  return new QueryService({
    store,
    catalog,
    translations: new InlineTranslations(),
    settings: defaultSettings(),
    clock: { nowMicros: () => nowMicros, monotonicMs: () => 0 },
    log: createLogger('silent'),
    bounds: {
      timeoutMs: 20_000,
      maxThreads: 2,
      maxMemoryBytes: limits.queryMaxMemoryBytes,
      maxResultRows: 100_000,
      maxResultBytes: limits.queryMaxResultBytes,
    },
    exportBounds: { maxPerTenant: limits.maxExports, timeoutMs: limits.exportTimeoutMs },
    readableRows: () => 'all',
    mayExport: () => true,
    storedSizes: () => Promise.resolve(undefined),
    waitForPending: () => Promise.resolve(false),
    waitForLatest: () => Promise.resolve(true),
    ...parts,
  });
}

export type Ask = (sql: string, options?: Partial<QueryRequest>) => Promise<Rows>;

/** Asks and reads the answer. */
export const asker =
  (service: QueryService): Ask =>
  async (sql, options = {}) => {
    const { columns, chunks } = await service.run({
      principal: administrator,
      tenant: defaultTenant,
      sql,
      format: 'json',
      signal: new AbortController().signal,
      ...options,
    });
    const objects = JSON.parse((await wholeOf(chunks)).toString('utf8')) as Record<string, unknown>[];
    const names = columns.map(({ name }) => name);
    return { names, rows: objects.map((object) => names.map((name) => object[name])) };
  };

/** All of a result. */
export async function wholeOf(chunks: AsyncIterable<ResultChunk>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const { parts } of chunks) pieces.push(...parts);
  return Buffer.concat(pieces);
}
