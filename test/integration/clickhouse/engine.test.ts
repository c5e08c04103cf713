import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ResultStore, Store } from '../../../src/clickhouse/store.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { limits } from '../../../src/limits/limits.ts';
import { insertEvent } from '../../support/clickhouse/event-blocks.ts';
import { openEmbedded, testStore } from '../../support/clickhouse/test-store.ts';
import { enginePid, isGone } from '../../support/lib/child.ts';
import { packageRoot } from '../../support/lib/package-root.ts';

/**
 * Takes 46 ms for each of a million rows, and checks its time limit and cancellation only after a whole
 * block.
 */
const endless = `SELECT count() FROM numbers(1000000)
  WHERE match(leftPad(toString(number), 1000, 'a'), '(a{1,100}){1,10}b')`;

/**
 * Takes 100 seconds, one for each block: the engine ends a query that sleeps longer than three seconds in one
 * block.
 */
const sleeping = 'SELECT sleepEachRow(1) FROM (SELECT number FROM numbers(100) SETTINGS max_block_size = 1)';

interface Opened {
  readonly store: Store & ResultStore;
  readonly directory: string;
  /** The rows of a query of some user of some tenant. */
  ask(query: string, user?: string, signal?: AbortSignal): Promise<string>;
}

async function openStore(): Promise<Opened> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-engine-'));
  const store = await openEmbedded(directory);
  onTestFinished(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const ask = async (query: string, user = 'somebody', signal = new AbortController().signal) => {
    const options = {
      id: randomUUID(),
      party: 'default',
      user,
      format: 'CSVWithNames',
      settings: {},
      signal,
    } as const;
    const pieces: Uint8Array[] = [];
    for await (const { parts } of store.stream(query, options)) pieces.push(...parts);
    return Buffer.concat(pieces).toString().split('\n')[1] ?? '';
  };
  return { store, directory, ask };
}

async function makeTable(store: Store): Promise<void> {
  for (const statement of datasetStatements('default', 'app', 'events')) await store.command(statement);
  await store.command('ALTER TABLE t_default.`app.events` ADD COLUMN `id:num` Nullable(Float64)');
}

