import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import pg from 'pg';
import QueryStream from 'pg-query-stream';
import { Postgres, postgresBinaries } from '../test/sql/postgres.ts';
import { freePort } from '../test/support/lib/child.ts';
import { Service } from '../test/support/service/service.ts';
import { markdownTable } from './markdown-table.ts';
import { ownCpuMicros, ownResidentBytes, processTree } from './proc.ts';

/**
 * What SQL clients get over the wire protocol, beside PostgreSQL on the same machine with the same client.
 */

const connections = 32;
const rowsRead = 1_000_000;
const idleSessions = 1000;
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

const large = `SELECT n, n * 2.5::float8 AS f, 'text ' || n AS t, '2024-01-01'::timestamptz + n * interval '1 second' AS at
  FROM generate_series(1, ${rowsRead}) AS n`;

export async function measureSqlClients(quick: boolean): Promise<string> {
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  const port = await freePort();
  const service = await Service.start({ env: { MILLRACE_PG_ADDR: `127.0.0.1:${port}` } });
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
    const idleKiB = await idleSessionKiB(millrace);
    const rows: string[][] = [];
    for (const [name, sql] of Object.entries(small)) {
      for (const receiver of receivers)
        rows.push([name, receiver.name, ...(await queries(receiver, sql, quick ? 2000 : 20_000))]);
    }
    const streams: string[][] = [];
    for (const [client, read] of Object.entries(readers)) {
      for (const receiver of receivers)
        streams.push([client, receiver.name, ...(await stream(receiver, read))]);
    }
    return [
      markdownTable(
        [
          `${connections} connections`,
          'server',
          'queries/s',
          'CPU of the server, us a query',
          'of it in the engine',
        ],
        rows,
      ),
      markdownTable(
        [
          `${rowsRead} rows of four columns`,
          'server',
          'rows/s',
          'CPU of the server, s',
          'of it in the engine',
        ],
        streams,
      ),
      `Resident memory of the service for each of ${idleSessions} idle sessions: ${idleKiB} KiB, without the engine`,
    ].join('\n\n');
  } finally {
    await postgres.stop();
    await service.dispose();
  }
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
      for await (const _ of client.query(new QueryStream(large, [], { batchSize: 10_000 }))) rows += 1;
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
  const child = spawn('python3', ['-c', psycopgScript, JSON.stringify(config), large], {
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

/** How much more memory the service has with sessions that have each run a query and now do nothing. */
async function idleSessionKiB({ config, pid }: Receiver): Promise<string> {
  const clients: pg.Client[] = [];
  const open = async (): Promise<void> => {
    const client = new pg.Client(config);
    await client.connect();
    await client.query('SELECT 1');
    clients.push(client);
  };
  // What the first ones make that stays.
  for (let index = 0; index < signInsAtOnce; index++) await open();
  const before = ownResidentBytes(pid);
  while (clients.length < idleSessions + signInsAtOnce)
    await Promise.all(Array.from({ length: signInsAtOnce }, open));
  const after = ownResidentBytes(pid);
  await Promise.all(clients.map((client) => client.end()));
  return ((after - before) / idleSessions / 1024).toFixed(1);
}
