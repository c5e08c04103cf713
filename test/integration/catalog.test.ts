import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import { Catalog } from '../../src/store/catalog.ts';
import { MetadataLog } from '../../src/store/metadata.ts';
import { openTestStore, type TestStore } from '../support/embedded.ts';

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

  it('refuses another kind while the first write is still under way, naming both', async () => {
    const catalog = await openCatalog();
    const claim = catalog.claim('default', 'busy', 'events', [time]);
    expect(() => catalog.claim('default', 'busy', 'metrics', [])).toThrow(
      'busy holds events; metrics cannot',
    );
    expect(() => catalog.checkKind('default', 'busy', 'metrics')).toThrow('busy holds events');
    claim.release();
  });

  it('refuses more columns than a dataset may have, and stores nothing of the request', async () => {
    const catalog = await openCatalog();
    const many = Array.from({ length: limits.maxColumnsPerDataset - 1 }, (_, index) => number(`f${index}`));
    catalog.claim('default', 'wide', 'events', [time, ...many]).confirm();
    expect(() => catalog.claim('default', 'wide', 'events', [time, number('one_more')])).toThrow(
      /has 1000 columns and the request needs 1 more, such as "one_more:num"/,
    );
    catalog.claim('default', 'wide', 'events', [time, ...many]).confirm();
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
