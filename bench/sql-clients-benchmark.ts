import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import QueryStream from 'pg-query-stream';
import { Postgres, postgresBinaries } from '../test/sql/postgres.ts';
import { freePort } from '../test/support/lib/child.ts';
import { authorization, Service } from '../test/support/service/service.ts';
import { markdownTable } from './markdown-table.ts';
import { ownCpuMicros, ownResidentBytes, processTree } from './proc.ts';

/**
 * What SQL clients get over the wire protocol, beside PostgreSQL on the same machine with the same client.
 */

const connections = 32;
const rowsRead = 1_000_000;
const idleSessions = [250, 500, 1000];
const collectMs = 3000;
/** As many as a result may have. */
const slowRows = 1_000_000;
const slowRowsPerSecond = 25_000;
/** Of each row, so that all of them are more than the buffers on the way take. */
const slowTextLength = 200;
/** How often the table of the slow reader shows the memory. */
const slowSteps = 10;
/** Below the bound on connections of one client that are not signed in. */
const signInsAtOnce = 20;

interface Receiver {
  readonly name: string;
  readonly config: pg.ClientConfig;
  /** Of its first process. */
  readonly pid: number;
  /** Of the process of the embedded engine, if it has one. */
  readonly enginePid?: number | undefined;
}

const small = {
  'SELECT 1': 'SELECT 1',
  'one row of a table': "SELECT count(*) FROM app WHERE level = 'error'",
} as const;

const large = (
  rows: number,
  textLength = 0,
): string => `SELECT n, n * 2.5::float8 AS f, 'text ' || ${textLength > 0 ? `repeat('x', ${textLength}) || n` : 'n'} AS t, '2024-01-01'::timestamptz + n * interval '1 second' AS at
  FROM generate_series(1, ${rows}) AS n`;

const cases = ['queries', 'rows', 'idle', 'slow'] as const;

/** @param words which of the cases; all without any */
export async function measureSqlClients(quick: boolean, words: readonly string[]): Promise<string> {
  const unknown = words.find((word) => !cases.some((each) => each === word));
  if (unknown !== undefined) throw new Error(`${unknown}: use ${cases.join(', ')}`);
  const has = (name: (typeof cases)[number]): boolean => words.length === 0 || words.includes(name);
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  const port = await freePort();
  const service = await Service.start({
    env: {
      MILLRACE_PG_ADDR: `127.0.0.1:${port}`,
      ...(has('idle') ? { NODE_OPTIONS: `--import ${collectsAtSignal}` } : {}),
    },
  });
  const postgres = await Postgres.start(bin);
  try {
    await service.ingest('app', [{ level: 'error' }, { level: 'info' }]);
    await service.drained();
    await postgres.execute("CREATE TABLE app (level text); INSERT INTO app VALUES ('error'), ('info')");
    const { username: user, password } = Service.credentials;
    const { pid } = service.child;
    const millrace: Receiver = {
      name: 'Millrace',
      config: { host: '127.0.0.1', port, user, password, database: 'millrace' },
      pid,
      enginePid: processTree(pid)[1],
    };
    const receivers: readonly Receiver[] = [
      millrace,
      {
        name: postgres.name,
        config: { host: postgres.directory, user: 'test', database: 'postgres' },
        pid: postgres.pid,
      },
    ];
    const tables: string[] = [];
    // First, while the service has not grown by anything else.
    if (has('idle')) tables.push(await idleTable(service, millrace));
    if (has('queries')) tables.push(await queriesTable(receivers, quick ? 2000 : 20_000));
    if (has('rows')) tables.push(await rowsTable(receivers));
    if (has('slow')) tables.push(await slowReaderTable(millrace, quick ? 0.1 : 1));
    return tables.join('\n\n');
  } finally {
    await postgres.stop();
    await service.dispose();
  }
}

async function queriesTable(receivers: readonly Receiver[], count: number): Promise<string> {
  const rows: string[][] = [];
  for (const [name, sql] of Object.entries(small)) {
    for (const receiver of receivers)
      rows.push([name, receiver.name, ...(await queries(receiver, sql, count))]);
  }
  const engine = 'of it in the engine';
  return markdownTable(
    [`${connections} connections`, 'server', 'queries/s', 'CPU of the server, us a query', engine],
    rows,
  );
}

async function rowsTable(receivers: readonly Receiver[]): Promise<string> {
  const rows: string[][] = [];
  for (const [client, read] of Object.entries(readers)) {
    for (const receiver of receivers) rows.push([client, receiver.name, ...(await stream(receiver, read))]);
  }
  return markdownTable(
    [
      `${rowsRead.toLocaleString('en')} rows of four columns`,
      'server',
      'rows/s',
      'CPU of the server, s',
      'of it in the engine',
    ],
    rows,
  );
}

