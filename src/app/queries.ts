import { availableParallelism } from 'node:os';
import { readableRows } from '../auth/policy.ts';
import type { Drain } from '../ingest/drain.ts';
import { waitForPending } from '../ingest/freshness.ts';
import { limits } from '../limits.ts';
import { SqlParser } from '../query/parser.ts';
import { QueryService } from '../query/service.ts';
import type { Catalog } from '../store/catalog.ts';
import type { ResultStore, Store } from '../store/store.ts';
import type { Wal } from '../wal/writer.ts';
import type { Shared } from './shared.ts';

interface Parts {
  readonly store: Store & ResultStore;
  readonly catalog: Catalog;
  readonly wal: Wal;
  readonly drain: Drain;
}

/** The way from SQL to rows. */
export function startQueries({ config, clock, log }: Shared, version: string, parts: Parts) {
  const { store, catalog, wal, drain } = parts;
  const parser = new SqlParser(new URL('../../workers/parse.js', import.meta.url), log);
  const query = new QueryService({
    store,
    catalog,
    parser,
    version,
    clock,
    log,
    bounds: {
      timeoutMs: config.queryTimeoutMs,
      maxMemoryBytes: config.queryMaxMemoryBytes,
      maxThreads: Math.min(availableParallelism(), limits.queryMaxThreads),
      maxResultRows: limits.queryMaxResultRows,
      maxResultBytes: limits.queryMaxResultBytes,
    },
    readableRows,
    waitForPending: (tenant, names) =>
      waitForPending(
        wal,
        drain,
        tenant,
        names.map((name) => catalog.idOf(tenant, name)),
      ),
  });
  return { parser, query };
}
