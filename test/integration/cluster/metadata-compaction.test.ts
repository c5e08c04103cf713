import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MetadataCompaction } from '../../../src/metadata/metadata-compaction.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { MetadataReplica } from '../../../src/metadata/metadata-replica.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

let test: TestStore;
let log: MetadataLog;
beforeAll(async () => {
  test = await openTestStore();
  log = new MetadataLog(test.store, 'node');
  await log.prepare();
});
afterAll(() => test?.close());

const kinds = ['dashboard', 'lease'] as const;

async function reader(begin: 'all' | 'current' = 'all') {
  const told: string[] = [];
  const replica = new MetadataReplica(log, kinds, ({ key }, value) => told.push(`${key} ${value}`), begin);
  await replica.refresh();
  return Object.assign(replica, { told });
}

const compaction = () =>
  new MetadataCompaction({
    log,
    retentions: new Map([
      ['dashboard', { values: 2, minAgeMs: limits.minCompactedDocumentAgeMs }],
      ['lease', { values: 1, minAgeMs: limits.minCompactedStateAgeMs }],
    ]),
    timers: systemClock,
    logger: createLogger('silent'),
  });

/** Writes entries of one record that are some hours old, each a part of its own. */
async function old(
  kind: string,
  key: string,
  entries: readonly (readonly [id: string, base: string, value: string])[],
) {
  for (const [id, base, value] of entries) {
    await test.store.command(
      `INSERT INTO millrace.metadata (at, node, tenant, kind, key, id, base, value)
       SELECT now64(6, 'UTC') - INTERVAL 60 HOUR, 'old', 'default', '${kind}', '${key}', '${id}', '${base}', '${value}'`,
    );
  }
}

const idsOf = async (key: string): Promise<string[]> =>
  (await log.outline(kinds)).filter((entry) => entry.key === key).map(({ id }) => id);

describe('compaction of the metadata log', () => {
  it('removes what is not needed, and leaves all readers with the same', async () => {
    await old('dashboard', 'kept', [
      ['k1', '', '1'],
      ['k2', 'k1', '2'],
      ['lost', 'k1', 'never'],
      ['k3', 'k2', '3'],
    ]);
    const behind = await reader();
    await old('dashboard', 'kept', [['k4', 'k3', '4']]);
    await old('dashboard', 'ended', [
      ['d1', '', '1'],
      ['d2', 'd1', ''],
    ]);
    await old('lease', 'l', [
      ['l1', '', '1'],
      ['l2', 'l1', '2'],
    ]);
    const writer = await reader();
    const seen = writer.get('default', 'lease', 'l');
    expect(await writer.change({ tenant: 'default', kind: 'lease', key: 'l' }, '3', seen)).toBe(true);
    const key = { tenant: 'default', kind: 'dashboard', key: 'kept' } as const;
    expect(await writer.history(key, 20)).toEqual(['4', '3', '2', '1']);
    expect(await writer.history(key, 2)).toEqual(['4', '3']);

    const [one, two] = await Promise.all([compaction().compact(), compaction().compact()]);
    expect(Math.max(one, two)).toBe(6);
    expect(await idsOf('kept')).toEqual(['k3', 'k4']);
    expect(await idsOf('ended')).toEqual(['d2']);
    expect((await idsOf('l')).length).toBe(1);
    await test.store.command('OPTIMIZE TABLE millrace.metadata FINAL');
    expect(await compaction().compact()).toBe(0);
    expect(await writer.history(key, 20)).toEqual(['4', '3']);

    await behind.refresh();
    for (const each of [behind, writer, await reader(), await reader('current')]) {
      expect(each.get('default', 'dashboard', 'kept')).toMatchObject({ value: '4', version: 'k4' });
      expect(each.get('default', 'dashboard', 'ended')).toBeUndefined();
      expect(each.get('default', 'lease', 'l')?.value).toBe('3');
    }
    // Too late: it knows none of what came since.
    await log.append({ ...key, id: 'late', base: 'k1', value: 'late' });
    for (const each of [behind, writer, await reader(), await reader('current')]) {
      await each.refresh();
      expect(each.get('default', 'dashboard', 'kept')?.value).toBe('4');
    }
  });

  it('removes the end of a record when that is all that is left of it for a month', async () => {
    await test.store.command(
      `INSERT INTO millrace.metadata (at, node, tenant, kind, key, id, base, value)
       SELECT now64(6, 'UTC') - INTERVAL 40 DAY, 'old', 'default', 'dashboard', 'gone', 'g2', 'g1', ''`,
    );
    expect(await compaction().compact()).toBe(1);
    expect(await idsOf('gone')).toEqual([]);
  });

  it('waits until it is worth it', async () => {
    await test.store.command(
      `INSERT INTO millrace.metadata (at, node, tenant, kind, key, id, base, value)
       SELECT now64(6, 'UTC') - INTERVAL 2 HOUR, 'old', 'default', 'lease', 'young',
         concat('y', toString(number)), if(number = 0, '', concat('y', toString(number - 1))), 'x' FROM numbers(500)`,
    );
    expect(await compaction().compact()).toBe(0);
    await test.store.command(
      `INSERT INTO millrace.metadata (at, node, tenant, kind, key, id, base, value)
       SELECT now64(6, 'UTC') - INTERVAL 2 HOUR, 'old', 'default', 'lease', 'other',
         concat('o', toString(number)), if(number = 0, '', concat('o', toString(number - 1))), 'x' FROM numbers(700)`,
    );
    // In one insert, entries are ordered by id: only some of them take effect.
    const before = (await reader()).get('default', 'lease', 'other');
    expect(await compaction().compact()).toBeGreaterThan(0);
    expect((await reader()).get('default', 'lease', 'other')).toEqual(before);
  });

  it('lets who begins read the values in force alone', async () => {
    // More than is read at once.
    const large = 'x'.repeat(300_000);
    for (let index = 0; index < 30; index += 1) {
      await log.append({
        tenant: 'default',
        kind: 'dashboard',
        key: `big${index}`,
        id: `b${index}`,
        base: '',
        value: large,
      });
    }
    await log.append({
      tenant: 'default',
      kind: 'dashboard',
      key: 'big7',
      id: 'b7.2',
      base: 'b7',
      value: '',
    });
    const all = await reader('all');
    const current = await reader('current');
    expect(current.position).toBe(all.position);
    for (let index = 0; index < 30; index += 1) {
      expect(current.get('default', 'dashboard', `big${index}`)).toEqual(
        all.get('default', 'dashboard', `big${index}`),
      );
    }
    expect(current.told.filter((line) => line.startsWith('big7 '))).toEqual([]);
    expect(all.told.filter((line) => line.startsWith('big7 '))).toHaveLength(2);
  });
});
