import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CatalogView, DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { AppError } from '../../../src/errors.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { limits } from '../../../src/limits/limits.ts';
import { auditDataset, type DatasetKind, defaultTenant } from '../../../src/model/dataset.ts';
import type { Principal, ReadableRows } from '../../../src/model/identity.ts';
import { TranslationPool } from '../../../src/query/translation-pool.ts';
import { Translator } from '../../../src/query/translator.ts';
import type { Translation } from '../../../src/sql/translate-query.ts';

const pool = new TranslationPool({
  worker: new URL('../../../dist/workers/translate.js', import.meta.url),
  version: '1.2.3',
  threads: 2,
  shared: false,
  maxCpuMs: 10_000,
  clock: systemClock,
  log: createLogger('silent'),
});
beforeAll(async () => {
  // The same thread takes all tasks that come one by one.
  await new Rig().sql('select 1');
});
afterAll(() => pool.close());

type Entry = DatasetInfo & { ready: boolean; readonly columns: Map<string, { name: string; type: string }> };

/** A catalog that changes, real threads, and tasks that are counted. */
class Rig {
  readonly tenant: string;
  readonly entries = new Map<string, Entry>();
  readable: (dataset: string) => ReadableRows = () => 'all';
  /** What happens while a query waits for data on its way; undefined if there is none. */
  pending: (() => void) | undefined;
  waits: (readonly string[])[] = [];
  tasks = 0;
  #version = 0;
  readonly translator: Translator;

  constructor(tenant = defaultTenant) {
    this.tenant = tenant;
    const catalog: CatalogView = {
      version: () => this.#version,
      get: (_, name) => this.entries.get(name),
      list: () => [...this.entries.values()],
    };
    this.translator = new Translator({
      catalog,
      translations: {
        run: (request) => {
          this.tasks += 1;
          return pool.run(request);
        },
      },
      readableRows: (_, dataset) => this.readable(dataset),
      storedSizes: () => Promise.resolve(undefined),
      waitForPending: async (_, names) => {
        this.waits.push(names);
        this.pending?.();
        return this.pending !== undefined;
      },
    });
  }

  /** @param columns as the store names them, such as `level:str` */
  put(name: string, columns: readonly string[], kind: DatasetKind = 'events', ready = true): Entry {
    const entry: Entry = { tenant: this.tenant, name, id: name, kind, columns: new Map(), ready };
    this.entries.set(name, entry);
    this.add(name, columns);
    return entry;
  }

  add(name: string, columns: readonly string[]): void {
    for (const column of columns)
      this.entries.get(name)?.columns.set(column, { name: column, type: 'Nullable(String)' });
    this.#version += 1;
  }

  async translate(sql: string, identity = 'u'): Promise<Translation> {
    const principal: Principal = { kind: 'user', name: identity, tenant: this.tenant, privileges: [] };
    const times = { startMicros: undefined, endMicros: undefined, nowMicros: 0 };
    return await this.translator.translate({ principal, tenant: this.tenant, sql, times });
  }

  async sql(sql: string): Promise<string> {
    return (await this.translate(sql)).sql;
  }

  async columns(sql: string): Promise<readonly string[]> {
    return (await this.translate(sql)).columns.map(({ name }) => name);
  }

  /** Code and message of the refusal. */
  async refusal(sql: string): Promise<string> {
    const thrown = await this.translate(sql).then(
      () => undefined,
      (error: unknown) => error,
    );
    return thrown instanceof AppError ? `${thrown.code}: ${thrown.message}` : `${thrown}`;
  }
}

