import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './answer.ts';
import { type Attack, flood, pick, repeated, type Size } from './attack.ts';
import type { Attacker, KnownParty } from './attacker.ts';
import {
  bind,
  cancelRequest,
  close,
  describe,
  execute,
  int16,
  int32,
  message,
  packet,
  parse,
  saslInitial,
  simpleQuery,
  sslRequest,
  startup,
  sync,
  type WireConnection,
  zeroEnded,
} from './wire-connection.ts';

/** Attacks over the PostgreSQL wire protocol. Codes are SQLSTATEs. */

/** How a query that asks for too much may end. */
const bounded = ['57014', '53200', '54000', '54001', '22003', '22023', '53300', '53400', '42601', '0A000'];

/** Addresses of the attacker: each is another network for the service. */
const addressOf = (index: number): string => `127.0.${1 + (index >> 7)}.${1 + (index & 127)}`;

/** Sends over sessions of its own, at once, and waits for so many answers in each. */
const inSessions =
  (
    count: readonly [full: number, small: number],
    work: (session: WireConnection, size: Size, index: number) => Promise<readonly Answer[]>,
    as: KnownParty = 'analyst',
  ) =>
  async (attacker: Attacker, size: Size): Promise<readonly Answer[]> => {
    const all = await flood(pick(count, size), 100, (index) =>
      attacker.wire((session) => work(session, size, index), { as }),
    );
    return all.flat();
  };

async function sent(session: WireConnection, bytes: Buffer, answers: number): Promise<readonly Answer[]> {
  await session.write(bytes);
  return await session.answers(answers);
}

const left: Answer = { status: 'left' };

/** Takes nothing of the replies for so long, and then leaves. */
async function unread(
  session: WireConnection,
  bytes: Buffer,
  [full, small]: readonly [number, number],
  size: Size,
): Promise<readonly Answer[]> {
  session.pause();
  void session.write(bytes);
  await sleep(pick([full, small], size));
  return [left];
}

/** Without a sign-in. */
async function flooded(
  attacker: Attacker,
  count: number,
  atATime: number,
  work: (connection: WireConnection, index: number) => Promise<void>,
): Promise<readonly Answer[]> {
  const all = await flood(count, atATime, (index) =>
    attacker.wire(
      async (connection) => {
        await work(connection, index);
        return connection.isClosed ? [{ status: 'closed' }] : [left];
      },
      { localAddress: addressOf(index) },
    ),
  );
  return all.flat();
}

/** A binary array of numerics that are short in binary, and long in text. */
function longNumerics(count: number): Buffer {
  const element = Buffer.concat([int32(8), int16(0), int16(100), int16(0), int16(400)]);
  return Buffer.concat([
    int32(1),
    int32(0),
    int32(1700),
    int32(count),
    int32(1),
    ...Array<Buffer>(count).fill(element),
  ]);
}

