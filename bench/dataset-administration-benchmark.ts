import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { authorization, type Service } from '../test/support/service/service.ts';
import { cpuSeconds } from './proc.ts';
import { percentile } from './sender.ts';

const questions = 50;
/** This many datasets are deleted, or all. */
const deletions = 200;
/** A deletion waits until the log has nothing of its dataset, so several run at a time and share the wait. */
const deleters = 64;
/** The engine reads the tables of all datasets before the service answers. */
const startTimeoutMs = 180_000;

/** Figures by their titles. */
export type Administration = Readonly<Record<string, string>>;

/**
 * Measures how long it takes to create datasets, to start with them, to list and query them, and to delete
 * some of them while the log has rows of theirs.
 * @param make writes to each dataset for the first time, and waits until the store has all rows
 * @param load runs on the datasets after they were created
 * @throws Error if a table is left, or an insert has failed
 */
export async function measureAdministration<Load>(
  service: Service,
  names: readonly string[],
  make: () => Promise<void>,
  load: () => Promise<Load>,
): Promise<{ readonly load: Load; readonly administration: Administration }> {
  const { pid } = service.child;
  const cpuBefore = cpuSeconds(pid);
  const makingMs = await timed(make);
  const cpuMs = (cpuSeconds(pid) - cpuBefore) * 1000;
  console.log(`${names.length} datasets are made in ${(makingMs / 1000).toFixed(1)} s`);
  const loaded = await load();
  const headers = { authorization };
  const list = await askOften(() => fetch(`${service.url}/api/v1/logstream`, { headers }));
  const count = await askOften((index) =>
    fetch(`${service.url}/api/v1/query`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        query: `SELECT level, count(*) AS n FROM "${names[index % names.length]}" GROUP BY level ORDER BY n`,
      }),
    }),
  );
  await service.stop();
  const startMs = await timed(() => service.restart(startTimeoutMs));
  console.log(`the service has started with them in ${(startMs / 1000).toFixed(1)} s`);
  const deleted = names.slice(-deletions);
  const deletingMs = await timed(() => deleteAll(service, deleted));
  await service.drained();
  await requireNothingLeft(service, deleted);
  return {
    load: loaded,
    administration: {
      'made in s': (makingMs / 1000).toFixed(1),
      'CPU ms to make one': (cpuMs / names.length).toFixed(1),
      'list p50 ms': percentile(list, 0.5).toFixed(1),
      'query p50 ms': percentile(count, 0.5).toFixed(1),
      'query p99 ms': percentile(count, 0.99).toFixed(1),
      'started in s': (startMs / 1000).toFixed(1),
      'ms to delete one': (deletingMs / deleted.length).toFixed(0),
    },
  };
}

/** Each dataset first gets one more event, which is then in the log. */
async function deleteAll(service: Service, names: readonly string[]): Promise<void> {
  const left = [...names];
  const deleter = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      await service.ingest(name, [{ last: true }]);
      const url = `${service.url}/api/v1/logstream/${name}`;
      const reply = await fetch(url, { method: 'DELETE', headers: { authorization } });
      if (!reply.ok) throw new Error(`DELETE ${name}: ${reply.status} ${await reply.text()}`);
    }
  };
  await Promise.all(Array.from({ length: deleters }, deleter));
}

async function requireNothingLeft(service: Service, deleted: readonly string[]): Promise<void> {
  const files = readdirSync(join(service.dataDir, 'store/engine/metadata/t_default'));
  const gone = new Set(deleted);
  // `<name>.events.sql`, or `<name>.2.events.sql` for a dataset that was created again.
  const left = files.map(decodeURIComponent).filter((file) => gone.has(file.slice(0, file.indexOf('.'))));
  const failures = await service.metric('millrace_store_insert_failures_total');
  const dead = await service.metric('millrace_dead_files');
  if (left.length + failures + dead > 0) {
    throw new Error(`${left.length} tables left, ${failures} inserts failed, ${dead} dead letters`);
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** @returns milliseconds to the end of each reply, sorted */
async function askOften(ask: (index: number) => Promise<Response>): Promise<Float64Array> {
  const latenciesMs: number[] = [];
  for (let index = 0; index < questions; index += 1) {
    latenciesMs.push(
      await timed(async () => {
        const reply = await ask(index);
        const text = await reply.text();
        if (!reply.ok) throw new Error(`${reply.status} ${text}`);
      }),
    );
  }
  return Float64Array.from(latenciesMs).sort();
}
