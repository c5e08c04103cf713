import type { ClickHouseClient } from '@clickhouse/client';
import { expect, it } from 'vitest';
import {
  type Asker,
  ConnectionPool,
  type ConnectionPoolOptions,
} from '../../../src/clickhouse/connection-pool.ts';
import { AppError } from '../../../src/errors.ts';

/** A pool of connections that do nothing: only their number matters here. */
function createPool(options: ConnectionPoolOptions) {
  const counts = { opened: 0, closed: 0 };
  const open = () => {
    counts.opened += 1;
    const close = async () => {
      counts.closed += 1;
    };
    const client = { close };
    return client as unknown as ClickHouseClient;
  };
  return { pool: new ConnectionPool(open, options), counts };
}

/** Asks, and notes when a connection is there. */
function ask(pool: ConnectionPool<ClickHouseClient>, tenant: string, served: string[], signal?: AbortSignal) {
  return askAs(pool, { tenant, user: 'only' }, served, signal);
}

function askAs(pool: ConnectionPool<ClickHouseClient>, asker: Asker, served: string[], signal?: AbortSignal) {
  return pool.take(asker, signal).then((client) => {
    served.push(asker.user === 'only' ? asker.tenant : `${asker.tenant}/${asker.user}`);
    return () => pool.giveBack(asker, client, true);
  });
}

it('gives out as many as there are, and each that comes back to the next party', async () => {
  const { pool, counts } = createPool({ connections: 2, maxWaiting: 10 });
  const served: string[] = [];
  const noisy = Array.from({ length: 6 }, () => ask(pool, 'noisy', served));
  const quiet = [ask(pool, 'quiet', served), ask(pool, 'quiet', served)];
  const release = await Promise.race(noisy);
  expect([served.length, pool.waiting]).toEqual([2, 6]);
  const releases = [release, ...(await Promise.all([noisy[1]]))];
  for (const done of releases) await done?.();
  for (const turn of [...noisy.slice(2, 3), ...quiet.slice(0, 1)]) await (await turn)();
  for (const turn of [...noisy.slice(3, 4), ...quiet.slice(1)]) await (await turn)();
  for (const turn of noisy.slice(4)) await (await turn)();
  expect(served.join(' ')).toBe('noisy noisy noisy quiet noisy quiet noisy noisy');
  expect(counts).toEqual({ opened: 2, closed: 0 });
});

it('keeps what is spared for parties that have none', async () => {
  const { pool } = createPool({ connections: 3, maxWaiting: 10, spared: { forTenants: 1, forUsers: 0 } });
  const served: string[] = [];
  const noisy = Array.from({ length: 4 }, () => ask(pool, 'noisy', served));
  await noisy[1];
  expect([served, pool.waiting]).toEqual([['noisy', 'noisy'], 2]);
  const release = await ask(pool, 'quiet', served);
  expect(served).toEqual(['noisy', 'noisy', 'quiet']);
  const other = ask(pool, 'other', served);
  await release();
  await other;
  expect(served.at(-1)).toBe('other');
  await (await noisy[0])?.();
  // One is free, and the asker that waits has one already.
  expect(pool.waiting).toBe(2);
  await (await other)();
  await noisy[2];
  expect([served.at(-1), pool.waiting]).toEqual(['noisy', 1]);
});

it('keeps what is spared for users that have none, within a tenant and beside it', async () => {
  const { pool } = createPool({ connections: 4, maxWaiting: 10, spared: { forTenants: 1, forUsers: 1 } });
  const served: string[] = [];
  const noisy = Array.from({ length: 4 }, () => askAs(pool, { tenant: 'a', user: 'noisy' }, served));
  await noisy[1];
  expect([served, pool.waiting]).toEqual([['a/noisy', 'a/noisy'], 2]);
  await askAs(pool, { tenant: 'a', user: 'quiet' }, served);
  const late = askAs(pool, { tenant: 'a', user: 'late' }, served);
  const other = await askAs(pool, { tenant: 'b', user: 'noisy' }, served);
  expect([served.slice(2), pool.waiting]).toEqual([['a/quiet', 'b/noisy'], 3]);
  // Two are free then: one is for other tenants, and one for users without any.
  await (await noisy[0])?.();
  await other();
  await late;
  expect([served.slice(4), pool.waiting]).toEqual([['a/late'], 2]);
});

it('refuses those who wait last where too many do, of the party that has most', async () => {
  const { pool } = createPool({ connections: 1, maxWaiting: 2 });
  const served: string[] = [];
  const first = await ask(pool, 'noisy', served);
  const second = ask(pool, 'noisy', served);
  const third = expect(ask(pool, 'noisy', served)).rejects.toMatchObject({ code: 'overloaded' });
  await expect(ask(pool, 'noisy', served)).rejects.toMatchObject({ code: 'overloaded' });
  const quiet = ask(pool, 'quiet', served);
  await third;
  await first();
  await (await second)();
  await (await quiet)();
  expect(served).toEqual(['noisy', 'noisy', 'quiet']);
});

it('forgets who leaves while waiting, and ends every wait when it closes', async () => {
  const { pool, counts } = createPool({ connections: 1, maxWaiting: 2 });
  const served: string[] = [];
  const release = await ask(pool, 'a', served);
  const leaving = new AbortController();
  const left = ask(pool, 'a', served, leaving.signal);
  leaving.abort(new AppError('query_cancelled', 'gone'));
  await expect(left).rejects.toMatchObject({ code: 'query_cancelled' });
  await expect(ask(pool, 'a', served, leaving.signal)).rejects.toMatchObject({ code: 'query_cancelled' });
  expect(pool.waiting).toBe(0);
  const waiting = expect(ask(pool, 'b', served)).rejects.toMatchObject({ code: 'shutting_down' });
  await pool.close();
  await waiting;
  await release();
  expect([served, counts]).toEqual([['a'], { opened: 1, closed: 1 }]);
});

it('opens another connection for one whose statement failed', async () => {
  const { pool, counts } = createPool({ connections: 1, maxWaiting: 2 });
  const failure = pool.run(async () => {
    throw new Error('no such table');
  });
  const next = pool.run(async () => 7);
  await expect(failure).rejects.toThrow('no such table');
  expect(await next).toBe(7);
  expect(counts).toEqual({ opened: 2, closed: 1 });
});