/** Of all processes that a server has now, and of its engine alone. */
function cpuMicros({ pid, enginePid }: Receiver): {
  readonly all: number;
  readonly engine: number | undefined;
} {
  const all = processTree(pid).reduce((sum, each) => sum + ownCpuMicros(each), 0);
  return { all, engine: enginePid === undefined ? undefined : ownCpuMicros(enginePid) };
}

/** What `work` takes: seconds, and CPU in microseconds, while the server keeps its processes. */
async function measured(receiver: Receiver, work: () => Promise<void>) {
  const [startMs, before] = [performance.now(), cpuMicros(receiver)];
  await work();
  const seconds = (performance.now() - startMs) / 1000;
  const after = cpuMicros(receiver);
  const engine = after.engine === undefined ? undefined : after.engine - (before.engine ?? 0);
  return { seconds, all: after.all - before.all, engine };
}

async function queries(receiver: Receiver, sql: string, count: number): Promise<string[]> {
  const clients = Array.from({ length: connections }, () => new pg.Client(receiver.config));
  await Promise.all(clients.map((client) => client.connect()));
  const run = async (each: number): Promise<void> => {
    await Promise.all(
      clients.map(async (client) => {
        for (let index = 0; index < each / connections; index++) await client.query({ name: 'q', text: sql });
      }),
    );
  };
  await run(count / 4);
  const { seconds, all, engine } = await measured(receiver, () => run(count));
  await Promise.all(clients.map((client) => client.end()));
  return [
    (count / seconds).toFixed(0),
    (all / count).toFixed(0),
    engine === undefined ? '' : (engine / count).toFixed(0),
  ];
}

/** A client that has connected. */
interface RowReader {
  /** Reads all rows; how many there were. */
  read(): Promise<number>;
  close(): Promise<unknown>;
}

const readers: Readonly<Record<string, (config: pg.ClientConfig) => Promise<RowReader>>> = {
  'node-postgres': async (config) => {
    const client = new pg.Client(config);
    await client.connect();
    const read = async (): Promise<number> => {
      let rows = 0;
      for await (const _ of client.query(new QueryStream(large(rowsRead), [], { batchSize: 10_000 })))
        rows += 1;
      return rows;
    };
    return { read, close: () => client.end() };
  },
  'psycopg 3': pythonReader,
};

/** Connects, and for each line of stdin reads all rows and says how many there were. */
const psycopgScript = `
import json, sys, psycopg
config, sql = json.loads(sys.argv[1]), sys.argv[2]
with psycopg.connect(**config, autocommit=True) as connection:
    print('ready', flush=True)
    for _ in sys.stdin:
        print(len(connection.execute(sql).fetchall()), flush=True)
`;

async function pythonReader({ host, port, user, password, database }: pg.ClientConfig): Promise<RowReader> {
  const config = { host, port, user, password, dbname: database };
  const child = spawn('python3', ['-c', psycopgScript, JSON.stringify(config), large(rowsRead)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { done, value } = await lines.next();
    if (done === true) throw new Error('psycopg ended: pip install "psycopg[binary]"');
    return value;
  };
  await next();
  const read = async (): Promise<number> => {
    child.stdin.write('go\n');
    return Number(await next());
  };
  const ended = new Promise((resolve) => child.once('close', resolve));
  return {
    read,
    close: () => {
      child.stdin.end();
      return ended;
    },
  };
}

async function stream(
  receiver: Receiver,
  open: (config: pg.ClientConfig) => Promise<RowReader>,
): Promise<string[]> {
  const reader = await open(receiver.config);
  let rows = 0;
  const { seconds, all, engine } = await measured(receiver, async () => {
    rows = await reader.read();
  });
  await reader.close();
  if (rows !== rowsRead) throw new Error(`${rows} rows in place of ${rowsRead}`);
  return [
    (rows / seconds).toFixed(0),
    (all / 1e6).toFixed(2),
    engine === undefined ? '' : (engine / 1e6).toFixed(2),
  ];
}

/**
 * How much more memory the service has with sessions that have each run a query and now do nothing. Two keys
 * share them, since one may not have as many.
 */
async function idleTable(service: Service, { config, pid }: Receiver): Promise<string> {
  const keys = [await readerKey(service, 'first'), await readerKey(service, 'second')];
  let clients: pg.Client[] = [];
  const open = async (key: Pick<pg.ClientConfig, 'user' | 'password'> | undefined): Promise<void> => {
    const client = new pg.Client({ ...config, ...key });
    await client.connect();
    await client.query('SELECT 1');
    clients.push(client);
  };
  // What the first ones make that stays.
  for (let index = 0; index < signInsAtOnce; index++) await open(keys[index % keys.length]);
  await Promise.all(clients.map((client) => client.end()));
  clients = [];
  const before = await residentAfterCollection(pid);
  const rows: string[][] = [];
  for (const sessions of idleSessions) {
    while (clients.length < sessions)
      await Promise.all(Array.from({ length: signInsAtOnce }, (_, index) => open(keys[index % keys.length])));
    const opened = ownResidentBytes(pid);
    const kept = await residentAfterCollection(pid);
    rows.push([
      sessions.toLocaleString('en'),
      ...[before, opened, kept].map(megabytes),
      ((kept - before) / sessions / 1024).toFixed(1),
    ]);
  }
  await Promise.all(clients.map((client) => client.end()));
  return markdownTable(
    ['idle sessions', 'RSS before, MB', 'when they are open', 'without garbage', 'KiB each'],
    rows,
  );
}

/**
 * For `--import`: a process that collects its garbage at SIGUSR2. Otherwise resident memory says how much
 * V8 has let lie, which is more than a thousand sessions need.
 */
const collectsAtSignal = `data:text/javascript,${encodeURIComponent(`
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => collect());
`)}`;

