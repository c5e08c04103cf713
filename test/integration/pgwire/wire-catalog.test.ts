import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CatalogView, DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import type { ReadableRows } from '../../../src/model/identity.ts';
import { systemRelations } from '../../../src/sql/system-catalog/system-relations.ts';
import { readCases } from '../../sql/cases.ts';
import { catalogOf, fixtures, loadEvents } from '../../sql/fixtures.ts';
import { queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { pgPassword, startPgServer, type TestPgServer } from '../../support/sql/pg-server.ts';

const metrics: DatasetInfo = {
  tenant: defaultTenant,
  name: 'secret_metrics',
  id: 'secret_metrics',
  kind: 'metrics',
  columns: new Map(),
  ready: true,
};
const catalog = catalogOf(fixtures, [metrics]);

let store: TestStore;
let server: TestPgServer;
let client: pg.Client;
let readable: (dataset: string) => ReadableRows = () => 'all';
/** Who may read what follows from privileges. Here it changes without them, so the catalog changes, too. */
const changes: unknown[] = [];
const changing: CatalogView = {
  ...catalog,
  version: () => {
    if (changes.at(-1) !== readable) changes.push(readable);
    return changes.length;
  },
};

beforeAll(async () => {
  store = await openTestStore();
  for (const fixture of fixtures) await loadEvents(store.store, fixture);
  server = await startPgServer(
    queryService(store.store, changing, { readableRows: (_, dataset) => readable(dataset) }),
  );
  client = await connect();
});

afterAll(async () => {
  await client?.end();
  await server?.stop();
  await store?.close();
});

async function connect(): Promise<pg.Client> {
  const { port } = server;
  const database = 'millrace';
  const made = new pg.Client({ host: '127.0.0.1', port, user: 'admin', password: pgPassword, database });
  await made.connect();
  return made;
}

type Rows = readonly (readonly unknown[])[];
const ask = async (text: string, values: readonly unknown[] = []): Promise<Rows> =>
  (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows;

describe('statements that clients send', () => {
  test.each(readCases('client-statements.sql'))('$place $comment', async ({ query }) => {
    await client.query(query);
    if (/^(select|with)/i.test(query)) {
      // As a prepared statement, and in binary.
      const config = { text: query, values: [], rowMode: 'array' as const, binary: true };
      const { fields } = await client.query<unknown[]>(config);
      expect(fields.length).toBeGreaterThan(0);
    }
  });
});

test('all that Npgsql asks for at connect may come in one message', async () => {
  const atConnect = readCases('client-statements.sql').filter(({ comment, query }) =>
    comment === '' ? /FROM pg_enum JOIN/.test(query) : comment.startsWith('Npgsql'),
  );
  const text = atConnect.map(({ query }) => query).join(';\n');
  const results = (await client.query(text)) as unknown as readonly pg.QueryResult[];
  expect(results.map(({ command }) => command)).toEqual(atConnect.map(() => 'SELECT'));
  expect(results.flatMap(({ rows }) => rows).filter(({ typname }) => typname === 'text')).not.toEqual([]);
});

const psql = '/usr/bin/psql';
const run = promisify(execFile);

describe.skipIf(!existsSync(psql))('psql', () => {
  const commands = (
    '\\l|\\l+|\\dn|\\dn+|\\dt|\\dt+|\\dt *.*|\\d|\\d+|\\d app|\\d+ app|\\d pg_class|\\dS|\\dv|\\dm|\\di|\\ds|\\df|\\du|\\dg|' +
    '\\dT|\\dx|\\dp|\\dd|\\db|\\dC|\\do|\\dO|\\dL|\\dA|\\dy|\\dX|\\dc|\\dD|\\det|\\des|\\dew|\\ddp|\\dF|\\dE|\\dP|\\dRp|\\dRs|' +
    '\\drds|\\dconfig|\\d secret_metrics.series|select 1 as x \\gdesc|select relname from pg_class \\gdesc'
  ).split('|');

  const output = async (...statements: readonly string[]): Promise<string> => {
    const env = {
      ...process.env,
      PGHOST: '127.0.0.1',
      PGPORT: String(server.port),
      PGUSER: 'admin',
      PGPASSWORD: pgPassword,
      PGDATABASE: 'millrace',
    };
    const running = run(psql, ['-X', '-v', 'ON_ERROR_STOP=1'], { env });
    running.child.stdin?.end(`${statements.join('\n')}\n`);
    const { stdout, stderr } = await running;
    expect(stderr.replace(/^Did not find any .*\n/gm, '')).toBe('');
    return stdout;
  };

  test.each(commands)('%s', async (command) => {
    await output(command);
  });

  test('shows datasets as tables with their columns and types', async () => {
    const listed = await output('\\pset format unaligned', '\\dt');
    for (const { name } of fixtures) expect(listed).toContain(`public|${name}|table|millrace`);
    const described = await output('\\pset format unaligned', '\\d empty');
    expect(described).toContain('p_timestamp|timestamp with time zone||not null|');
    expect(described).toContain('x|double precision|||');
  });
});

const pythonModules = 'sqlalchemy psycopg psycopg2 asyncpg pandas greenlet'.split(' ').join(', ');
const hasPython = spawnSync('python3', ['-c', `import ${pythonModules}`]).status === 0;

test.skipIf(!hasPython)(`Python: ${pythonModules} (skipped where they are not installed)`, async () => {
  const script = fileURLToPath(new URL('catalog-clients.py', import.meta.url));
  const env = { ...process.env, PGPORT: String(server.port), PGPASSWORD: pgPassword };
  const { stdout } = await run('python3', [script], { env }).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? String(error),
  }));
  const lines = stdout.trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
  expect(lines).toHaveLength(13);
});

