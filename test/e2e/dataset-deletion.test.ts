import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { tablesOf } from '../support/clickhouse/engine-files.ts';
import { seededRandom } from '../support/lib/random.ts';
import { testSeed } from '../support/lib/seed.ts';
import { buildWriteRequest } from '../support/remote-write/remote-write-requests.ts';
import { authorization, Service } from '../support/service/service.ts';

let service: Service;
beforeEach(async () => {
  service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '200' } });
}, 60_000);
afterEach(() => service?.dispose());

const send = async (method: string, path: string) => {
  const reply = await fetch(`${service.url}/api/v1/logstream${path}`, { method, headers: { authorization } });
  return [reply.status, await reply.text()] as const;
};
const listed = async (): Promise<string[]> =>
  (JSON.parse((await send('GET', ''))[1]) as { name: string }[]).map(({ name }) => name);

/** An acknowledged number, and the time of its request. */
interface Write {
  readonly id: number;
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** Everything that was done with a name. */
interface History {
  readonly name: string;
  readonly kind: 'events' | 'metrics';
  readonly writes: Write[];
  /** The time of the last successful deletion. */
  deleted: { readonly sentMs: number; readonly answeredMs: number } | undefined;
}

const writers = 6;
/** A deletion waits until the log has nothing of its dataset, up to some seconds on a busy machine. */
const deleters = 16;
/** Deletions and writes go on until there are this many deletions. */
const wantedDeletions = 48;
/** The number of writes. */
const wantedWrites = 200;
/** The pause between the writes of a connection, so that the store is busy but not overloaded. */
const maxPauseMs = 20;
const datasets = 60;

/**
 * Each number has a series of its own, so that none depends on a series that a worker remembers
 * from a deleted dataset.
 */
const sample = (id: number) =>
  new Uint8Array(
    buildWriteRequest([
      {
        labels: [
          ['__name__', 'up'],
          ['job', `job-${id % 5}`],
        ],
        samples: [{ value: id, timestampMs: Date.now() }],
      },
    ]),
  );

async function writeTo({ name, kind, writes }: History, id: number): Promise<void> {
  const sentMs = performance.now();
  if (kind === 'metrics') await service.remoteWrite(sample(id), name);
  else await service.ingest(name, [{ id, [`field_${id % 7}`]: id }]);
  writes.push({ id, sentMs, answeredMs: performance.now() });
}

/** @returns whether there was a dataset to delete */
async function deleteOne(history: History): Promise<boolean> {
  const sentMs = performance.now();
  const [status, text] = await send('DELETE', `/${history.name}`);
  expect([200, 404], text).toContain(status);
  if (status === 404) return false;
  history.deleted = { sentMs, answeredMs: performance.now() };
  return true;
}

/** A dataset must have what was sent after its last deletion, and may have what overlapped with that. */
async function expectHeir({ name, kind, writes, deleted }: History): Promise<number> {
  const column = kind === 'metrics' ? 'value' : 'id';
  const rows = await service.query(`SELECT ${column} AS id FROM "${name}"`);
  const ids = rows.map(({ id }) => Number(id));
  expect([name, new Set(ids).size]).toEqual([name, ids.length]);
  const stored = new Set(ids);
  const { sentMs = -1, answeredMs = -1 } = deleted ?? {};
  const revived = writes.filter((write) => write.answeredMs < sentMs && stored.has(write.id));
  const lost = writes.filter((write) => write.sentMs > answeredMs && !stored.has(write.id));
  expect([name, revived, lost]).toEqual([name, [], []]);
  if (kind === 'metrics') {
    const series = await service.query(
      `SELECT DISTINCT metric_name, job IS NOT NULL AS whole FROM "${name}"`,
    );
    expect([name, series]).toEqual([name, [{ metric_name: 'up', whole: true }]]);
  }
  const { ingestion } = JSON.parse((await send('GET', `/${name}/stats`))[1]) as {
    ingestion: { lifetime_count: number; deleted_count: number };
  };
  expect([name, ingestion.lifetime_count, ingestion.deleted_count]).toEqual([name, ids.length, 0]);
  return ids.length;
}

it('deletion under load leaves no table, no log record, no row and no error behind', async () => {
  const seed = testSeed;
  process.stdout.write(`The seed is ${seed}.\n`);
  const random = seededRandom(seed);
  const histories = Array.from(
    { length: datasets },
    (_, index): History => ({
      name: `stress-${index}`,
      kind: index % 4 === 3 ? 'metrics' : 'events',
      writes: [],
      deleted: undefined,
    }),
  );
  const any = () => histories[random.integer(0, datasets - 1)] as History;
  let next = 0;
  await Promise.all(histories.map((history) => writeTo(history, next++)));

  let deletions = 0;
  const isUnderLoad = () => deletions < wantedDeletions || next <= wantedWrites;
  const writing = Array.from({ length: writers }, async () => {
    while (isUnderLoad()) {
      await writeTo(any(), next++);
      await sleep(random.integer(0, maxPauseMs));
    }
  });
  const deleting = Array.from({ length: deleters }, async () => {
    while (isUnderLoad()) {
      const history = any();
      if (await deleteOne(history)) deletions += 1;
      // If another connection has written to it meanwhile, it exists already.
      if (history.kind === 'events' && random.chance(0.3)) {
        expect([200, 400]).toContain((await send('PUT', `/${history.name}`))[0]);
      }
      await sleep(random.integer(0, maxPauseMs));
    }
  });
  await Promise.all([...writing, ...deleting]);

  // Half of them are deleted for good, in random order, while others are written to.
  const ended = histories.filter((_, index) => index % 2 === 0).sort(() => random.integer(0, 1) - 0.5);
  const others = histories.filter((_, index) => index % 2 === 1);
  await Promise.all([...ended.map(deleteOne), ...others.map((history) => writeTo(history, next++))]);
  await service.drained();

  const living = new Set(await listed());
  for (const { name } of ended)
    expect([name, living.has(name), tablesOf(service, name)]).toEqual([name, false, []]);
  let rows = 0;
  for (const history of others) {
    expect(living).toContain(history.name);
    rows += await expectHeir(history);
    const tables = tablesOf(service, history.name);
    const generations = new Set(tables.map((table) => table.split('.').slice(0, -2).join('.')));
    expect([history.name, tables.length, generations.size]).toEqual([
      history.name,
      history.kind === 'metrics' ? 5 : 1,
      1,
    ]);
  }
  expect(rows).toBeGreaterThan(others.length);
  expect(await service.metric('millrace_store_insert_failures_total')).toBe(0);
  expect(await service.metric('millrace_dead_files')).toBe(0);
  expect(service.child.stderr.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);

  // Names of deleted datasets can be used again.
  for (const history of ended) await writeTo(history, next++);
  await service.drained();
  for (const history of ended) expect([history.name, await expectHeir(history)]).toEqual([history.name, 1]);
}, 120_000);

it('datasets that wait for more data are deleted as well', async () => {
  const names = Array.from({ length: 36 }, (_, index) => `small-${index}`);
  const write = () => Promise.all(names.map((name, id) => service.ingest(name, [{ id }])));
  await write();
  const replies = await Promise.all(names.map((name) => send('DELETE', `/${name}`)));
  expect(replies.map(([status]) => status)).toEqual(names.map(() => 200));
  await write();
  await service.drained();
  expect(names.flatMap((name) => tablesOf(service, name))).toEqual(
    names.map((name) => `${name}.2.events.sql`),
  );
  expect(await service.query('SELECT id FROM "small-7"')).toEqual([{ id: 7 }]);
  expect(await service.metric('millrace_store_insert_failures_total')).toBe(0);
}, 120_000);