const signInAttacks: readonly Attack[] = [
  {
    name: 'pg-startup-packets',
    aim: 'start-up packets that are none: lengths, versions, parameters without an end, requests without an end',
    mayClose: true,
    run: async (attacker) => {
      const packets = [
        int32(-1),
        int32(4),
        int32(0x7fff_ffff),
        packet(int32(0x0002_0000)),
        packet(Buffer.concat([int32(0x0003_0000), Buffer.alloc(9000, 0x61)])),
        packet(Buffer.concat([int32(0x0003_0000), Buffer.from('a\0b\0'.repeat(2400)), Buffer.alloc(1)])),
        packet(Buffer.concat([int32(0x0003_0000), Buffer.from('_pq_.a\0b\0'.repeat(1000)), Buffer.alloc(1)])),
        startup({ user: 'u', options: '\\'.repeat(9000) }),
        startup({ user: 'u', options: '-c '.repeat(3000) }),
        startup({ user: 'u'.repeat(9000) }),
        startup({ user: 'u', database: '../'.repeat(3000) }),
        startup({ user: 'u', replication: 'database' }),
        Buffer.concat(Array<Buffer>(1000).fill(sslRequest)),
        cancelRequest(1, randomBytes(300)),
        Buffer.from('GET / HTTP/1.1\r\n\r\n'),
        Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, ...randomBytes(512)]),
      ];
      const all = await Promise.all(
        packets.map((bytes) =>
          attacker.wire(async (connection) => {
            await connection.write(bytes);
            return await connection.answers(1, 1000);
          }),
        ),
      );
      // Who is asked for a password, or whose packet has not come yet, has no answer.
      return all.flat().map((answer) => (answer.status === 'none' ? left : answer));
    },
  },
  {
    name: 'pg-sign-in-stalls',
    aim: 'sign-ins from many networks that stop half way, and keep their connections',
    mayClose: true,
    run: async (attacker, size) =>
      await flooded(attacker, pick([1500, 30], size), 1500, async (connection, index) => {
        await connection.write(startup({ user: `user${index}`, database: attacker.tenant }));
        if (index % 2 === 0) await connection.write(saslInitial(`n,,n=,r=${'r'.repeat(index % 1000)}x`));
        await sleep(pick([6000, 200], size));
      }),
  },
  {
    name: 'pg-sign-in-derivations',
    aim: 'sign-ins that leave once a key is derived for them, over and over: threads of the pool',
    mayClose: true,
    run: async (attacker, size) =>
      await flooded(attacker, pick([20_000, 50], size), 400, async (connection, index) => {
        await connection.write(
          Buffer.concat([
            startup({ user: `user${index}`, database: attacker.tenant }),
            saslInitial('n,,n=,r=nonce'),
          ]),
        );
        await connection.answers(1, pick([100, 50], size));
      }),
  },
  {
    name: 'pg-sign-in-wrong',
    aim: 'wrong passwords for the root administrator, from one network',
    codes: ['28P01', '53300'],
    mayClose: true,
    run: async (attacker, size) => {
      const all = await flood(pick([300, 6], size), 60, () =>
        attacker.wire(async (connection) => {
          const refusal = await connection.signIn({ user: 'admin', database: 'millrace', secret: 'wrong' });
          return [refusal ?? { status: 500 }];
        }),
      );
      return all.flat();
    },
  },
  {
    name: 'pg-sign-in-bytes',
    aim: 'messages of a sign-in whose 64 KiB come byte by byte',
    mayClose: true,
    run: async (attacker, size) =>
      await flooded(attacker, pick([40, 2], size), 40, async (connection) => {
        await connection.write(startup({ user: 'user', database: attacker.tenant }));
        await connection.write(Buffer.concat([Buffer.from('p'), int32(60_000)]));
        for (let sentBytes = 0; sentBytes < pick([20_000, 200], size); sentBytes++) {
          if (connection.isClosed || attacker.isStopped) return;
          await connection.write(Buffer.from('x'));
          if (sentBytes % 10 === 0) await sleep(0);
        }
      }),
  },
  {
    name: 'pg-connections',
    aim: 'connections opened and closed as fast as it goes',
    mayClose: true,
    run: async (attacker, size) =>
      await flooded(attacker, pick([20_000, 50], size), 200, async (connection) => {
        await connection.write(sslRequest);
      }),
  },
  {
    name: 'pg-cancel-guessed',
    aim: 'requests to cancel, with guessed keys',
    mayClose: true,
    run: async (attacker, size) =>
      await flooded(attacker, pick([20_000, 50], size), 200, async (connection, index) => {
        await connection.write(cancelRequest(1 + (index % 100), randomBytes(4)));
        await connection.answers(1, 1000);
      }),
  },
  {
    name: 'pg-sessions-many',
    aim: 'sessions with one key, as many as there are connections, and held',
    codes: ['53300'],
    mayClose: true,
    run: async (attacker, size) => {
      const over = sleep(pick([8000, 500], size));
      const held: Promise<readonly Answer[]>[] = [];
      await flood(pick([2200, 20], size), 30, async (index) => {
        await new Promise<void>((signedIn) => {
          const session = attacker.wire(
            async () => {
              signedIn();
              await over;
              return [left];
            },
            { as: 'analyst', localAddress: addressOf(index) },
          );
          held.push(session);
          void session.finally(() => signedIn());
        });
      });
      return (await Promise.all(held)).flat();
    },
  },
];