/** As the drain does: until it is known to be stored. */
async function insertUntilStored(store: Store, id: number): Promise<void> {
  for (;;) {
    try {
      await insertEvent(store, 'app', { id }, `t-${id}`);
      return;
    } catch (error) {
      expect(error).toMatchObject({ name: 'StoreError', retryable: true, clickHouseCode: undefined });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Running queries that contain this word: the service may run queries of its own at any time. */
async function runningOf(store: Store, word: string): Promise<number> {
  const like = `SELECT count() FROM system.processes WHERE query LIKE '%${word}%' AND query NOT LIKE '%processes%'`;
  return Number(
    Buffer.from(await store.select(like, 'JSONCompactEachRow'))
      .toString()
      .replace(/\D/g, ''),
  );
}

const answersAgain = ({ ask }: Opened, user?: string) =>
  expect.poll(() => ask("SELECT 'there'", user).catch(String)).toBe('"there"');

test('a query that does not stop ends with the engine, which comes back with all rows and connections', async () => {
  const opened = await openStore();
  const { store, directory, ask } = opened;
  await makeTable(store);
  const before = enginePid(directory);
  const client = new AbortController();
  const stuck = Array.from({ length: limits.storeQueryConnections }, () =>
    ask(endless, 'hostile', client.signal),
  );
  const ended = Promise.allSettled(stuck);
  await expect.poll(() => runningOf(store, 'leftPad')).toBe(stuck.length);
  // All connections are taken. The waiting queries of the same user must not be next.
  const waiting = expect(ask(endless, 'hostile')).rejects.toMatchObject({ code: 'queries_paused' });
  let inserted = 0;
  let over = false;
  const inserting = (async () => {
    while (!over) await insertUntilStored(store, inserted++);
  })();
  client.abort();
  // The client is answered while the engine still works on the query.
  for (const { reason } of (await ended) as PromiseRejectedResult[])
    expect(reason).toMatchObject({ code: 'query_cancelled' });
  expect(isGone(before)).toBe(false);

  await expect.poll(() => isGone(before)).toBe(true);
  await answersAgain(opened);
  await waiting;
  over = true;
  await inserting;
  expect(enginePid(directory)).not.toBe(before);
  expect(await ask('SELECT count(), uniqExact(`id:num`) FROM t_default.`app.events`')).toBe(
    `${inserted},${inserted}`,
  );
  // No connection was lost.
  const together = Array.from({ length: limits.storeQueryConnections }, () => ask('SELECT sleep(1)'));
  expect(await Promise.all(together)).toEqual(together.map(() => '0'));
  // The user who did this has to wait; nobody else does.
  await expect(ask('SELECT 1', 'hostile')).rejects.toMatchObject({ code: 'queries_paused' });
});

test.each(['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGBUS'] as const)(
  'after %s the engine is gone at once, what it was doing has failed, and it comes back',
  async (signal) => {
    const opened = await openStore();
    const { directory, ask } = opened;
    const before = enginePid(directory);
    const running = ask(sleeping);
    const failed = expect(running).rejects.toMatchObject({
      name: 'StoreError',
      retryable: true,
      clickHouseCode: undefined,
    });
    await expect
      .poll(() => ask("SELECT count() FROM system.processes WHERE query LIKE '%sleepEachRow%'"))
      .toBe('2');
    process.kill(before, signal);
    await failed;
    await expect.poll(() => isGone(before), { timeout: 10_000 }).toBe(true);
    await answersAgain(opened);
    expect(enginePid(directory)).not.toBe(before);
  },
);

test('results of which no more is read give their connections back when their time is over, and the engine lives on', async () => {
  const { store, directory, ask } = await openStore();
  const engine = enginePid(directory);
  const long = `SELECT leftPad(toString(number), 1000, 'a') FROM numbers(10000000)`;
  const settings = { max_block_size: limits.queryBlockRows };
  const stalled = await Promise.all(
    Array.from({ length: limits.storeQueryConnections }, async (_, index) => {
      const ending = new AbortController();
      const options = { party: 'default', user: `${index}`, settings, signal: ending.signal } as const;
      const result = store.stream(long, { ...options, id: randomUUID(), format: 'CSVWithNames' });
      const reading = result[Symbol.asyncIterator]();
      expect((await reading.next()).done).toBe(false);
      return { ending, reading };
    }),
  );
  for (const { ending } of stalled) ending.abort();
  // Each asks for a connection, of which there are no more than were stalled. A stuck query would
  // end the engine instead.
  const answers = stalled.map((_, index) => ask(`SELECT ${index} + 1`, `next ${index}`));
  expect(await Promise.all(answers)).toEqual(stalled.map((_, index) => `${index + 1}`));
  expect(enginePid(directory)).toBe(engine);
  for (const { reading } of stalled)
    await expect(reading.next()).rejects.toMatchObject({ code: 'query_cancelled' });
});

test('the engine gives large pieces of memory back at once', async () => {
  const { ask } = await openStore();
  const setting = (name: string) =>
    ask(`SELECT extract(stats, 'opt\\.${name}: ([^\\\\s]+)') AS value FROM system.jemalloc_stats`);
  expect(await setting('oversize_threshold')).toBe(`"${limits.engineReturnedBytes}"`);
  const thread = "SELECT value FROM system.server_settings WHERE name = 'jemalloc_enable_background_threads'";
  expect(await ask(thread)).toBe('"0"');
  const running = "SELECT extract(stats, 'Background threads: ([0-9]+)') AS n FROM system.jemalloc_stats";
  expect(await ask(running)).toBe('"0"');
});

test('an engine that does not answer is killed', async () => {
  const opened = await openStore();
  const before = enginePid(opened.directory);
  process.kill(before, 'SIGSTOP');
  await expect.poll(() => isGone(before)).toBe(true);
  await answersAgain(opened);
});

test('signals to the whole process group leave the engine to the service', async () => {
  const opened = await openStore();
  const before = enginePid(opened.directory);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(before, signal);
  await answersAgain(opened);
  expect(enginePid(opened.directory)).toBe(before);
});

test('closing ends an engine that is busy', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-engine-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const store = await openEmbedded(directory);
  const { rows } = testStore(store, async () => {});
  const running = expect(rows(endless)).rejects.toMatchObject({ name: 'StoreError' });
  const pid = enginePid(directory);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await store.close();
  await running;
  expect(isGone(pid)).toBe(true);
});

test('another engine on the same directory does not open, and says who has it', async () => {
  const { directory, ask } = await openStore();
  const holder = enginePid(directory);
  await expect(openEmbedded(directory)).rejects.toThrow(`the process ${holder} holds`);
  expect(await ask("SELECT 'still'")).toBe('"still"');
});

test('the engine process ends when the service is gone, though its main thread is busy', async () => {
  const guard = JSON.stringify(join(packageRoot(), 'dist/workers/engine-guard.js'));
  const script = `new (require('node:worker_threads').Worker)(${guard});
    setTimeout(() => { console.log('busy'); for (;;); }, 500);`;
  const child = spawn(process.execPath, ['-e', script], {
    stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'pipe'],
  });
  const exit = once(child, 'exit');
  if (child.stdout === null) throw new Error('no stdout');
  await once(child.stdout, 'data');
  expect(child.exitCode).toBeNull();
  child.stdio[4]?.destroy();
  expect(await exit).toEqual([null, 'SIGKILL']);
});

test('V8 out of memory ends the process that has the store at once, and its engine', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-engine-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const module = (name: string) => JSON.stringify(join(packageRoot(), 'dist/src', name));
  const script = `
    const { openEmbeddedStore } = await import(${module('clickhouse/embedded/embedded-store.js')});
    const { createMetrics } = await import(${module('lib/metrics.js')});
    const { createLogger } = await import(${module('lib/log.js')});
    await openEmbeddedStore(${JSON.stringify(directory)}, createMetrics(), createLogger('silent'));
    console.log('open');
    setTimeout(() => { const held = []; for (;;) held.push(new Array(1000).fill(Math.random())); }, 100);`;
  const child = spawn(process.execPath, ['--max-old-space-size=64', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  const engine = enginePid(directory);
  // The engine's handlers would have it wait for 300 seconds.
  expect(await exit).toEqual([null, 'SIGABRT']);
  await expect.poll(() => isGone(engine)).toBe(true);
});