describe('a thread remembers columns, and', () => {
  test('sees those that come, go and change', async () => {
    const rig = new Rig();
    rig.put('app', ['level:str']);
    rig.put('other', ['x:num']);
    expect(await rig.columns('select * from app')).toEqual(['p_timestamp', 'level']);
    rig.add('app', ['ms:num']);
    expect(await rig.columns('select * from app')).toEqual(['p_timestamp', 'level', 'ms']);
    // Another dataset changes: nothing has to be sent again, and nothing changes here.
    rig.add('other', ['y:num']);
    expect(await rig.columns('select * from app')).toEqual(['p_timestamp', 'level', 'ms']);
    // As many columns as before.
    rig.entries.get('app')?.columns.delete('ms:num');
    rig.add('app', ['size:num']);
    expect(await rig.columns('select * from app')).toEqual(['p_timestamp', 'level', 'size']);
    // Deleted, and made again under the same name.
    rig.put('app', ['level:num']);
    const { sql, columns } = await rig.translate('select * from app');
    expect(columns.map(({ name, type }) => ({ name, type: type.label }))).toEqual([
      { name: 'p_timestamp', type: 'timestamp with time zone' },
      { name: 'level', type: 'double precision' },
    ]);
    expect(sql).not.toContain('size');
    rig.entries.delete('app');
    rig.add('app', []);
    expect(await rig.refusal('select * from app')).toContain('sql_unknown_relation');
  });

  test('keeps those of tenants apart', async () => {
    const [one, two] = [new Rig('one'), new Rig('two')];
    one.put('app', ['mine:str']);
    two.put('app', ['yours:str']);
    expect(await one.columns('select * from app')).toEqual(['p_timestamp', 'mine']);
    expect(await two.columns('select * from app')).toEqual(['p_timestamp', 'yours']);
    expect(await two.refusal('select mine from app')).toContain('sql_unknown_column');
    expect(await one.sql('select mine from app')).toContain('`t_one`');
  });

  test('never who may read which rows', async () => {
    const rig = new Rig();
    rig.put('app', ['level:str']);
    const ask = (round: number) => rig.sql(`select level from app -- ${round}`);
    expect(await ask(1)).not.toContain('PREWHERE');
    rig.readable = () => [{ field: 'level', value: 'info' }];
    expect(await ask(2)).toContain("PREWHERE `level:str` = 'info'");
    rig.readable = () => [{ field: 'level', value: 'warn' }];
    expect(await ask(3)).toContain("PREWHERE `level:str` = 'warn'");
    rig.readable = () => 'none';
    expect(await rig.refusal('select level from app')).toBe(
      'forbidden: the credentials do not allow reading dataset "app"',
    );
    rig.readable = () => 'all';
    expect(await ask(4)).not.toContain('PREWHERE');
  });
});

