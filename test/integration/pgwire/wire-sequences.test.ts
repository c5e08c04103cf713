import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cancellation } from '../../../src/lib/cancellation.ts';
import { Connection } from '../../../src/pgwire/connection.ts';
import { MessageFramer } from '../../../src/pgwire/protocol/message-framer.ts';
import { MessageWriter } from '../../../src/pgwire/protocol/message-writer.ts';
import { Session } from '../../../src/pgwire/session.ts';
import { SessionSettings } from '../../../src/pgwire/session-settings.ts';
import type { QueryService } from '../../../src/query/query-service.ts';
import { catalogOf } from '../../sql/fixtures.ts';
import { Postgres, postgresBinaries } from '../../sql/postgres.ts';
import { administrator, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { testSeed } from '../../support/lib/seed.ts';
import { sessionParts } from '../../support/sql/session-parts.ts';
import { client, MemorySocket, shortForm } from '../../support/sql/wire-client.ts';

/**
 * Random sequences of messages to a session and to PostgreSQL: the same messages come back, by
 * their types, the SQLSTATEs of errors, the tags of commands and the status of the transaction.
 * More of them: `MILLRACE_TEST_SEED=7 MILLRACE_TEST_RUNS=2000 npx vitest run --config test/vitest.config.ts
 * --testTimeout 3600000 wire-sequences`
 */
const bin = postgresBinaries();
const runs = Number(process.env['MILLRACE_TEST_RUNS'] ?? 60);
const seed = testSeed;

let oracle: Postgres;
let store: TestStore;
let service: QueryService;

beforeAll(async () => {
  if (bin === undefined) return;
  oracle = await Postgres.start(bin);
  store = await openTestStore();
  service = queryService(store.store, catalogOf([]));
});

afterAll(async () => {
  await store?.close();
  await oracle?.stop();
});

const statements = [
  'select 1',
  'select 1/(n - n) from generate_series(1, 1) as n',
  'select missing',
  'select',
  '',
  ';',
  'values (1), (2), (3)',
  'select n from generate_series(1, 5) as n',
  'select 1; select 2',
  'select 1; select 1/(n - n) from generate_series(1, 1) as n; select 2',
  'begin',
  'begin; select 1/(n - n) from generate_series(1, 1) as n',
  'begin; begin',
  'start transaction read only',
  'commit',
  'commit and chain',
  'rollback',
  'rollback; rollback',
  'savepoint a',
  'savepoint b; select 1',
  'rollback to a',
  'release a',
  'release b',
  'declare c cursor for select n from generate_series(1, 5) as n',
  'declare c cursor with hold for values (1), (2)',
  'begin; declare d cursor for values (1), (2); fetch 1 from d; commit',
  'declare e cursor for values (1); fetch all from e',
  'fetch 2 from c',
  'fetch all from c',
  'fetch 0 from d',
  'move 1 in c',
  'close c',
  'close all',
  'copy (select n from generate_series(1, 3) as n) to stdout',
  'copy (values (1), (2)) to stdout (format csv, header)',
  'copy (select n from generate_series(1, 3) as n) to stdout (format binary)',
  'copy (select n from generate_series(1, 3) as n where n > 3) to stdout binary',
  'set datestyle = iso',
  'set local datestyle = iso',
  'set nonsense_setting = 1',
  'show datestyle',
  'reset datestyle',
  'discard plans',
  'discard all',
  'deallocate s',
  'deallocate all',
  'unlisten *',
  'copy (values (1), (2)) to stdout',
] as const;
const parameterized = [
  'select $1::int',
  'select 1',
  'values (1), (2), (3)',
  'begin',
  'rollback',
  '',
  'select 1/(n - n) from generate_series(1, 1) as n',
];

type Step = { readonly name: string; readonly bytes: Buffer; readonly isSync: boolean };

const names = fc.constantFrom('', 's', 't');
const step = (name: string, bytes: Buffer, isSync = false): Step => ({ name, bytes, isSync });
const extended: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(names, fc.constantFrom(...parameterized, ...statements))
    .map(([name, sql]) => step(`Parse(${name}, ${sql})`, client.parse(name, sql))),
  fc.tuple(names, names).map(([portal, name]) => step(`Bind(${portal}, ${name})`, client.bind(portal, name))),
  names.map((name) => step(`Bind(${name}, ${name}, [7])`, client.bind(name, name, ['7']))),
  fc
    .tuple(fc.constantFrom('S' as const, 'P' as const), names)
    .map(([of, name]) => step(`Describe(${of}, ${name})`, client.describe(of, name))),
  fc
    .tuple(fc.constantFrom('S' as const, 'P' as const), names)
    .map(([of, name]) => step(`Close(${of}, ${name})`, client.close(of, name))),
  fc
    .tuple(names, fc.constantFrom(0, 1, 2))
    .map(([portal, rows]) => step(`Execute(${portal}, ${rows})`, client.execute(portal, rows))),
);
/** What runs a statement to its end, as drivers do it. */
const whole = fc
  .tuple(names, fc.constantFrom(...parameterized, ...statements))
  .map(([name, sql]) => [
    step(`Close(S, ${name})`, client.close('S', name)),
    step(`Parse(${name}, ${sql})`, client.parse(name, sql)),
    step(`Bind(${name}, ${name})`, client.bind(name, name)),
    step(`Describe(P, ${name})`, client.describe('P', name)),
    step(`Execute(${name}, 0)`, client.execute(name, 0)),
  ]);
