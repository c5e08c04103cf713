import pg from 'pg';
import QueryStream from 'pg-query-stream';
import { Postgres, postgresBinaries } from '../test/sql/postgres.ts';
import { freePort } from '../test/support/lib/child.ts';
import { Service } from '../test/support/service/service.ts';
import { markdownTable } from './markdown-table.ts';
import { cpuSeconds } from './proc.ts';

/**
 * What SQL clients get over the wire protocol, beside PostgreSQL on the same machine with the same client.
 */

const connections = 32;
const rowsRead = 1_000_000;

interface Receiver {
  readonly name: string;
  readonly config: pg.ClientConfig;
  /** Of the server with all its processes. */
  readonly pid: number;
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
    const receivers: readonly Receiver[] = [
      {
        name: 'Millrace',
        config: { host: '127.0.0.1', port, user, password, database: 'millrace' },
        pid: service.child.pid,
      },
      {
        name: postgres.name,
        config: { host: postgres.directory, user: 'test', database: 'postgres' },
        pid: postgres.pid,
      },
    ];
    const rows: string[][] = [];
    for (const [name, sql] of Object.entries(small)) {
      for (const receiver of receivers)
        rows.push([name, receiver.name, ...(await queries(receiver, sql, quick ? 2000 : 20_000))]);
    }
    const streams: string[][] = [];
    for (const receiver of receivers) streams.push([receiver.name, ...(await stream(receiver))]);
    return [
      markdownTable(
        [`${connections} connections`, 'server', 'queries/s', 'CPU of the server, us a query'],
        rows,
      ),
      markdownTable([`${rowsRead} rows of four columns`, 'rows/s', 'CPU of the server, s'], streams),
    ].join('\n\n');
  } finally {
    await postgres.stop();
    await service.dispose();
  }
}

async function queries({ config, pid }: Receiver, sql: string, count: number): Promise<string[]> {
  const clients = Array.from({ length: connections }, () => new pg.Client(config));
  await Promise.all(clients.map((client) => client.connect()));
  const run = async (each: number) => {
    await Promise.all(
      clients.map(async (client) => {
        for (let index = 0; index < each / connections; index++) await client.query({ name: 'q', text: sql });
      }),
    );
  };
  await run(count / 4);
  const [startMs, cpuBefore] = [performance.now(), cpuSeconds(pid)];
  await run(count);
  const seconds = (performance.now() - startMs) / 1000;
  const cpu = cpuSeconds(pid) - cpuBefore;
  await Promise.all(clients.map((client) => client.end()));
  return [(count / seconds).toFixed(0), ((cpu / count) * 1e6).toFixed(0)];
}

async function stream({ config, pid }: Receiver): Promise<string[]> {
  const client = new pg.Client(config);
  await client.connect();
  const [startMs, cpuBefore] = [performance.now(), cpuSeconds(pid)];
  let rows = 0;
  for await (const _ of client.query(new QueryStream(large, [], { batchSize: 10_000 }))) rows += 1;
  if (rows !== rowsRead) throw new Error(`${rows} rows in place of ${rowsRead}`);
  const seconds = (performance.now() - startMs) / 1000;
  const cpu = cpuSeconds(pid) - cpuBefore;
  await client.end();
  return [(rows / seconds).toFixed(0), cpu.toFixed(2)];
}