describe('what a principal may not read', () => {
  test('is not suggested, not listed, and not described', async () => {
    const rig = new Rig();
    rig.put('app', ['level:str']);
    rig.put('salaries', ['amount:num']);
    rig.put(auditDataset, ['who:str']);
    rig.readable = (dataset) => (dataset === 'app' ? 'all' : 'none');
    expect(await rig.refusal('select 1 from salarie')).toBe(
      'sql_unknown_relation: relation "salarie" does not exist (line 1, column 15)\nselect 1 from salarie\n              ^',
    );
    expect(await rig.refusal('select 1 from appp')).toContain('did you mean "app"?');
    expect(await rig.refusal('select amount from salaries')).toContain('forbidden');
    expect(await rig.refusal(`select 1 from ${auditDataset}`)).toContain('sql_unknown_relation');
    // A CTE of that name is no dataset.
    expect(await rig.columns('with salaries as (select 1 as one) select * from salaries')).toEqual(['one']);
    for (const view of ['tables', 'columns']) {
      const sql = await rig.sql(`select * from information_schema.${view}`);
      expect(sql).toMatch(/['"]app['"]/);
      expect(sql).not.toMatch(/salaries|amount|millrace_audit|['"]who['"]/);
    }
  });
});

describe('data on its way', () => {
  test('a dataset without tables is waited for, by nobody but who asks', async () => {
    const rig = new Rig();
    rig.put('new', ['level:str'], 'events', false);
    rig.pending = () => {
      rig.put('new', ['level:str']);
    };
    expect(await rig.columns('select level from new')).toEqual(['level']);
    expect(rig.waits).toEqual([['new']]);
    expect(rig.tasks).toBe(2);
  });

  test('and refused if it does not come', async () => {
    const rig = new Rig();
    rig.put('new', [], 'events', false);
    expect(await rig.refusal('select level from new')).toBe(
      'store_unavailable: the dataset "new" is new and not in the store yet',
    );
    expect(rig.tasks).toBe(2);
  });

  test('a column or a dataset that comes later is found', async () => {
    const rig = new Rig();
    rig.put('app', ['level:str']);
    rig.pending = () => rig.add('app', ['ms:num']);
    expect(await rig.columns('select ms from app')).toEqual(['ms']);
    rig.pending = () => {
      rig.put('late', ['x:str']);
    };
    expect(await rig.columns('select x from late')).toEqual(['x']);
    expect(rig.waits).toEqual([['app'], ['late']]);
    expect(rig.tasks).toBe(4);
  });

  test('where nothing is on its way, an unknown name is refused after one task', async () => {
    const rig = new Rig();
    rig.put('app', ['level:str']);
    expect(await rig.refusal('select ms from app')).toContain('sql_unknown_column');
    expect(rig.tasks).toBe(1);
    // Other refusals wait for nothing.
    await rig.refusal('select level + from app');
    expect(rig.waits).toEqual([['app']]);
  });
});

describe('information_schema', () => {
  const wide = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${name}_${index}:str`);

  test('shows all datasets and columns, which come in several messages', async () => {
    const rig = new Rig();
    const datasets = 30;
    for (let index = 0; index < datasets; index += 1) rig.put(`d${index}`, wide(`f${index}`, 200));
    rig.put('m', [], 'metrics');
    for (let round = 0; round < 2; round += 1) {
      const sql = await rig.sql(`select column_name from information_schema.columns -- ${round}`);
      for (let index = 0; index < datasets; index += 1)
        expect(sql.includes(`"f${index}_199"`), String(index)).toBe(true);
    }
    const tables = await rig.sql('select table_name, table_type from information_schema.tables');
    for (const name of ['"d0"', '"d29"', '"m"', '"series"']) expect(tables).toContain(name);
    expect(tables).not.toContain('f0_');
    // Together with a dataset that is read.
    const both = 'select d0.f0_7, t.table_name from d0, information_schema.tables t';
    expect(await rig.columns(both)).toEqual(['f0_7', 'table_name']);
  });

  test('of more columns than fit a statement is refused, and its tables are not', async () => {
    const rig = new Rig();
    const long = 'x'.repeat(200);
    const count = Math.ceil(limits.maxCatalogSqlLength / long.length / 500) + 1;
    for (let index = 0; index < count; index += 1) rig.put(`d${index}`, wide(long, 500));
    expect(await rig.refusal('select count(*) from information_schema.columns')).toContain('sql_too_large');
    expect(await rig.columns('select table_name from information_schema.tables')).toEqual(['table_name']);
    expect(await rig.columns('select p_timestamp from d3')).toEqual(['p_timestamp']);
  });

  test('a name longer than identifiers can be is found by what is left of it', async () => {
    const rig = new Rig();
    const name = `a${'b'.repeat(100)}`;
    rig.put(name, ['level:str']);
    rig.put('other', ['x:str']);
    expect((await rig.translate(`select level from ${name}`)).datasets).toEqual([name]);
    const both = `select level, table_name from ${name}, information_schema.tables`;
    expect((await rig.translate(both)).datasets).toEqual([name]);
  });
});

test('threads do not keep a process alive', async () => {
  const url = (path: string) => JSON.stringify(new URL(`../../../dist/${path}`, import.meta.url).href);
  const program = `
    import { TranslationPool } from ${url('src/query/translation-pool.js')};
    import { systemClock as clock } from ${url('src/lib/clock.js')};
    const worker = new URL(${url('workers/translate.js')});
    const pool = new TranslationPool({ worker, version: '1', threads: 2, shared: false, maxCpuMs: 10_000, clock });
    const task = { text: 'select 1 as one', tenant: 't', range: { start: false, end: false } };
    console.log((await pool.run({ task, identity: 'u', answerCatalog: async () => {} })).kind);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  expect(stdout.trim()).toBe('translated');
});

test('at the same time, each gets its own', async () => {
  const rigs = Array.from({ length: 5 }, (_, index) => {
    const rig = new Rig(`tenant${index}`);
    rig.put('app', [`f${index}:str`]);
    return rig;
  });
  const all = rigs.flatMap((rig, index) =>
    Array.from({ length: 10 }, async (_, round) => {
      const { sql, columns } = await rig.translate(`select * from app -- ${round}`, `u${round % 3}`);
      expect(sql).toContain(`\`t_tenant${index}\``);
      expect(columns.map(({ name }) => name)).toEqual(['p_timestamp', `f${index}`]);
    }),
  );
  await Promise.all(all);
});
