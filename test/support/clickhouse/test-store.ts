import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EmbeddedOptions, openEmbeddedStore } from '../../../src/clickhouse/embedded/embedded-store.ts';
import type { ResultStore, Store, StreamOptions } from '../../../src/clickhouse/store.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { packageRoot } from '../lib/package-root.ts';

export interface TestStore {
  readonly store: Store & ResultStore;
  /** The rows of a SELECT as objects. */
  rows<T = Record<string, unknown>>(
    query: string,
    options?: Partial<Pick<StreamOptions, 'settings' | 'signal'>>,
  ): Promise<T[]>;
  close(): Promise<void>;
}

/** Opens the store like the service, with the built engine process: tests run from their sources. */
export function openEmbedded(directory: string, options: EmbeddedOptions = {}): Promise<Store & ResultStore> {
  const engineScript = pathToFileURL(join(packageRoot(), 'dist/workers/engine.js'));
  return openEmbeddedStore(directory, createMetrics(), createLogger('silent'), { engineScript, ...options });
}

/** The real engine in a new directory. */
export async function openTestStore(): Promise<TestStore & { readonly directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-store-'));
  const store = await openEmbedded(directory);
  return { ...testStore(store, () => rm(directory, { recursive: true })), directory };
}

/** @param dispose called after the store was closed */
export function testStore(store: Store & ResultStore, dispose: () => Promise<void>): TestStore {
  return {
    store,
    rows: async <T>(
      query: string,
      { settings = {}, signal = new AbortController().signal }: Partial<StreamOptions> = {},
    ) => {
      const pieces: Uint8Array[] = [];
      const stream = store.stream(query, {
        id: randomUUID(),
        party: 'default',
        format: 'JSONEachRow',
        settings,
        signal,
      });
      for await (const { parts } of stream) pieces.push(...parts);
      return Buffer.concat(pieces)
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as T);
    },
    close: async () => {
      await store.close();
      await dispose();
    },
  };
}