/** Resident memory of the service when it has collected its garbage, bytes. */
async function residentAfterCollection(pid: number): Promise<number> {
  // What the first finds may hold on to more, such as buffers.
  for (let times = 0; times < 3; times++) {
    process.kill(pid, 'SIGUSR2');
    await sleep(collectMs);
  }
  return ownResidentBytes(pid);
}

/** A new API key that may read all datasets, as user and password. */
async function readerKey(service: Service, name: string): Promise<{ user: string; password: string }> {
  const send = async (method: string, path: string, body: unknown): Promise<string> => {
    const headers = { authorization, 'content-type': 'application/json' };
    const reply = await fetch(service.url + path, { method, headers, body: JSON.stringify(body) });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text;
  };
  await send('PUT', '/api/v1/role/readers', [{ privilege: 'reader' }]);
  const made = await send('POST', '/api/console/v1/apikeys', { keyName: name, roles: ['readers'] });
  return { user: name, password: (JSON.parse(made) as { apiKey: string }).apiKey };
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

/**
 * Memory while a client reads the rows of one query more slowly than the store makes them. It stops reading
 * its socket whenever it is ahead of its rate, so that what the service has sent fills the buffers of the
 * kernel first.
 */
async function slowReaderTable({ config, pid, enginePid }: Receiver, part: number): Promise<string> {
  const client = new pg.Client(config);
  await client.connect();
  const rowsOfAll = slowRows * part;
  const memory = (): readonly [service: number, engine: number] => [
    ownResidentBytes(pid),
    enginePid === undefined ? 0 : ownResidentBytes(enginePid),
  ];
  const rows: string[][] = [];
  const note = (read: number, most: readonly [number, number]): void => {
    rows.push([read.toLocaleString('en'), ...most.map(megabytes)]);
  };
  note(0, memory());
  let most = memory();
  const sample = (): void => {
    const [service, engine] = memory();
    most = [Math.max(most[0], service), Math.max(most[1], engine)];
  };
  let read = 0;
  const began = performance.now();
  // `connection` is part of node-postgres, and not of its types.
  const { stream: socket } = (client as unknown as { connection: { stream: Socket } }).connection;
  const throttle = setInterval(() => {
    sample();
    const due = ((performance.now() - began) / 1000) * slowRowsPerSecond;
    if (read > due) socket.pause();
    else socket.resume();
  }, 20);
  try {
    const query = client.query(new pg.Query(large(rowsOfAll, slowTextLength)));
    await new Promise((resolve, reject) => {
      query.on('row', () => {
        read += 1;
        if (read % (rowsOfAll / slowSteps) > 0) return;
        note(read, most);
        most = memory();
      });
      query.once('error', reject).once('end', resolve);
    });
  } finally {
    clearInterval(throttle);
    await client.end();
  }
  if (read !== rowsOfAll) throw new Error(`${read} rows in place of ${rowsOfAll}`);
  const rate = Math.round(read / ((performance.now() - began) / 1000)).toLocaleString('en');
  return markdownTable([`rows read, ${rate}/s`, 'peak RSS since, MB', 'of the engine, MB'], rows);
}
