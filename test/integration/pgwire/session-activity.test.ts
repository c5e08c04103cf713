import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import type { Principal } from '../../../src/model/identity.ts';
import { catalogOf, fixtures } from '../../sql/fixtures.ts';
import { asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { pgPassword, startPgServer, type TestPgServer } from '../../support/sql/pg-server.ts';

/** `pg_stat_activity`, `pg_cancel_backend` and `pg_terminate_backend`: who sees and ends which sessions. */

const user = (name: string, privilege: 'reader' | 'admin', tenant: string = defaultTenant): Principal => ({
  kind: 'user',
  name,
  tenant,
  privileges: [{ privilege }],
});

const endless = 'SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 100000) AS b';

let store: TestStore;
let server: TestPgServer;
const open = new Set<pg.Client>();

beforeAll(async () => {
  store = await openTestStore();
  server = await startPgServer(queryService(store.store, catalogOf(fixtures)), {
    users: {
      alice: user('alice', 'reader'),
      bob: user('bob', 'reader'),
      chief: user('chief', 'admin'),
      stranger: user('stranger', 'admin', 'other'),
    },
    tenants: ['other'],
  });
});

afterAll(async () => {
  for (const client of open) await client.end().catch(() => undefined);
  await server?.stop();
  await store?.close();
});

interface Connected {
  readonly client: pg.Client;
  readonly pid: number;
  readonly notices: string[];
  readonly ended: Promise<string | undefined>;
}

async function connect(name: string, application = name): Promise<Connected> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port: server.port,
    user: name,
    password: pgPassword,
    database: name === 'stranger' ? 'other' : 'millrace',
    application_name: application,
  });
  const notices: string[] = [];
  client.on('notice', ({ message }) => notices.push(message ?? ''));
  let reason: string | undefined;
  const ended = new Promise<string | undefined>((resolve) => {
    client.on('error', (error: Error & { code?: string }) => {
      reason ??= error.code;
    });
    client.on('end', () => resolve(reason));
  });
  await client.connect();
  open.add(client);
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return { client, pid: Number(rows[0].pid), notices, ended };
}

const pidsSeenBy = async ({ client }: Connected): Promise<readonly number[]> =>
  (await client.query('select pid from pg_stat_activity')).rows.map(({ pid }) => Number(pid));

describe('pg_stat_activity', () => {
  test('shows a user their own sessions, and an administrator those of the tenant', async () => {
    const [alice, again, bob] = [await connect('alice'), await connect('alice'), await connect('bob')];
    const [chief, stranger, root] = [
      await connect('chief'),
      await connect('stranger'),
      await connect('admin'),
    ];
    const ids = (...all: readonly Connected[]) => all.map(({ pid }) => pid).toSorted();
    expect((await pidsSeenBy(alice)).toSorted()).toEqual(ids(alice, again));
    expect(await pidsSeenBy(bob)).toEqual([bob.pid]);
    expect((await pidsSeenBy(chief)).toSorted()).toEqual(ids(alice, again, bob, chief));
    expect(await pidsSeenBy(stranger)).toEqual([stranger.pid]);
    expect((await pidsSeenBy(root)).toSorted()).toEqual(ids(alice, again, bob, chief, root));
    for (const { client } of [alice, again, bob, chief, stranger, root]) await client.end();
  });

  test('tells what a session does, without values of parameters', async () => {
    const [alice, chief] = [await connect('alice', 'a dashboard'), await connect('chief')];
    await alice.client.query('begin');
    await alice.client.query('select $1::text as secret', ["a value that is nobody else's business"]);
    const { rows } = await chief.client.query(
      `select usename, application_name, client_addr::text, state, wait_event_type, wait_event, query, backend_type, datname,
         query_start >= backend_start as ordered, xact_start is not null as in_block, state_change is not null as changed
       from pg_stat_activity where pid = $1`,
      [alice.pid],
    );
    expect(rows).toEqual([
      {
        usename: 'alice',
        application_name: 'a dashboard',
        client_addr: '127.0.0.1',
        state: 'idle in transaction',
        wait_event_type: 'Client',
        wait_event: 'ClientRead',
        query: 'select $1::text as secret',
        backend_type: 'client backend',
        datname: 'millrace',
        ordered: true,
        in_block: true,
        changed: true,
      },
    ]);
    await alice.client.query('select nope').catch(() => undefined);
    const state = 'select state from pg_stat_activity where pid = $1';
    expect((await chief.client.query(state, [alice.pid])).rows).toEqual([
      { state: 'idle in transaction (aborted)' },
    ]);
    await alice.client.query('rollback');
    expect((await chief.client.query(state, [alice.pid])).rows).toEqual([{ state: 'idle' }]);
    expect((await chief.client.query(state, [chief.pid])).rows).toEqual([{ state: 'active' }]);
    for (const { client } of [alice, chief]) await client.end();
  });

  test('keeps a bounded part of the text', async () => {
    const alice = await connect('alice');
    const long = `select 1 /* ${'x'.repeat(10 * limits.pgActivityQueryLength)} */`;
    await alice.client.query(long);
    const other = await connect('alice');
    const { rows } = await other.client.query('select query from pg_stat_activity where pid = $1', [
      alice.pid,
    ]);
    expect(rows).toEqual([{ query: long.slice(0, limits.pgActivityQueryLength) }]);
    for (const { client } of [alice, other]) await client.end();
  });
});