/** What is left of a failed one in the unnamed portal is not compared: PostgreSQL keeps it in some cases. */
const simple = fc
  .constantFrom(...statements)
  .map((sql) => [
    step(`Query(${sql})`, client.query(sql), true),
    step('Close(P, )', client.close('P', '')),
    step('Sync', client.sync(), true),
  ]);
const synced = fc
  .array(
    fc.oneof(
      whole,
      extended.map((each) => [each]),
    ),
    { maxLength: 5 },
  )
  .map((groups) => [...groups.flat(), step('Sync', client.sync(), true)]);
const sequences = fc
  .array(fc.oneof(simple, synced), { minLength: 1, maxLength: 10 })
  .map((groups) => groups.flat());

/** What a session answers. */
async function ours(steps: readonly Step[]): Promise<readonly string[]> {
  const socket = new MemorySocket();
  const out = new MessageWriter();
  const settings = new SessionSettings(() => undefined);
  const asked = { principal: administrator, tenant: administrator.tenant };
  const parts = sessionParts({
    query: (sql, parameters, parameterTypes, signal) =>
      service.run({ ...asked, sql, parameters, parameterTypes, signal, format: 'rows' }),
    describe: (sql, parameterTypes, signal) => service.describe({ ...asked, sql, parameterTypes, signal }),
    explain: (sql, signal) => service.explain({ ...asked, sql, signal }),
  });
  const session = new Session(new Connection(socket as unknown as Socket), settings, out, parts);
  const ended = session.run();
  socket.arrive(Buffer.concat(steps.map(({ bytes }) => bytes)));
  const frames = await socket.ready(1 + steps.filter(({ isSync }) => isSync).length);
  socket.arrive(client.terminate());
  await ended;
  return frames.map(shortForm).slice(1);
}

/** What PostgreSQL answers. */
async function theirs(steps: readonly Step[]): Promise<readonly string[]> {
  const socket = connect(join(oracle.directory, '.s.PGSQL.5432'));
  const framer = new MessageFramer();
  const all: string[] = [];
  const wanted = 1 + steps.filter(({ isSync }) => isSync).length;
  let ready = 0;
  const done = new Cancellation();
  socket.on('data', (chunk: Buffer) => {
    framer.push(chunk);
    for (let frame = framer.next(1 << 30); frame !== undefined; frame = framer.next(1 << 30)) {
      if (ready > 0) all.push(shortForm(frame));
      if (frame.type === 'Z') ready += 1;
    }
    if (ready >= wanted) done.cancel();
  });
  socket.on('close', () => done.cancel());
  socket.write(client.startup({ user: 'test', database: 'postgres' }));
  socket.write(Buffer.concat(steps.map(({ bytes }) => bytes)));
  await new Promise<void>((resolve) => (done.aborted ? resolve() : done.addEventListener('abort', resolve)));
  socket.end(client.terminate());
  return all;
}

/** Settings that PostgreSQL reports, and notices that say how it works inside. */
const comparable = (messages: readonly string[]): readonly string[] =>
  messages.filter((message) => message !== 'S' && !message.startsWith('N '));

test.skipIf(bin === undefined)(
  'sequences get the messages of PostgreSQL (skipped where it is not installed)',
  async () => {
    await fc.assert(
      fc.asyncProperty(sequences, async (steps) => {
        const [own, other] = [await ours(steps), await theirs(steps)];
        expect([steps.map(({ name }) => name), comparable(own)]).toEqual([
          steps.map(({ name }) => name),
          comparable(other),
        ]);
      }),
      { numRuns: runs, seed },
    );
  },
);