const messageAttacks: readonly Attack[] = [
  {
    name: 'pg-messages-odd',
    aim: 'messages that are none: lengths, types, counts that are larger than the message',
    codes: ['08P01', '0A000', '26000', '34000', '42601', '42622', '54000'],
    mayClose: true,
    run: async (attacker) => {
      const odd = [
        Buffer.concat([Buffer.from('Q'), int32(-1)]),
        Buffer.concat([Buffer.from('Q'), int32(0x7fff_ffff)]),
        message('Q', Buffer.from('SELECT 1')),
        message('!', Buffer.alloc(100)),
        message('B', zeroEnded(''), zeroEnded(''), int16(65_535)),
        message('B', zeroEnded(''), zeroEnded(''), int16(0), int16(65_535)),
        message('P', zeroEnded(''), zeroEnded('SELECT 1'), int16(65_535)),
        message('D', Buffer.from('X'), zeroEnded('')),
        message('F', Buffer.alloc(1_000_000)),
        message('d', Buffer.alloc(1_000_000)),
        message('E', zeroEnded(''), int32(-5)),
        parse('n'.repeat(900_000), 'SELECT 1'),
        simpleQuery('x'.repeat(1_000_000)),
        simpleQuery('SELECT 1\u0000; SELECT 2'),
      ];
      const all = await Promise.all(
        odd.map((bytes) =>
          attacker.wire((session) => sent(session, Buffer.concat([bytes, sync]), 1), { as: 'analyst' }),
        ),
      );
      // A length that never comes is waited for.
      return all.flat().map((answer) => (answer.status === 'none' ? left : answer));
    },
  },
  {
    name: 'pg-syncs',
    aim: '20,000 messages of five bytes in one piece, in each of 20 sessions',
    run: inSessions([20, 2], (session, size) => {
      const count = pick([20_000, 2000], size);
      return sent(session, Buffer.alloc(5 * count, sync), count);
    }),
  },
  {
    name: 'pg-syncs-behind-query',
    aim: 'the same, come while a query runs',
    codes: bounded,
    run: inSessions([20, 2], async (session, size) => {
      await session.write(simpleQuery('SELECT count(*) FROM generate_series(1, 3000000) a'));
      return await sent(
        session,
        Buffer.alloc(5 * pick([20_000, 2000], size), sync),
        1 + pick([20_000, 2000], size),
      );
    }),
  },
  {
    name: 'pg-describes-unread',
    aim: 'descriptions of 900 columns, asked for 100,000 times without Sync, and not read',
    run: inSessions([10, 2], async (session, size) => {
      await sent(session, Buffer.concat([parse('', 'SELECT * FROM wide'), sync]), 1);
      const one = describe('S', '');
      return await unread(
        session,
        Buffer.alloc(one.length * pick([100_000, 1000], size), one),
        [5000, 200],
        size,
      );
    }),
  },
  {
    name: 'pg-describes',
    aim: 'the same, and read',
    run: inSessions([4, 2], async (session, size) => {
      await sent(session, Buffer.concat([parse('', 'SELECT * FROM wide'), sync]), 1);
      const one = describe('S', '');
      const many = Buffer.alloc(one.length * pick([1000, 100], size), one);
      return await sent(session, Buffer.concat([many, sync]), 1);
    }),
  },
  {
    name: 'pg-closes-unread',
    aim: '5 million messages without Sync whose replies nobody reads',
    run: inSessions([10, 2], async (session, size) => {
      const one = close('S', '');
      return await unread(
        session,
        Buffer.alloc(one.length * pick([5_000_000, 5000], size), one),
        [6000, 200],
        size,
      );
    }),
  },
  {
    name: 'pg-show-all-unread',
    aim: 'SHOW ALL with long settings, 90 times in a query, not read',
    run: inSessions([20, 2], async (session, size) => {
      const long = repeated(
        10,
        (index) =>
          `SET ${['search_path', 'role', 'lc_time', 'work_mem', 'application_name', 'lc_messages', 'lc_monetary', 'lc_numeric', 'temp_buffers', 'xmloption'][index]} TO '${'x'.repeat(1000)}';`,
      );
      await sent(session, simpleQuery(long), 1);
      const one = simpleQuery('SHOW ALL;'.repeat(90));
      return await unread(
        session,
        Buffer.concat(Array<Buffer>(pick([300, 2], size)).fill(one)),
        [5000, 200],
        size,
      );
    }),
  },
  {
    name: 'pg-messages-slow',
    aim: 'messages of 1 MiB that come in pieces of one byte, in 60 sessions',
    run: inSessions([60, 2], async (session, size) => {
      await session.write(Buffer.concat([Buffer.from('Q'), int32(1_000_000)]));
      const deadline = performance.now() + pick([6000, 200], size);
      for (let index = 0; performance.now() < deadline; index++) {
        await session.write(Buffer.from('x'));
        if (index % 10 === 0) await sleep(0);
      }
      return [left];
    }),
  },
  {
    name: 'pg-messages-open',
    aim: 'all but the last byte of messages of 1 MiB, in 200 sessions',
    codes: ['53200', '53300', '53400'],
    run: inSessions([200, 2], async (session, size) => {
      await session.write(Buffer.concat([Buffer.from('Q'), int32(1_048_576), Buffer.alloc(1_048_000, 0x20)]));
      await sleep(pick([5000, 100], size));
      return [left];
    }),
  },
  {
    name: 'pg-parse-many',
    aim: '1,000 prepared statements of 900 columns, in each of 10 sessions',
    codes: ['53400', '53200'],
    run: inSessions([10, 2], (session, size) => {
      const count = pick([1000, 30], size);
      const all = Array.from({ length: count }, (_, index) =>
        Buffer.concat([parse(`s${index}`, 'SELECT * FROM wide'), sync]),
      );
      return sent(session, Buffer.concat(all), count);
    }),
  },
  {
    name: 'pg-parse-types',
    aim: 'prepared statements with 65,535 types of parameters, 1,000 in each of 10 sessions',
    codes: ['53400', '53200', '54000', '54023'],
    run: inSessions([10, 2], async (session, size) => {
      const types = Array<number>(65_535).fill(23);
      const answers: Answer[] = [];
      for (let index = 0; index < pick([1000, 3], size); index++) {
        const [answer] = await sent(session, Buffer.concat([parse(`s${index}`, 'BEGIN', types), sync]), 1);
        answers.push(answer ?? left);
        if (answer?.status !== 200) break;
      }
      return answers;
    }),
  },
  {
    name: 'pg-parse-copy',
    aim: 'prepared statements of COPY with as many words as fit, in 10 sessions',
    codes: ['53400', '53200', '54000', '42601', '42703', '42803'],
    run: inSessions([10, 2], async (session, size) => {
      const sql = `COPY (SELECT ${repeated(40_000, 'a', ',')}) TO STDOUT`;
      const answers: Answer[] = [];
      for (let index = 0; index < pick([50, 2], size); index++) {
        const [answer] = await sent(session, Buffer.concat([parse(`s${index}`, sql), sync]), 1);
        answers.push(answer ?? left);
        if (answer?.status !== 200) break;
      }
      return answers;
    }),
  },
  {
    name: 'pg-parse-texts',
    aim: 'different prepared statements of 240 KB, in 30 sessions',
    codes: ['53400', '53200', '54000', '54001'],
    run: inSessions([30, 2], async (session, size, sessionNumber) => {
      const answers: Answer[] = [];
      for (let index = 0; index < pick([100, 2], size); index++) {
        const sql = `SELECT '${sessionNumber}-${index}'${` || '${'x'.repeat(100_000)}'`.repeat(2)}`;
        const [answer] = await sent(session, Buffer.concat([parse(`s${index}`, sql), sync]), 1);
        answers.push(answer ?? left);
        if (answer?.status !== 200) break;
      }
      return answers;
    }),
  },
  {
    name: 'pg-bind-values',
    aim: 'values of a portal: 65,535 of them, 1 MB of array in binary, and numbers that are long in text alone',
    codes: ['08P01', '22P02', '22P03', '54000', '54023', '22023', '53400'],
    run: inSessions([8, 2], async (session, size) => {
      const many = Array<Buffer>(65_535).fill(Buffer.from('1'));
      const answers = await sent(
        session,
        Buffer.concat([parse('', 'SELECT $1::int'), bind('', '', many), execute(''), sync]),
        1,
      );
      const numerics = Buffer.concat([
        parse('', 'SELECT $1::numeric[]'),
        bind('', '', [longNumerics(pick([80_000, 1000], size))], 1),
        execute(''),
        sync,
      ]);
      return [...answers, ...(await sent(session, numerics, 1)), ...(await sent(session, numerics, 1))];
    }),
  },
  {
    name: 'pg-portals',
    aim: '100 portals with values of 40 KB, in each of 60 sessions',
    codes: ['53400', '53200'],
    run: inSessions([60, 2], async (session, size) => {
      const value = Buffer.alloc(40_000, 0x61);
      await sent(session, Buffer.concat([parse('s', 'SELECT $1::text'), sync]), 1);
      const portals = Array.from({ length: pick([100, 5], size) }, (_, index) =>
        bind(`p${index}`, 's', [value]),
      );
      const answers = await sent(session, Buffer.concat([simpleQuery('BEGIN'), ...portals, sync]), 2);
      await sleep(pick([3000, 10], size));
      return answers;
    }),
  },
  {
    name: 'pg-cursors',
    aim: 'cursors that are declared and not read, 100 in each of 10 sessions: connections to the store',
    codes: [...bounded, '25P02', '34000'],
    run: inSessions([10, 2], (session, size) => {
      const count = pick([90, 3], size);
      const declare = repeated(
        count,
        (index) => `DECLARE c${index} CURSOR FOR SELECT * FROM generate_series(1, 10000000);`,
      );
      return sent(session, simpleQuery(`BEGIN;${declare}`), 1);
    }),
  },
  {
    name: 'pg-fetch-huge',
    aim: 'FETCH and MOVE of as many rows as can be written, of cursors and of portals',
    codes: bounded,
    run: inSessions([6, 2], (session, size, index) => {
      const rows = pick([900_000, 1000], size);
      const declare = `BEGIN; DECLARE c CURSOR FOR SELECT a, a::text, now() FROM generate_series(1, ${rows}) a;`;
      const fetch = ['FETCH 2147483647 c', 'MOVE FORWARD ALL c', 'FETCH FORWARD 999999999999999 c'][
        index % 3
      ];
      return sent(session, simpleQuery(`${declare}${fetch};COMMIT`), 1);
    }),
  },
  {
    name: 'pg-copy-unread',
    aim: 'COPY of results that nobody reads, in 12 sessions',
    run: inSessions([12, 2], (session, size) =>
      unread(
        session,
        simpleQuery("COPY (SELECT a, lpad('', 500, 'x') FROM generate_series(1, 900000) a) TO STDOUT"),
        [8000, 200],
        size,
      ),
    ),
  },
  {
    name: 'pg-results-unread',
    aim: 'queries of large results that nobody reads, twelve behind one another in each of 40 sessions',
    run: inSessions([40, 2], (session, size) =>
      unread(
        session,
        Buffer.concat(
          Array<Buffer>(12).fill(
            simpleQuery("SELECT a, lpad('', 500, 'x') FROM generate_series(1, 100000) a"),
          ),
        ),
        [8000, 200],
        size,
      ),
    ),
  },
  {
    name: 'pg-row-huge',
    aim: 'one row of 90 MB, as text and in binary, in one cell and in many, and copied',
    codes: bounded,
    run: inSessions([6, 4], (session, size, index) => {
      const rows = pick([900, 9], size);
      const one = `SELECT string_agg(lpad('', 100000, 'x'), ',') FROM generate_series(1, ${rows}) a`;
      const array = `SELECT array_agg(a) FROM generate_series(1, ${pick([3_000_000, 3000], size)}) a`;
      const escaped = `SELECT string_agg(lpad('', 100000, E'\\\\\\n'), ',') FROM generate_series(1, ${rows}) a`;
      const sql = [one, array, escaped][index % 3] ?? one;
      if (index % 2 === 0) return sent(session, simpleQuery(`COPY (${sql}) TO STDOUT`), 1);
      return sent(session, Buffer.concat([parse('', sql), bind('', '', [], 0), execute(''), sync]), 1);
    }),
  },
  {
    name: 'pg-statements-many',
    aim: 'simple queries of 256 KB: 100,000 statements, semicolons, symbols, dollars, comments, words',
    codes: [...bounded, '42703', '42803', '42P01'],
    run: inSessions([20, 10], (session, size, index) => {
      const texts = [
        'SELECT 1;'.repeat(28_000),
        ';'.repeat(260_000),
        `SELECT ${'+'.repeat(260_000)}`,
        repeated(30_000, (number) => `$a${number}$ `),
        `COPY ${'a '.repeat(130_000)}`,
        `${'/*'.repeat(65_000)}${'*/'.repeat(65_000)}`,
        `"${'""'.repeat(130_000)}`,
        `${"'' ".repeat(85_000)}`,
        `SET a.b = ${repeated(120_000, '1', ',')}`,
        `SELECT 1;`.repeat(99),
      ];
      const one = simpleQuery(texts[index % texts.length] ?? '');
      const times = pick([4, 1], size);
      return sent(session, Buffer.concat(Array<Buffer>(times).fill(one)), times);
    }),
  },
  {
    name: 'pg-errors-far',
    aim: 'errors at the end of 250 KB of text in four bytes a character, whose place is counted',
    codes: ['42601', '42703', '54000', '54001', '0A000'],
    run: inSessions([20, 2], (session) => {
      const one = simpleQuery(`DECLARE c CURSOR ${' '.repeat(100)}/*${'\u{1F600}'.repeat(120_000)}*/ x`);
      const two = simpleQuery(`SELECT /*${'\n'.repeat(200_000)}*/ nobody FROM app`);
      return sent(session, Buffer.concat([one, two, one, two]), 4);
    }),
  },
  {
    name: 'pg-settings',
    aim: 'settings set and rolled back, with savepoints, time zones and names that somebody made up',
    codes: [...bounded, '42704', '22023', '25P02', '54000', '25001'],
    run: inSessions([20, 2], (session, size) => {
      const sets = repeated(24, (index) => `SET a.b${index} = '${'x'.repeat(900)}';SAVEPOINT s${index};`);
      const zones = repeated(24, (index) => `SET TimeZone = 'Nowhere/${index}';ROLLBACK;`);
      const one = Buffer.concat([simpleQuery(`BEGIN;${sets}ROLLBACK`), simpleQuery(zones)]);
      const times = pick([50, 2], size);
      return sent(session, Buffer.concat(Array<Buffer>(times).fill(one)), 2 * times);
    }),
  },
];

