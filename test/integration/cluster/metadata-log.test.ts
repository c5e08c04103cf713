import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { MetadataReplica } from '../../../src/metadata/metadata-replica.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
  await new MetadataLog(test.store, 'first').prepare();
});
afterAll(() => test.close());

/** A node with its copy, and what the copy told. */
async function node(name = 'node') {
  const told: string[] = [];
  const log = new MetadataLog(test.store, name);
  const replica = new MetadataReplica(log, ['role', 'user'], ({ kind, key }, value) => {
    told.push(`${kind} ${key} ${value ?? 'ended'}`);
  });
  await replica.refresh();
  told.length = 0;
  return { replica, told, log };
}

const role = (key: string) => ({ tenant: 'default', kind: 'role', key }) as const;

describe('the metadata log', () => {
  it('is known to another node once that has read it, and after a restart', async () => {
    const one = await node('one');
    const two = await node('two');
    expect(await one.replica.change(role('shared'), '"a"', undefined)).toBe(true);
    expect(one.replica.get('default', 'role', 'shared')?.value).toBe('"a"');
    expect(two.replica.get('default', 'role', 'shared')).toBeUndefined();
    await two.replica.refresh();
    expect(two.told).toEqual(['role shared "a"']);
    await two.replica.refresh();
    expect(two.told).toHaveLength(1);
    const restarted = await node('one');
    expect(restarted.replica.get('default', 'role', 'shared')?.value).toBe('"a"');
  });

  it('lets the first of several nodes make a record, and tells the others', async () => {
    const nodes = await Promise.all(['a', 'b', 'c', 'd'].map(node));
    const won = await Promise.all(
      nodes.map(({ replica }, index) => replica.change(role('contested'), `"${index}"`, undefined)),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
    const winner = `"${won.indexOf(true)}"`;
    for (const { replica } of nodes) {
      await replica.refresh();
      expect(replica.get('default', 'role', 'contested')?.value).toBe(winner);
    }
  });

  it('refuses a change of what has changed meanwhile, and does nothing', async () => {
    const one = await node('one');
    const two = await node('two');
    await one.replica.change(role('moving'), '"a"', undefined);
    const seen = one.replica.get('default', 'role', 'moving');
    await two.replica.refresh();
    expect(await two.replica.change(role('moving'), '"b"', seen)).toBe(true);
    expect(await one.replica.change(role('moving'), '"c"', seen)).toBe(false);
    expect(await one.replica.change(role('moving'), undefined, seen)).toBe(false);
    expect(one.replica.get('default', 'role', 'moving')?.value).toBe('"b"');
  });

  it('lets a record end and come again', async () => {
    const { replica, told } = await node();
    await replica.change(role('phoenix'), '"a"', undefined);
    expect(await replica.change(role('phoenix'), undefined, replica.get('default', 'role', 'phoenix'))).toBe(
      true,
    );
    expect(replica.get('default', 'role', 'phoenix')).toBeUndefined();
    expect(await replica.change(role('phoenix'), '"b"', undefined)).toBe(true);
    expect(told).toEqual(['role phoenix "a"', 'role phoenix ended', 'role phoenix "b"']);
  });

  it('keeps its order when the store merges its parts', async () => {
    const { replica } = await node();
    for (const value of ['"1"', '"2"', '"3"']) {
      await replica.change(role('merged'), value, replica.get('default', 'role', 'merged'));
    }
    await test.store.command('OPTIMIZE TABLE millrace.metadata FINAL');
    expect((await node()).replica.get('default', 'role', 'merged')?.value).toBe('"3"');
  });

  it('keeps tenants, kinds and odd texts apart', async () => {
    const { replica } = await node();
    const values = fc.array(fc.string({ unit: 'binary-ascii', maxLength: 20 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.uuid(), values, async (tenant, texts) => {
        for (const [index, text] of texts.entries()) {
          await replica.change({ tenant, kind: 'user', key: `${index}` }, JSON.stringify(text), undefined);
        }
        const after = await node();
        expect(texts.map((_, index) => after.replica.get(tenant, 'user', `${index}`)?.value)).toEqual(
          texts.map((text) => JSON.stringify(text)),
        );
        expect(after.replica.get(tenant, 'role', '0')).toBeUndefined();
      }),
      { numRuns: 10 },
    );
  });

  it('agrees on all nodes, whatever they write at the same time', async () => {
    const nodes = await Promise.all(['p', 'q', 'r'].map(node));
    const writes = fc.array(
      fc.record({ by: fc.nat(2), key: fc.constantFrom('x', 'y'), value: fc.option(fc.nat(9)) }),
      { minLength: 1, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(writes, async (all) => {
        await Promise.all(
          all.map(({ by, key, value }) => {
            const replica = nodes[by]?.replica;
            const seen = replica?.get('default', 'role', key);
            return replica?.change(role(key), value === null ? undefined : `${value}`, seen);
          }),
        );
        const fresh = (await node()).replica;
        for (const { replica } of nodes) {
          await replica.refresh();
          for (const key of ['x', 'y']) {
            expect(replica.get('default', 'role', key)).toEqual(fresh.get('default', 'role', key));
          }
        }
      }),
      { numRuns: 15 },
    );
  });
});
