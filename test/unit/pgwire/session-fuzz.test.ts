import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createLogger } from '../../../src/lib/log.ts';
import { Connection } from '../../../src/pgwire/connection.ts';
import { MessageWriter } from '../../../src/pgwire/protocol/message-writer.ts';
import { readStartupPacket } from '../../../src/pgwire/protocol/startup-packet.ts';
import { WireError } from '../../../src/pgwire/protocol/wire-error.ts';
import { Session } from '../../../src/pgwire/session.ts';
import { SessionSettings } from '../../../src/pgwire/session-settings.ts';
import { postgresType } from '../../../src/sql/postgres-types.ts';
import { int4 } from '../../../src/sql/types.ts';
import { type Random, seededRandom } from '../../support/lib/random.ts';
import { testSeed } from '../../support/lib/seed.ts';
import { sessionParts } from '../../support/sql/session-parts.ts';
import { client, MemorySocket, serverMessages } from '../../support/sql/wire-client.ts';

/**
 * Sessions that get random, damaged and well-formed messages in any order: none fails in an unknown
 * way, hangs, or writes what is no message, and one error of the protocol ends it. More of them, from
 * another seed: `MILLRACE_TEST_RUNS=100000 MILLRACE_TEST_SEED=7 npx vitest run --config
 * test/vitest.config.ts session-fuzz`
 */
const runs = Number(process.env['MILLRACE_TEST_RUNS'] ?? 1500);
const seed = testSeed;

const columns = [{ name: 'n', label: 'n', type: postgresType(int4) }];

const statements = [
  'select 1',
  '',
  'begin',
  'commit',
  'rollback',
  'show all',
  'declare c cursor for x',
  'fetch 2 from c',
  'close all',
  'discard all',
  'copy (x) to stdout',
  "set timezone = 'x'",
  'select 1; select 2',
  "'",
  '$$',
  '/*',
  'explain x',
  'savepoint a',
];

function randomMessage(random: Random): Buffer {
  const pick = <T>(items: readonly T[]): T => items[random.integer(0, items.length - 1)] as T;
  const name = () => pick(['', 'a', 'b', '\u{1f600}']);
  const target = () => pick(['S', 'P'] as const);
  const makers = [
    () => client.query(pick(statements)),
    () => client.parse(name(), pick(statements)),
    () => client.bind(name(), name(), pick([[], ['1'], ['1', '2']])),
    () => client.describe(target(), name()),
    () => client.close(target(), name()),
    () => client.execute(name(), random.integer(0, 3)),
    () => client.sync(),
    () => client.flush(),
  ];
  const message = Buffer.from(pick(makers)());
  if (!random.chance(0.1)) return message;
  // Damaged: a byte is another one, or some are missing or too many.
  const at = random.integer(0, message.length - 1);
  const how = random.integer(0, 2);
  if (how === 0) message[at] = random.integer(0, 255);
  if (how === 1) return message.subarray(0, at);
  return how === 2 ? Buffer.concat([message, Buffer.from([random.integer(0, 255)])]) : message;
}

async function* threeRows() {
  yield { parts: [Buffer.from('1\n2')], isLast: false };
  await Promise.resolve();
  yield { parts: [Buffer.from('\n\\N\n')], isLast: true };
}

async function run(random: Random): Promise<Buffer> {
  const socket = new MemorySocket();
  const unknown: unknown[] = [];
  const log = Object.assign(createLogger('silent'), { error: (details: unknown) => unknown.push(details) });
  const session = new Session(
    new Connection(socket as unknown as Socket),
    new SessionSettings(() => undefined),
    new MessageWriter(),
    sessionParts({
      query: () =>
        Promise.resolve({
          id: '',
          columns,
          datasets: [],
          chunks: threeRows(),
          statistics: () => ({ elapsedMs: 0, read: undefined }),
        }),
      describe: () => Promise.resolve({ columns, parameters: [] }),
      explain: () => Promise.resolve({ sql: 'SELECT', fields: [], datasets: [] }),
      log,
    }),
  );
  const ended = session.run();
  const count = random.integer(1, 12);
  for (let index = 0; index < count; index++) {
    const message = randomMessage(random);
    // In two pieces, so that messages are cut anywhere.
    const cut = random.integer(0, message.length);
    socket.arrive(message.subarray(0, cut));
    socket.arrive(message.subarray(cut));
  }
  socket.arrive(random.chance(0.5) ? client.terminate() : null);
  socket.arrive(null);
  await ended;
  expect(unknown).toEqual([]);
  return Buffer.concat(socket.written);
}

test(`sessions survive ${runs} sequences of random messages, seed ${seed}`, async () => {
  for (let index = 0; index < runs; index++) {
    const random = seededRandom(seed + index);
    const written = await run(random).catch((error: unknown) => {
      throw new Error(`seed ${seed + index}`, { cause: error });
    });
    const frames = serverMessages(written);
    expect([seed + index, frames[0]?.type]).toEqual([seed + index, 'Z']);
  }
});

test(`packets that open a connection are read, or refused, seed ${seed}`, () => {
  const random = seededRandom(seed);
  for (let index = 0; index < runs * 10; index++) {
    const body = Buffer.from(Array.from({ length: random.integer(4, 60) }, () => random.integer(0, 255)));
    if (random.chance(0.5)) body.writeInt32BE(196608 + random.integer(0, 3), 0);
    if (random.chance(0.3)) body[body.length - 1] = 0;
    try {
      expect(readStartupPacket(body).kind).toBeDefined();
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(WireError);
    }
  }
});