describe('objects', () => {
  test('have the same ids in every statement, and none is 0 or taken twice', async () => {
    const first = await ask('select oid, relname from pg_class where relnamespace > 2000');
    expect(await ask('select oid, relname from pg_class where relnamespace > 2000 order by 1 desc')).toEqual(
      first.toSorted(([a], [b]) => Number(b) - Number(a)),
    );
    const ids = first.map(([id]) => Number(id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(Math.min(...ids)).toBeGreaterThan(0);
    const [[id]] = (await ask("select 'app'::regclass::oid")) as [[number]];
    expect(await ask('select relname from pg_class where oid = $1', [id])).toEqual([['app']]);
    expect(
      await ask(
        "select attrelid::regclass::text from pg_attribute where attname = 'level' and attrelid > 16384",
      ),
    ).toEqual([['app']]);
  });

  test('types, and the arrays of them', async () => {
    expect(await ask("select 'int4'::regtype::oid, 'text[]'::regtype::text, to_regtype('nope')")).toEqual([
      [23, 'text[]', null],
    ]);
    const sql = postgres({
      host: '127.0.0.1',
      port: server.port,
      user: 'admin',
      password: pgPassword,
      database: 'millrace',
      max: 1,
    });
    const rows = await sql`select typname, array[1, 2] as a from pg_type where oid = ${25}`;
    expect(rows[0]).toEqual({ typname: 'text', a: [1, 2] });
    await sql.end();
  });

  test('the schema public and the database may be named', async () => {
    expect(await ask('select count(*) from public.app')).toEqual(await ask('select count(*) from app'));
    expect(await ask('select count(*) from millrace.public.app')).toEqual(
      await ask('select count(*) from app'),
    );
  });

  test('correlated subqueries, lateral relations, recursion and windows', async () => {
    expect(
      await ask(
        `select c.relname, (select count(*) from pg_attribute a where a.attrelid = c.oid), x.n
         from pg_class c cross join lateral (select count(*) as n from pg_attribute a where a.attrelid = c.oid and a.attnotnull) x
         where c.relname in ('app', 'empty') order by 1 desc limit 1`,
      ),
    ).toEqual([['empty', '4', '1']]);
    expect(
      await ask(
        `with recursive t(n) as (select 1 union all select n + 1 from t where n < 3)
         select array_agg(n order by n desc), current_schema() from t`,
      ),
    ).toEqual([[[3, 2, 1], 'public']]);
    expect(
      await ask(
        `select attname, row_number() over (partition by attrelid order by attnum desc)
         from pg_attribute where attrelid = 'empty'::regclass order by 2 limit 1`,
      ),
    ).toEqual([['b', '1']]);
  });
});

describe('the session', () => {
  test('tells who and where', async () => {
    expect(await ask('select current_user, session_user, current_database()')).toEqual([
      ['admin', 'admin', 'millrace'],
    ]);
    const [[own]] = (await ask('select pg_backend_pid()')) as [[number]];
    expect(await ask('select pid from pg_stat_activity')).toEqual([[own]]);
    const other = await connect();
    const { rows } = await other.query('select pg_backend_pid() as pid');
    expect(rows[0].pid).not.toBe(own);
    await other.end();
  });

  test('set_config sets, and only its own session', async () => {
    expect(await ask("select set_config('application_name', 'one', false)")).toEqual([['one']]);
    expect(await ask("select current_setting('application_name')")).toEqual([['one']]);
    expect(await ask('show application_name')).toEqual([['one']]);
    const other = await connect();
    const { rows } = await other.query("select current_setting('application_name') as name");
    expect(rows[0].name).toBe('');
    await other.end();
    await client.query('begin');
    await ask("select pg_catalog.set_config('application_name', 'two', true)");
    expect(await ask("select current_setting('application_name')")).toEqual([['two']]);
    await client.query('commit');
    expect(await ask("select current_setting('application_name')")).toEqual([['one']]);
  });
});

describe('privileges', () => {
  const hidden = /\bemp\b|\bdept\b|secret_metrics|\bsalary\b/;
  const showing =
    'pg_class pg_attribute pg_tables pg_views pg_namespace pg_stat_user_tables information_schema.tables ' +
    'information_schema.columns information_schema.schemata information_schema.table_privileges';

  test.each(showing.split(' '))('%s shows what may be read', async (path) => {
    expect(JSON.stringify(await ask(`select * from ${path}`))).toMatch(hidden);
  });

  test.each(systemRelations.map(({ schema, name }) => `${schema}.${name}`))('%s', async (path) => {
    readable = (dataset) => (dataset === 'app' ? 'all' : 'none');
    try {
      const rows = await ask(`select * from ${path}`);
      expect(JSON.stringify(rows)).not.toMatch(hidden);
    } finally {
      readable = () => 'all';
    }
  });

  test('names of what may not be read are names of nothing', async () => {
    readable = (dataset) => (dataset === 'app' ? 'all' : 'none');
    try {
      expect(await ask("select to_regclass('emp'), to_regclass('nothing')")).toEqual([[null, null]]);
      const messages = await Promise.all(
        ['emp', 'nope'].map((name) =>
          ask(`select '${name}'::regclass`).then(
            () => 'found',
            (error: Error) => error.message.replaceAll(name, 'x'),
          ),
        ),
      );
      expect(messages[0]).toBe(messages[1]);
      expect(messages[0]).toContain('does not exist');
    } finally {
      readable = () => 'all';
    }
  });

  test('a tag shows the dataset, and counts nothing of the rows', async () => {
    readable = (dataset) => (dataset === 'app' ? [{ field: 'level', value: 'warn' }] : 'none');
    try {
      expect(await ask("select reltuples from pg_class where relname = 'app'")).toEqual([[-1]]);
      expect(await ask("select n_live_tup, seq_scan from pg_stat_user_tables where relname = 'app'")).toEqual(
        [[null, null]],
      );
      expect(await ask("select pg_total_relation_size('app')")).toEqual([['0']]);
    } finally {
      readable = () => 'all';
    }
  });
});
