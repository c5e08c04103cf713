import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import pg from 'pg';
import Cursor from 'pg-cursor';
import QueryStream from 'pg-query-stream';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { catalogOf } from '../../sql/fixtures.ts';
import { administrator, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { hasOpenssl, makeCertificate } from '../../support/http/certificates.ts';
import { removeFolder, temporaryFolder } from '../../support/lib/child.ts';
import { pgPassword, startPgServer, type TestPgServer } from '../../support/sql/pg-server.ts';

let store: TestStore;
let server: TestPgServer;
const open: pg.Client[] = [];

beforeAll(async () => {
  store = await openTestStore();
  server = await startPgServer(queryService(store.store, catalogOf([])));
});

afterEach(async () => {
  server.become(administrator);
  for (const client of open.splice(0)) await client.end().catch(() => undefined);
});

afterAll(async () => {
  await server?.stop();
  await store?.close();
});

async function client(options: pg.ClientConfig = {}): Promise<pg.Client> {
  const { port } = server;
  const made = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'admin',
    password: pgPassword,
    database: 'millrace',
    ...options,
  });
  made.on('error', () => undefined); // the server may end the session
  await made.connect();
  open.push(made);
  return made;
}

const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error as { code?: unknown }).code ?? String(error),
  );

describe('signing in', () => {
  test.each([
    ['a wrong password', { password: 'wrong' }, '28P01'],
    ['an unknown user', { user: 'nobody' }, '28P01'],
    ['an unknown database', { database: 'elsewhere' }, '3D000'],
    ['more clients than there is room for', { user: 'late' }, '53300'],
    ['a setting that does not exist', { options: '-c nonsense=1' }, '42704'],
  ])('%s', async (_, options, code) => {
    expect(await codeOf(client(options))).toBe(code);
  });

  test('settings of the start-up packet hold, also after RESET', async () => {
    const asked = await client({ options: '-c TimeZone=Asia/Kolkata', application_name: 'a test' });
    await asked.query("SET TimeZone = 'UTC'");
    await asked.query('RESET ALL');
    const { rows } = await asked.query({
      text: "SELECT '2024-01-01'::timestamptz::text AS t",
      rowMode: 'array',
    });
    expect(rows).toHaveLength(1);
    expect((await asked.query('SHOW TimeZone')).rows).toEqual([{ TimeZone: 'Asia/Kolkata' }]);
    expect((await asked.query('SHOW application_name')).rows).toEqual([{ application_name: 'a test' }]);
  });

  test('bytes behind a request for encryption are refused', async () => {
    const socket = connect(server.port, '127.0.0.1');
    const sslRequest = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);
    socket.write(Buffer.concat([sslRequest, Buffer.from([0, 0, 0, 9, 0, 3, 0, 0, 0])]));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString('latin1')).toContain('C08P01');
  });
});

describe('extended queries', () => {
  test('parameters of each type come back as they went', async () => {
    const asked = await client();
    const { rows } = await asked.query(
      'SELECT $1::int AS i, $2::text AS t, $3::float8 AS f, $4::bool AS b, $5::numeric AS n, $6::timestamptz AS at, $7::int[] AS a',
      [7, "it's\t\\ ünïcode", 1.5, true, '12.340', new Date('2024-03-01T10:00:00.5Z'), [1, null, 3]],
    );
    expect(rows).toEqual([
      {
        i: 7,
        t: "it's\t\\ ünïcode",
        f: 1.5,
        b: true,
        n: '12.340',
        at: new Date('2024-03-01T10:00:00.5Z'),
        a: [1, null, 3],
      },
    ]);
  });

  test('a named statement is prepared once and runs with other values', async () => {
    const asked = await client();
    for (const value of [1, 2, null]) {
      const { rows } = await asked.query({
        name: 'double',
        text: 'SELECT $1::int * 2 AS d',
        values: [value],
      });
      expect(rows).toEqual([{ d: value === null ? null : 2 * value }]);
    }
    await asked.query('DEALLOCATE double');
    expect(await codeOf(asked.query('DEALLOCATE double'))).toBe('26000');
  });

  test('after an error the rest is skipped up to Sync, and the session goes on', async () => {
    const asked = await client();
    expect(await codeOf(asked.query('SELECT nothing_like_it', []))).toBe('42703');
    expect(await codeOf(asked.query('SELECT $1::int', ['x']))).toBe('22P02');
    expect((await asked.query('SELECT 1 AS one', [])).rows).toEqual([{ one: 1 }]);
  });

  test('the position of an error is that in the query', async () => {
    const asked = await client();
    const error = await asked.query("SELECT 'ä',\n  missing").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: '42703', position: '15' });
    const second = await asked.query('SELECT 1; SELECT missing').catch((thrown: unknown) => thrown);
    expect(second).toMatchObject({ code: '42703', position: '18' });
  });

  test('two columns may have one name', async () => {
    const { fields } = await (await client()).query('SELECT 1 AS a, 2 AS a');
    expect(fields.map(({ name }) => name)).toEqual(['a', 'a']);
  });
});

