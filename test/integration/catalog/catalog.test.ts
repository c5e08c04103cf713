import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { createDataset } from '../../../src/catalog/create-dataset.ts';
import { DatasetOptionsFile } from '../../../src/catalog/dataset-options-file.ts';
import { Tenants } from '../../../src/catalog/tenants.ts';
import type { Store } from '../../../src/clickhouse/store.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { auditDataset, tablesOfKind } from '../../../src/model/dataset.ts';
import { defaultLimits, serviceLimits } from '../../../src/model/tenant-limits.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { withFault } from '../../support/wal/write-path.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

async function openCatalog(): Promise<Catalog> {
  const catalog = new Catalog(test.store, new MetadataLog(test.store, 'node-1'));
  await catalog.load();
  return catalog;
}

const number = (name: string) => ({ name: `${name}:num`, type: 'Nullable(Float64)' });
const time = { name: 'p_timestamp', type: "DateTime64(6, 'UTC')" };

describe('the catalog', () => {
  it('shows a dataset from its first durable write on, and knows it after a restart', async () => {
    const catalog = await openCatalog();
    const claim = catalog.claim('default', 'first', 'events', [time, number('a')]);
    expect(catalog.get('default', 'first')).toBeUndefined();
    claim.confirm();
    expect(catalog.get('default', 'first')).toMatchObject({ kind: 'events', ready: false });
    await catalog.ensure('default', 'first', 'events', [time, number('a')]);
    expect(catalog.get('default', 'first')?.ready).toBe(true);

    const after = (await openCatalog()).get('default', 'first');
    expect(after).toMatchObject({ kind: 'events', ready: true });
    expect([...(after?.columns.keys() ?? [])]).toEqual(['p_timestamp', 'a:num']);
  });

  it('forgets a dataset whose only write failed, and lets it become another kind', async () => {
    const catalog = await openCatalog();
    catalog.claim('default', 'failed', 'events', [time]).release();
    catalog.claim('default', 'failed', 'metrics', []).confirm();
    expect(catalog.get('default', 'failed')?.kind).toBe('metrics');
  });

  it('gives a tenant another version for each change of what it shows, and other tenants none', async () => {
    const catalog = await openCatalog();
    const seen = [catalog.version('default')];
    const other = catalog.version('acme');
    catalog.claim('default', 'versioned', 'events', [time, number('a')]).confirm();
    seen.push(catalog.version('default'));
    await catalog.ensure('default', 'versioned', 'events', [time, number('a')]);
    seen.push(catalog.version('default'));
    catalog.claim('default', 'versioned', 'events', [number('b')]).confirm();
    await catalog.ensure('default', 'versioned', 'events', [number('b')]);
    seen.push(catalog.version('default'));
    expect(new Set(seen).size).toBe(seen.length);
    await catalog.ensure('default', 'versioned', 'events', [number('b')]);
    expect([catalog.version('default'), catalog.version('acme')]).toEqual([seen.at(-1), other]);
  });

  it('refuses another kind while the first write is still under way, naming both', async () => {
    const catalog = await openCatalog();
    const claim = catalog.claim('default', 'busy', 'events', [time]);
    expect(() => catalog.claim('default', 'busy', 'metrics', [])).toThrow(
      'busy holds events; metrics cannot',
    );
    expect(() => catalog.checkKind('default', 'busy', 'metrics')).toThrow('busy holds events');
    claim.release();
  });

  it('refuses more datasets than a tenant may have, but for the audit trail and those that are there', async () => {
    const metadata = new MetadataLog(test.store, 'node-1');
    const few = serviceLimits({ ...defaultLimits, maxDatasets: 2, maxColumns: 3 });
    const catalog = new Catalog(test.store, metadata, new Tenants(metadata, () => {}, few));
    await catalog.load();
    catalog.claim('crowded', 'one', 'events', [time]).confirm();
    const second = catalog.claim('crowded', 'two', 'events', [time]);
    const refused = () => catalog.claim('crowded', 'three', 'logs', []);
    expect(refused).toThrow('there are 2 datasets; at most 2 are allowed');
    await expect(createDataset(catalog, 'crowded', 'three', 'events')).rejects.toMatchObject({
      code: 'too_many_datasets',
    });
    catalog.claim('crowded', auditDataset, 'events', [time]).release();
    catalog.claim('other', 'one', 'events', [time]).confirm();
    catalog.claim('crowded', 'one', 'events', [time]).confirm();
    expect(catalog.excess('crowded', 'one', [number('a'), number('b'), number('c')])).toEqual(
      new Set(['c:num']),
    );
    catalog.recover('crowded', 'of-before', 'events');
    expect(refused).toThrow('there are 3 datasets');
    second.release();
    expect(catalog.get('crowded', 'of-before')?.kind).toBe('events');
  });

  it('keeps for the heir of a deleted dataset what came before the store was read, also while it is being read', async () => {
    const writer = await openCatalog();
    for (const name of ['inherited', 'of-others']) {
      writer.claim('default', name, 'events', [time]).confirm();
      await writer.ensure('default', name, 'events', [time]);
    }
    await writer.end('default', 'inherited');

    const store = withFault(test.store, (_, insert) => insert());
    const select: Store['select'] = () => Promise.reject(new Error('cut off'));
    const reader = new Catalog({ ...store, select }, new MetadataLog(test.store, 'node-1'));
    const presumed = reader.idOf('default', 'inherited');
    const heir = () => reader.destination('default', presumed, 'events', true);
    expect(heir()).toBe('inherited');
    await expect(reader.load()).rejects.toThrow('cut off');
    expect(reader.loaded).toBe(false);
    expect(heir()).toBe('inherited.2');
    expect(reader.destination('default', presumed, 'events', false)).toBeUndefined();
    // What is deleted now came after it.
    await writer.refresh();
    writer.claim('default', 'inherited.2', 'events', [time]).confirm();
    await writer.ensure('default', 'inherited.2', 'events', [time]);
    await writer.end('default', 'inherited');
    await reader.datasets.refresh();
    expect(reader.destination('default', 'inherited.2', 'events', true)).toBeUndefined();
  });

  it('reads the columns of all datasets in a bounded number of queries', async () => {
    const writer = await openCatalog();
    const names = Array.from({ length: 20 }, (_, index) => `many-${index}`);
    for (const name of names) {
      writer.claim('default', name, 'events', [time, number(`of-${name}`)]).confirm();
      await writer.ensure('default', name, 'events', [time, number(`of-${name}`)]);
    }
    let selects = 0;
    const counting = withFault(test.store, (_, insert) => insert());
    const select: Store['select'] = (query, format) => {
      selects += 1;
      return counting.select(query, format);
    };
    const reader = new Catalog({ ...counting, select }, new MetadataLog(test.store, 'node-1'));
    await reader.load();
    expect(selects).toBe(1);
    for (const name of names) {
      expect([...(reader.get('default', name)?.columns.keys() ?? [])]).toEqual([
        'p_timestamp',
        `of-${name}:num`,
      ]);
    }
  });

  it('has room for as many columns as a dataset may have, and then for none, also among writes under way', async () => {
    const catalog = await openCatalog();
    const excess = (...names: string[]) => [...catalog.excess('default', 'wide', names.map(number))];
    const many = Array.from({ length: limits.maxColumnsPerDataset - 2 }, (_, index) => number(`f${index}`));
    catalog.claim('default', 'wide', 'events', [time, ...many]).confirm();
    expect(excess('f0', 'x', 'y', 'z')).toEqual(['y:num', 'z:num']);
    const first = catalog.claim('default', 'wide', 'events', [number('x')]);
    expect(excess('x', 'y')).toEqual(['y:num']);
    first.release();
    expect(excess('y', 'x')).toEqual(['x:num']);
    catalog.claim('default', 'wide', 'events', [number('y')]).confirm();
    expect(excess('y', 'f0', 'x')).toEqual(['x:num']);
    // A field that has a column gets others for other types.
    const other = { name: 'y:str', type: 'Nullable(String)' };
    expect(catalog.excess('default', 'wide', [other, number('x')])).toEqual(new Set(['x:num']));
  });

  it('gives no new field a column once there is a map for them, also after a crash', async () => {
    const catalog = await openCatalog();
    const map = { name: 'p_overflow', type: 'Map(LowCardinality(String), String)' };
    catalog.claim('default', 'full', 'events', [time, number('a'), map]).confirm();
    await catalog.ensure('default', 'full', 'events', [time, number('a'), map]);
    expect(catalog.excess('default', 'full', [time, number('a'), number('b')])).toEqual(new Set(['b:num']));
    const after = await openCatalog();
    expect(after.excess('default', 'full', [number('b')])).toEqual(new Set(['b:num']));
    // The log has it, and the store does not yet.
    after.recover('default', 'fresh', 'events', false, [time, map]);
    expect(after.excess('default', 'fresh', [number('b')])).toEqual(new Set(['b:num']));
  });

  it('learns of columns that other nodes add, and of a map, and says so to those who remember', async () => {
    const [one, two] = [await openCatalog(), await openCatalog()];
    const map = { name: 'p_overflow', type: 'Map(LowCardinality(String), String)' };
    one.claim('default', 'shared', 'events', [time, number('a')]).confirm();
    await one.ensure('default', 'shared', 'events', [time, number('a')]);
    await two.refresh();
    const seen = () => [...(two.get('default', 'shared')?.columns.keys() ?? [])];
    expect(seen()).toEqual(['p_timestamp', 'a:num']);
    for (const column of [number('b'), map]) {
      one.claim('default', 'shared', 'events', [column]).confirm();
      await one.ensure('default', 'shared', 'events', [column]);
      const version = two.version('default');
      await two.refresh();
      expect(seen()).toContain(column.name);
      expect(two.version('default')).not.toBe(version);
    }
    const version = two.version('default');
    await two.refresh();
    expect(two.version('default')).toBe(version);
    expect(two.excess('default', 'shared', [number('a'), number('c')])).toEqual(new Set(['c:num']));
  });

  it('makes a dataset as it is asked for, and knows it after a restart and on other nodes', async () => {
    const options = { partitionField: 'shop', timeField: 'at' };
    const catalog = await openCatalog();
    const other = await openCatalog();
    await createDataset(catalog, 'default', 'asked', 'events', options);
    await expect(createDataset(other, 'default', 'asked', 'events', options)).rejects.toMatchObject({
      code: 'dataset_exists',
    });
    await other.refresh();
    for (const each of [catalog, other, await openCatalog()]) {
      expect(each.optionsOf('default', 'asked')).toEqual(options);
      expect(each.get('default', 'asked')).toMatchObject({ ready: true });
      // Columns that exist only for the order key are not shown before they have values.
      expect([...(each.get('default', 'asked')?.columns.keys() ?? [])]).toEqual(['p_timestamp']);
    }
    await catalog.datasets.setRetention('default', 'asked', { description: '', days: 1 });
    expect(catalog.optionsOf('default', 'asked')).toEqual(options);
    await catalog.ensure('default', 'asked', 'events', [time, number('shop')]);
    const after = (await openCatalog()).get('default', 'asked');
    expect([...(after?.columns.keys() ?? [])].sort()).toEqual(['p_timestamp', 'shop:num']);
    const [table] = await test.rows(
      "SELECT sorting_key FROM system.tables WHERE database = 't_default' AND name = 'asked.events'",
    );
    expect(table).toEqual({ sorting_key: '`shop:str`, `shop:num`, `shop:bool`, p_timestamp' });
  });

  it('completes a dataset that was noted and not made, when asked for the same again', async () => {
    const options = { timeField: 'at' };
    const catalog = await openCatalog();
    const other = await openCatalog();
    await catalog.datasets.register('default', 'half', 'events', options);
    await other.refresh();
    expect(other.get('default', 'half')).toMatchObject({ ready: false });
    const withOthers = createDataset(catalog, 'default', 'half', 'events', { timeField: 'else' });
    await expect(withOthers).rejects.toMatchObject({ code: 'dataset_exists' });
    await createDataset(catalog, 'default', 'half', 'events', options);
    await other.refresh();
    for (const each of [catalog, other]) expect(each.get('default', 'half')).toMatchObject({ ready: true });
  });

  it('makes the table of a first write as another node has noted it meanwhile', async () => {
    const [maker, writer] = [await openCatalog(), await openCatalog()];
    await maker.datasets.register('default', 'met', 'events', { partitionField: 'shop' });
    writer.claim('default', 'met', 'events', [time, number('shop')]).confirm();
    await writer.ensure('default', 'met', 'events', [time, number('shop')]);
    maker.claim('default', 'met', 'events', []).confirm();
    await maker.ensure('default', 'met', 'events', []);
    const tables = await test.rows("SELECT sorting_key FROM system.tables WHERE name = 'met.events'");
    expect(tables).toEqual([{ sorting_key: '`shop:str`, `shop:num`, `shop:bool`, p_timestamp' }]);
    for (const node of [maker, writer]) {
      expect([...(node.get('default', 'met')?.columns.keys() ?? [])]).toEqual(['p_timestamp', 'shop:num']);
    }
  });

  it('notes datasets that are new at the same time together', async () => {
    const catalog = await openCatalog();
    const names = Array.from({ length: 12 }, (_, index) => `together-${index}`);
    await Promise.all(
      names.map((name) => {
        catalog.claim('default', name, 'events', [time, number(name)]).confirm();
        return catalog.ensure('default', name, 'events', [time, number(name)]);
      }),
    );
    const [noted] = await test.rows(
      `SELECT toUInt32(count()) AS entries, uniqExact(_block_number) <= 3 AS shared
       FROM millrace.metadata WHERE startsWith(key, 'together-')`,
    );
    expect(noted).toEqual({ entries: names.length, shared: 1 });
    const other = await openCatalog();
    for (const name of names) {
      expect([...(other.get('default', name)?.columns.keys() ?? [])]).toEqual(['p_timestamp', `${name}:num`]);
    }
  });

  it('adds columns with any name that a field may have', async () => {
    const catalog = await openCatalog();
    const names = ['a b', 'ö', "quote'", 'tick`', 'back\\slash', 'dot.ted', 'p_timestamp', ':', '{x}', ';'];
    const columns = [time, ...names.map(number)];
    catalog.claim('default', 'odd', 'events', columns).confirm();
    await catalog.ensure('default', 'odd', 'events', columns);
    const stored = (await openCatalog()).get('default', 'odd');
    expect([...(stored?.columns.keys() ?? [])]).toEqual(columns.map((column) => column.name));
  });

  it('makes tables once when many inserts ask at the same time', async () => {
    const catalog = await openCatalog();
    catalog.claim('default', 'm', 'metrics', []).confirm();
    await Promise.all(Array.from({ length: 10 }, () => catalog.ensure('default', 'm', 'metrics', [])));
    const rows = await test.rows("SELECT count() AS entries FROM millrace.metadata WHERE key = 'm'");
    expect(rows).toEqual([{ entries: 1 }]);
  });

  describe('before the store was read', () => {
    const unread = () => new Catalog(test.store, new MetadataLog(test.store, 'node-1'));

    it('takes writes, and says of what it does not know that it does not know', () => {
      const catalog = unread();
      catalog.claim('default', 'early', 'events', [time]).confirm();
      expect(catalog.get('default', 'early')).toMatchObject({ kind: 'events', ready: false });
      expect(() => catalog.claim('default', 'early', 'metrics', [])).toThrow('early holds events');
      const unknown = expect.objectContaining({ code: 'store_unavailable' });
      expect(() => catalog.get('default', 'unknown')).toThrow(unknown);
      expect(() => catalog.list('default')).toThrow(unknown);
    });

    it('makes no tables, since the store may know better', async () => {
      const catalog = unread();
      catalog.claim('default', 'early-table', 'events', [time]).confirm();
      const early = catalog.ensure('default', 'early-table', 'events', [time]);
      await expect(early).rejects.toMatchObject({ name: 'StoreError', retryable: true });
      expect(await catalog.load()).toEqual([]);
      await catalog.ensure('default', 'early-table', 'events', [time]);
      expect(catalog.get('default', 'early-table')?.ready).toBe(true);
    });

    it('adds what it was told meanwhile to what the store knows', async () => {
      const before = await openCatalog();
      before.claim('default', 'both', 'events', [time, number('old')]).confirm();
      await before.ensure('default', 'both', 'events', [time, number('old')]);
      const catalog = unread();
      const claim = catalog.claim('default', 'both', 'events', [time, number('new')]);
      await catalog.load();
      claim.confirm();
      await catalog.ensure('default', 'both', 'events', [time, number('new')]);
      expect([...(catalog.get('default', 'both')?.columns.keys() ?? [])]).toEqual([
        'p_timestamp',
        'old:num',
        'new:num',
      ]);
    });

    it('keeps the kind of the store, and gives acknowledged rows of another kind tables of their own', async () => {
      const before = await openCatalog();
      before.claim('default', 'torn', 'events', [time]).confirm();
      await before.ensure('default', 'torn', 'events', [time]);

      const catalog = unread();
      catalog.claim('default', 'torn', 'metrics', []).confirm();
      const conflict = { tenant: 'default', dataset: 'torn', kind: 'events', written: 'metrics' };
      expect(await catalog.load()).toEqual([conflict]);
      expect(catalog.get('default', 'torn')).toMatchObject({ kind: 'events', ready: true });
      expect(() => catalog.checkKind('default', 'torn', 'metrics')).toThrow('torn holds events; metrics');
      catalog.claim('default', 'torn', 'events', [time]).confirm();

      await catalog.ensure('default', 'torn', 'metrics', []);
      const tables = await test.rows("SELECT name FROM system.tables WHERE name LIKE 'torn.%' ORDER BY name");
      expect(tables.map(({ name }) => name)).toEqual([
        'torn.events',
        ...tablesOfKind.metrics.map((table) => `torn.${table}`).toSorted(),
      ]);
      expect((await openCatalog()).get('default', 'torn')?.kind).toBe('events');
    });

    it('finds both kinds again in a log that was written on both sides of the answer', async () => {
      const before = await openCatalog();
      before.claim('default', 'torn-log', 'events', [time]).confirm();
      await before.ensure('default', 'torn-log', 'events', [time]);
      for (const loadFirst of [true, false]) {
        const catalog = unread();
        if (loadFirst) await catalog.load();
        catalog.recover('default', 'torn-log', 'metrics');
        catalog.recover('default', 'torn-log', 'events');
        await catalog.load();
        await catalog.ensure('default', 'torn-log', 'metrics', []);
        await catalog.ensure('default', 'torn-log', 'events', [time, number('b')]);
        expect(catalog.get('default', 'torn-log')?.kind).toBe('events');
        expect(catalog.list('default').filter(({ name }) => name === 'torn-log')).toHaveLength(1);
      }
    });
  });

  it('can repeat everything after a crash before the metadata log was told', async () => {
    const first = await openCatalog();
    first.claim('default', 'crashed', 'events', [time, number('a')]).confirm();
    await first.ensure('default', 'crashed', 'events', [time, number('a')]);
    await test.store.command(
      "ALTER TABLE millrace.metadata DELETE WHERE key = 'crashed' SETTINGS mutations_sync = 1",
    );
    const second = await openCatalog();
    expect(second.get('default', 'crashed')).toBeUndefined();
    second.recover('default', 'crashed', 'events');
    await second.ensure('default', 'crashed', 'events', [time, number('b')]);
    expect([...(second.get('default', 'crashed')?.columns.keys() ?? [])]).toEqual([
      'p_timestamp',
      'a:num',
      'b:num',
    ]);
  });
});