describe('ending sessions', () => {
  test('users end their own, administrators those of the tenant', async () => {
    const [alice, again, bob] = [await connect('alice'), await connect('alice'), await connect('bob')];
    const chief = await connect('chief');
    const end = 'select pg_terminate_backend($1) as ended';
    expect((await alice.client.query(end, [again.pid])).rows).toEqual([{ ended: true }]);
    expect(await again.ended).toBe('57P01');
    expect((await chief.client.query(end, [bob.pid])).rows).toEqual([{ ended: true }]);
    expect(await bob.ended).toBe('57P01');
    for (const { client } of [alice, chief]) await client.end();
  });

  test('nobody ends another one, nor learns whether there is one', async () => {
    const [alice, bob] = [await connect('alice'), await connect('bob')];
    const [chief, stranger, root] = [
      await connect('chief'),
      await connect('stranger'),
      await connect('admin'),
    ];
    for (const [by, of] of [
      [alice, bob],
      [stranger, bob],
      [chief, root],
    ] as const) {
      for (const name of ['pg_cancel_backend', 'pg_terminate_backend']) {
        by.notices.length = 0;
        for (const pid of [of.pid, 2_000_000_000]) {
          const { rows } = await by.client.query(`select ${name}(${pid}) as ended`);
          expect(rows).toEqual([{ ended: false }]);
        }
        expect(by.notices).toEqual(
          [of.pid, 2_000_000_000].map((pid) => `PID ${pid} is not a PostgreSQL server process`),
        );
      }
      expect((await of.client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    }
    for (const { client } of [alice, bob, chief, stranger, root]) await client.end();
  });

  test('a session ends itself', async () => {
    const alice = await connect('alice');
    const other = await connect('alice');
    const refused = alice.client.query('select pg_terminate_backend(pg_backend_pid())');
    await expect(refused).rejects.toMatchObject({ code: '57P01' });
    await alice.ended;
    expect(await pidsSeenBy(other)).toEqual([other.pid]);
    await other.client.end();
  });

  test('a statement that runs is cancelled', async () => {
    const [alice, other] = [await connect('alice'), await connect('alice')];
    const running = alice.client.query(endless);
    const refused = expect(running).rejects.toMatchObject({ code: '57014' });
    const active = `select count(*)::int as n from pg_stat_activity where pid = $1 and state = 'active'`;
    while ((await other.client.query(active, [alice.pid])).rows[0].n === 0);
    expect((await other.client.query('select pg_cancel_backend($1) as ok', [alice.pid])).rows).toEqual([
      { ok: true },
    ]);
    await refused;
    expect((await alice.client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    for (const { client } of [alice, other]) await client.end();
  });

  test('over HTTP there are no sessions', async () => {
    const ask = asker(queryService(store.store, catalogOf(fixtures)));
    expect((await ask('select pid from pg_stat_activity')).rows).toEqual([]);
    for (const name of ['pg_cancel_backend', 'pg_terminate_backend'])
      await expect(ask(`select ${name}(1)`)).rejects.toMatchObject({ code: 'sql_unsupported' });
  });
});
