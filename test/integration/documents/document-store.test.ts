import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/access/gate.ts';
import { DocumentStore } from '../../../src/documents/document-store.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { rejectedError } from '../../support/lib/caught.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
  await new MetadataLog(test.store, 'first').prepare();
});
afterAll(() => test?.close());

const clock = new ManualClock();

async function node(name: string) {
  const gone = new Set<string>();
  const store = new DocumentStore({
    log: new MetadataLog(test.store, name),
    hasEnded: (tenant) => gone.has(tenant),
    clock,
    metrics: createMetrics(),
  });
  await store.refresh();
  return Object.assign(store, { gone });
}

const caller = (name: string, tenant = 'default'): Caller => ({
  tenant,
  principal: { kind: 'user', name, tenant, privileges: [] },
});
const alice = caller('alice');
const bob = caller('bob');

describe('documents', () => {
  it('are made, changed and deleted, and other nodes see it when they read', async () => {
    const one = await node('one');
    const two = await node('two');
    const told: string[] = [];
    two.onChange((tenant, kind, id) => told.push(`${tenant} ${kind} ${id}`));
    const made = await one.create(alice, 'dashboard', { title: 'a', further: { kept: [1] } });
    expect(made).toMatchObject({ revision: 1, owner: { kind: 'user', name: 'alice' } });
    expect(one.get('default', 'dashboard', made.id)).toEqual(made);
    expect(two.get('default', 'dashboard', made.id)).toBeUndefined();
    await two.refresh();
    expect(two.list('default', 'dashboard')).toEqual([made]);
    expect(two.get('default', 'filter', made.id)).toBeUndefined();
    expect(two.get('other', 'dashboard', made.id)).toBeUndefined();

    clock.advance(1500);
    const changed = await two.replace(bob, 'dashboard', made.id, { title: 'b' });
    expect(changed).toMatchObject({
      revision: 2,
      created: made.created,
      owner: made.owner,
      modifiedBy: { kind: 'user', name: 'bob' },
      body: { title: 'b' },
    });
    expect(Date.parse(changed.modified) - Date.parse(made.modified)).toBe(1500);
    // `one` has not read this change yet: its own is made on top of it.
    const again = await one.update(alice, 'dashboard', made.id, ({ body }) => ({ ...body, more: true }));
    expect(again).toMatchObject({ revision: 3, body: { title: 'b', more: true } });

    expect(await one.delete(alice, 'dashboard', made.id)).toEqual(again);
    await two.refresh();
    expect(two.get('default', 'dashboard', made.id)).toBeUndefined();
    expect((await rejectedError(two.replace(bob, 'dashboard', made.id, {}))).code).toBe('not_found');
    expect((await rejectedError(two.delete(bob, 'dashboard', made.id))).code).toBe('not_found');
    expect(told).toEqual(Array(4).fill(`default dashboard ${made.id}`));
  });

  it('refuse a change of a revision that is not current any more', async () => {
    const one = await node('one');
    const two = await node('two');
    const { id } = await one.create(alice, 'filter', { name: 'a' });
    await two.replace(bob, 'filter', id, { name: 'b' }, [1]);
    const stale = await rejectedError(one.replace(alice, 'filter', id, { name: 'c' }, [1]));
    expect(stale).toMatchObject({ code: 'revision_changed', details: { revision: 2 } });
    expect((await rejectedError(one.delete(alice, 'filter', id, [1, 3]))).code).toBe('revision_changed');
    expect(one.get('default', 'filter', id)?.body).toEqual({ name: 'b' });
    expect(await one.delete(alice, 'filter', id, [1, 2])).toMatchObject({ revision: 2 });
  });

  it('lose no change that several nodes make at the same time', async () => {
    const nodes = await Promise.all(['a', 'b', 'c'].map(node));
    const [first] = nodes;
    const { id } = (await first?.create(alice, 'alert', { by: [] })) ?? { id: '' };
    const add = (store: DocumentStore, name: string) =>
      store.update(alice, 'alert', id, ({ body }) => ({ by: [...(body['by'] as string[]), name] }));
    await Promise.all(
      nodes.flatMap((store, index) => [add(store, `${index}.first`), add(store, `${index}.second`)]),
    );
    const fresh = (await node('d')).get('default', 'alert', id);
    expect(fresh?.revision).toBe(7);
    expect([...((fresh?.body['by'] ?? []) as string[])].sort()).toEqual(
      ['0', '1', '2'].flatMap((name) => [`${name}.first`, `${name}.second`]),
    );
  });

  it('write nothing where nothing changes, and where a check fails', async () => {
    const store = await node('one');
    const { id } = await store.create(alice, 'target', { name: 'a' });
    expect(await store.update(alice, 'target', id, ({ body }) => body)).toMatchObject({ revision: 1 });
    const refuse = () => {
      throw new Error('refused');
    };
    await expect(store.create(alice, 'target', refuse)).rejects.toThrow('refused');
    await expect(store.update(alice, 'target', id, refuse)).rejects.toThrow('refused');
    await expect(store.delete(alice, 'target', id, undefined, refuse)).rejects.toThrow('refused');
    expect((await node('two')).list('default', 'target')).toMatchObject([{ id, revision: 1 }]);
  });

  it('are bounded in size and number', async () => {
    const store = await node('one');
    const large = { text: 'x'.repeat(limits.maxDocumentLength) };
    expect((await rejectedError(store.create(caller('a', 'bounded'), 'silence', large))).code).toBe(
      'document_too_large',
    );
    // Of another tenant each, so that the log need not hold hundreds.
    const log = new MetadataLog(test.store, 'bulk');
    await Promise.all(
      Array.from({ length: limits.maxTargetsPerTenant }, (_, index) =>
        log.append({
          tenant: 'full',
          kind: 'target',
          key: `${index}`,
          id: `full-${index}`,
          base: '',
          value: JSON.stringify({ id: `${index}`, revision: 1, body: {} }),
        }),
      ),
    );
    const eve = caller('eve', 'full');
    expect((await rejectedError(store.create(eve, 'target', {}))).code).toBe('too_many_documents');
    expect(await store.replace(eve, 'target', '7', { a: 1 })).toMatchObject({ revision: 2 });
    expect(await store.create(eve, 'silence', {})).toMatchObject({ revision: 1 });
    expect(await store.create(caller('eve', 'roomy'), 'target', {})).toMatchObject({ revision: 1 });
  });

  it('end with their tenant', async () => {
    const store = await node('one');
    const { id } = await store.create(caller('a', 'gone'), 'alert', {});
    const told: string[] = [];
    store.onChange((tenant, kind, key) => told.push(`${tenant} ${kind} ${key}`));
    expect(store.tenantsWith('alert')).toContain('gone');
    store.gone.add('gone');
    store.forgetEnded((tenant) => store.gone.has(tenant));
    expect(store.list('gone', 'alert')).toEqual([]);
    expect(store.tenantsWith('alert')).not.toContain('gone');
    expect(told).toEqual([`gone alert ${id}`]);
  });

  it('are not known before the log was read', async () => {
    const store = new DocumentStore({
      log: new MetadataLog(test.store, 'x'),
      hasEnded: () => false,
      clock,
      metrics: createMetrics(),
    });
    for (const call of [() => store.get('default', 'alert', 'x'), () => store.list('default', 'alert')]) {
      expect(call).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
    }
    await expect(store.create(alice, 'alert', {})).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