describe('transaction blocks', () => {
  test('a block that has failed lets nothing pass until it ends', async () => {
    const asked = await client();
    await asked.query('BEGIN');
    await asked.query('SAVEPOINT s');
    expect(await codeOf(asked.query('SELECT 1/0'))).toBe('22012');
    expect(await codeOf(asked.query('SELECT 1'))).toBe('25P02');
    await asked.query('ROLLBACK TO s');
    expect((await asked.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(await codeOf(asked.query('SELECT 1/0'))).toBe('22012');
    expect((await asked.query('COMMIT')).command).toBe('ROLLBACK');
    expect((await asked.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  test('what a block sets is undone with it', async () => {
    const asked = await client();
    const zone = async () => (await asked.query('SHOW TimeZone')).rows[0]?.TimeZone as string;
    await asked.query("BEGIN; SET TimeZone = 'Europe/Berlin'");
    expect(await zone()).toBe('Europe/Berlin');
    await asked.query('ROLLBACK');
    expect(await zone()).toBe('UTC');
    await asked.query("BEGIN; SET LOCAL TimeZone = 'Europe/Berlin'");
    await asked.query('COMMIT');
    expect(await zone()).toBe('UTC');
  });

  test('the isolation of the session is that of its transactions', async () => {
    const asked = await client();
    const level = async () =>
      (await asked.query('SHOW TRANSACTION ISOLATION LEVEL')).rows[0]?.transaction_isolation as string;
    await asked.query('SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    expect(await level()).toBe('repeatable read');
    await asked.query('BEGIN ISOLATION LEVEL SERIALIZABLE');
    expect(await level()).toBe('serializable');
    await asked.query('COMMIT');
    expect(await level()).toBe('repeatable read');
  });

  test('declared digits are told, as the modifier of the type', async () => {
    const { fields } = await (await client()).query(
      'SELECT 1.5::numeric(10,2) AS a, 1.5::numeric(10,2) * 3 AS b',
    );
    expect(fields.map(({ dataTypeModifier }) => dataTypeModifier)).toEqual([(10 << 16) + 2 + 4, -1]);
  });

  test.each([
    ['INSERT INTO app VALUES (1)', '25006'],
    ['CREATE TABLE t (a int)', '25006'],
    ['COPY app FROM STDIN', '25006'],
    ["SET client_encoding = 'LATIN1'", '22023'],
    ['SET server_version = 1', '55P02'],
    ['SELECT 1; SELECT', 'no error'],
    ['FETCH 1 FROM nothing', '34000'],
    ['DECLARE c CURSOR FOR SELECT 1', '25P01'],
    ['LISTEN x', '0A000'],
    ['BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY; COMMIT', 'no error'],
    ['SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY', 'no error'],
    ['COPY (SELECT 1) TO STDOUT (FORMAT nonsense)', '22023'],
  ])('%s: %s', async (sql, code) => {
    expect(await codeOf((await client()).query(sql))).toBe(code);
  });
});

describe('rows in parts', () => {
  const numbers = 'SELECT n FROM generate_series(1, 2500) AS n ORDER BY n';

  test('a cursor of SQL', async () => {
    const asked = await client();
    await asked.query(`BEGIN; DECLARE c CURSOR FOR ${numbers}`);
    expect((await asked.query('FETCH 2 FROM c')).rows).toEqual([{ n: 1 }, { n: 2 }]);
    await asked.query('MOVE 2496 FROM c');
    expect((await asked.query('FETCH ALL FROM c')).rows).toEqual([{ n: 2499 }, { n: 2500 }]);
    expect((await asked.query('FETCH 1 FROM c')).rows).toEqual([]);
    await asked.query('COMMIT');
    expect(await codeOf(asked.query('FETCH 1 FROM c'))).toBe('34000');
  });

  test('pg-cursor: portals with a row limit', async () => {
    const asked = await client();
    const cursor = asked.query(new Cursor<{ n: number }>(numbers));
    const sizes: number[] = [];
    let next = 1;
    for (let rows = await cursor.read(1000); rows.length > 0; rows = await cursor.read(1000)) {
      sizes.push(rows.length);
      for (const { n } of rows) expect(n).toBe(next++);
    }
    expect(sizes).toEqual([1000, 1000, 500]);
    await cursor.close();
  });

  test('pg-query-stream, left in the middle', async () => {
    const asked = await client();
    let sum = 0;
    for await (const row of asked.query(new QueryStream(numbers, [], { batchSize: 100 }))) {
      sum += (row as { n: number }).n;
      if (sum > 1000) break;
    }
    expect((await asked.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});

test('postgres.js: tagged queries, its types, and a cursor', async () => {
  const sql = postgres({
    host: '127.0.0.1',
    port: server.port,
    user: 'admin',
    password: pgPassword,
    database: 'millrace',
    max: 2,
    fetch_types: false,
  });
  const at = new Date('2024-03-01T10:00:00Z');
  expect([...(await sql`SELECT ${7}::int + 1 AS n, ${'x'}::text AS t, ${at}::timestamptz AS at`)]).toEqual([
    { n: 8, t: 'x', at },
  ]);
  const seen: number[] = [];
  for await (const rows of sql`SELECT n FROM generate_series(1, 25) AS n ORDER BY n`.cursor(10))
    seen.push(rows.length);
  expect(seen).toEqual([10, 10, 5]);
  await expect(sql`SELECT missing`).rejects.toMatchObject({ code: '42703' });
  await sql.end();
});

test('postgres.js: parameters of types that no column has', async () => {
  const sql = postgres({
    host: '127.0.0.1',
    port: server.port,
    user: 'admin',
    password: pgPassword,
    database: 'millrace',
    fetch_types: false,
  });
  const uuid = '550e8400-e29b-41d4-a716-446655440000';
  const query = () =>
    sql`SELECT ${sql.typed(uuid.toUpperCase(), 2950)} AS a, 1 AS n WHERE ${sql.typed('0.1', 700)} > 0.1`;
  // A real is compared as the double that it is.
  expect([...(await query())]).toEqual([{ a: uuid, n: 1 }]);
  // As in PostgreSQL, a type that was given is the one that is told.
  expect((await query().describe()).types).toEqual([2950, 700]);
  await expect(sql`SELECT ${sql.typed('x', 2950)}`).rejects.toMatchObject({ code: '22P02' });
  await sql.end();
});

test('a query of another connection is cancelled by its key', async () => {
  const asked = await client();
  const { processID, secretKey } = asked as unknown as { processID: number; secretKey: number };
  const endless = 'SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 100000) AS b';
  const running = codeOf(asked.query(endless));
  const cancel = async (secret: number) => {
    const packet = Buffer.alloc(16);
    packet.writeInt32BE(16, 0);
    packet.writeInt32BE(80877102, 4);
    packet.writeInt32BE(processID, 8);
    packet.writeInt32BE(secret, 12);
    const socket = connect(server.port, '127.0.0.1', () => socket.end(packet));
    await new Promise((resolve) => socket.on('close', resolve).resume());
  };
  await cancel(secretKey ^ 1);
  await cancel(secretKey);
  expect(await running).toBe('57014');
  expect((await asked.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test('statement_timeout ends a statement', async () => {
  const asked = await client();
  await asked.query('SET statement_timeout = 200');
  const endless = 'SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 100000) AS b';
  expect(await codeOf(asked.query(endless))).toBe('57014');
});

test('a session ends when its credentials have', async () => {
  const asked = await client();
  const ended = new Promise((resolve) => asked.once('error', resolve));
  server.become(undefined);
  expect(await ended).toMatchObject({ code: '28000' });
});

test('who may not query is refused, and stays connected', async () => {
  const asked = await client();
  server.become({ ...administrator, kind: 'user', privileges: [{ privilege: 'ingestor' }] });
  expect(await codeOf(asked.query('SELECT 1'))).toBe('42501');
  server.become(administrator);
  expect((await asked.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test.skipIf(!hasOpenssl)(
  'TLS where there is a certificate, and without it for who does not ask (skipped without openssl)',
  async () => {
    const folder = temporaryFolder('pg-tls');
    try {
      const files = makeCertificate(folder, 'localhost');
      expect(await codeOf(client({ ssl: true }))).toBe('Error: The server does not support SSL connections');
      await server.server.useCertificate(files);
      const encrypted = await client({
        ssl: { ca: readFileSync(files.certificate), servername: 'localhost' },
      });
      expect((await encrypted.query('SHOW ssl')).rows).toEqual([{ ssl: 'on' }]);
      const many = await encrypted.query('SELECT n FROM generate_series(1, 20000) AS n');
      expect(many.rows).toHaveLength(20_000);
      expect((await (await client()).query('SHOW ssl')).rows).toEqual([{ ssl: 'off' }]);
      expect(await codeOf(client({ ssl: true }))).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    } finally {
      removeFolder(folder);
    }
  },
);