/** Queries of the catalog, which are answered where they are translated. */
const catalogQueries: ReadonlyArray<readonly [name: string, aim: string, sql: string]> = [
  [
    'cross',
    'a cross join of pg_attribute five times',
    `SELECT count(*) FROM ${repeated(5, (index) => `pg_attribute a${index}`, ', ')}`,
  ],
  [
    'cross-wide',
    'millions of rows of a join of 60 relations, grouped',
    `SELECT count(*) FROM (SELECT DISTINCT a.attname || b.attname AS x FROM ${repeated(58, (index) => `pg_database d${index}`, ', ')}, pg_attribute a, pg_attribute b) s`,
  ],
  [
    'cross-sorted',
    'the same with a key to sort by that is long',
    'SELECT a.attname || b.attname || c.attname FROM pg_attribute a, pg_attribute b, pg_attribute c ORDER BY 1 LIMIT 5',
  ],
  [
    'aggregates',
    'a text and an array of millions of rows',
    "SELECT string_agg(a.attname, ','), array_agg(b.attname) FROM pg_attribute a, pg_attribute b, pg_type c",
  ],
  [
    'recursion',
    'WITH RECURSIVE without an end',
    'WITH RECURSIVE r AS (SELECT 1 AS n FROM pg_class UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r',
  ],
  [
    'text-doubling',
    'a text that doubles',
    "WITH RECURSIVE r AS (SELECT 'x' AS t, 1 AS n FROM pg_database UNION ALL SELECT lower(t || t), n + 1 FROM r WHERE n < 60) SELECT max(length(t)) FROM r",
  ],
  [
    'array-doubling',
    'an array that doubles',
    'WITH RECURSIVE r AS (SELECT array[1] AS t, 1 AS n FROM pg_database UNION ALL SELECT array_cat(t, t), n + 1 FROM r WHERE n < 60) SELECT max(cardinality(t)) FROM r',
  ],
  [
    'list-of-texts',
    'a list of one long text, doubled and joined',
    `WITH RECURSIVE r AS (SELECT string_to_array('${'a'.repeat(100_000)}', ',') AS t, 1 AS n FROM pg_database UNION ALL SELECT t || t, n + 1 FROM r WHERE n < 25) SELECT max(length(array_to_string(t, ','))) FROM r`,
  ],
  [
    'text-aggregate',
    'a long text from each row of a join, put together',
    `SELECT string_agg('${'a'.repeat(120_000)}', a.attname) FROM pg_attribute a, pg_attribute b`,
  ],
  [
    'regex-replaced',
    'a text that a pattern makes longer at each place',
    `SELECT length(regexp_replace('${'a'.repeat(100_000)}', 'a', '${'b'.repeat(100_000)}', 'g')) FROM pg_class`,
  ],
  [
    'replace',
    'a text that replace makes 120,000 times as long',
    `SELECT length(replace('${'a'.repeat(4000)}', 'a', '${'b'.repeat(120_000)}')) FROM pg_class`,
  ],
  [
    'split',
    'texts that are split into characters, for each row of a join',
    `SELECT count(*) FROM pg_attribute a, pg_class b WHERE cardinality(string_to_array('${'a,'.repeat(60_000)}', ',')) > 1`,
  ],
  [
    'regex',
    'a pattern for each row of a join',
    "SELECT count(*) FROM pg_attribute a, pg_attribute b WHERE a.attname || b.attname ~ '^(([a-z_]+)+[0-9]*)*$'",
  ],
  [
    'regex-computed',
    'a pattern that each row has anew',
    "SELECT count(*) FROM pg_attribute a, pg_attribute b WHERE a.attname ~ ('(' || b.attname || '){1,100}')",
  ],
  [
    'like',
    'LIKE with many percent signs',
    `SELECT count(*) FROM pg_attribute a, pg_attribute b WHERE a.attname || b.attname LIKE '${'%a'.repeat(5000)}%b'`,
  ],
  [
    'series',
    'series for each row of a series',
    'SELECT count(*) FROM pg_class, generate_series(1, 1000000000) a, generate_series(1, 1000000000) b',
  ],
  [
    'correlated',
    'subqueries within subqueries, for each row',
    'SELECT (SELECT count(*) FROM pg_attribute b WHERE b.attnum > a.attnum AND EXISTS (SELECT 1 FROM pg_attribute c WHERE c.attname > b.attname)) FROM pg_attribute a',
  ],
  [
    'windows',
    'windows over a join',
    'SELECT row_number() OVER (PARTITION BY a.attname ORDER BY b.attname) FROM pg_attribute a, pg_attribute b',
  ],
  ['unions', 'every row 400 times', repeated(400, 'SELECT attname FROM pg_attribute', ' UNION ALL ')],
  ['rows', 'a million rows as the answer', 'SELECT a.attname, b.attname FROM pg_attribute a, pg_attribute b'],
];

/** Each ends by its second of CPU time; one that does is enough for the tests. */
const endByTime: ReadonlySet<string> = new Set(['split', 'regex-computed', 'like']);

const catalogAttacks: readonly Attack[] = catalogQueries.map(([name, aim, sql]) => ({
  name: `pg-catalog-${name}`,
  aim,
  ...(endByTime.has(name) ? { fullOnly: true } : {}),
  codes: [...bounded, '42883', '42804', '42601', '0A000', '22P02', '2201B', '42P19', '42P20', '42703'],
  run: inSessions([3, 1], (session) => sent(session, simpleQuery(sql), 1)),
}));

export const pgwireAttacks: readonly Attack[] = [...signInAttacks, ...messageAttacks, ...catalogAttacks];