describe('options that a node has written down', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'millrace-kept-')), 'datasets');
  afterAll(() => rmSync(dirname(file), { recursive: true }));
  const log = createLogger('silent');
  const open = async (): Promise<Catalog> => {
    const metadata = new MetadataLog(test.store, 'node-1');
    return new Catalog(test.store, metadata, undefined, undefined, await DatasetOptionsFile.open(file, log));
  };
  const schema = [{ name: 'a', type: 'int' }] as const;

  it('hold before the store was read, and give way to what it says', async () => {
    const first = await open();
    await first.load();
    await createDataset(first, 'default', 'kept', 'events', { timeField: 'at' });
    await createDataset(first, 'default', 'ended', 'events', { timeField: 'at' });
    await createDataset(first, 'default', 'plain', 'events');
    await first.end('default', 'ended');
    await createDataset(first, 'default', 'ended', 'events', { schema });

    const early = await open();
    expect(early.optionsOf('default', early.idOf('default', 'kept'))).toEqual({ timeField: 'at' });
    expect(early.idOf('default', 'ended')).toBe('ended.2');
    expect(early.optionsOf('default', 'ended.2')).toEqual({ schema });
    expect(early.optionsOf('default', 'plain')).toBeUndefined();
    // Older records of the log do not change what the name means.
    early.recover('default', 'ended', 'events', true);
    expect(early.idOf('default', 'ended')).toBe('ended.2');

    await first.end('default', 'kept');
    await early.load();
    expect(early.optionsOf('default', 'kept')).toBeUndefined();
    expect(early.optionsOf('default', 'ended.2')).toEqual({ schema });
    expect(readFileSync(file, 'utf8')).not.toContain('"kept"');
  });

  it('are none in a file that cannot be understood', async () => {
    writeFileSync(file, '{"datasets":');
    const catalog = await open();
    expect(catalog.optionsOf('default', 'ended.2')).toBeUndefined();
    await catalog.load();
    expect(catalog.optionsOf('default', 'ended.2')).toEqual({ schema });
    expect((await open()).optionsOf('default', 'ended.2')).toEqual({ schema });
  });
});
