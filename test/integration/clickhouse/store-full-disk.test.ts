import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { eventBlocks } from '../../support/clickhouse/event-blocks.ts';
import { openEmbedded } from '../../support/clickhouse/test-store.ts';
import { mountProblem, mountTmpfs } from '../../support/lib/mounts.ts';
import { sayIfSkipped } from '../../support/lib/skipped.ts';

const MiB = 2 ** 20;
const problem = mountProblem(() => mountTmpfs(1));
sayIfSkipped('the embedded engine on a full disk', problem);

test.skipIf(problem !== undefined)(
  `the embedded engine stores none of a batch that its disk took only a part of`,
  async () => {
    const mount = mountTmpfs(128);
    onTestFinished(() => mount.unmount());
    const store = await openEmbedded(mount.path);
    onTestFinished(() => store.close());
    for (const statement of datasetStatements('default', 'full', 'events')) await store.command(statement);
    await store.command('ALTER TABLE t_default.`full.events` ADD COLUMN `text:str` Nullable(String)');
    const block = eventBlocks([{ text: 'x'.repeat(MiB - 100) }])[0];
    if (block === undefined) throw new Error('no block');
    const blocks = Array.from({ length: 8 }, () => block.bytes);
    const { database, table } = { database: 't_default', table: 'full.events' };
    const batch = { database, table, columns: block.columns, token: 'token-1', blocks };

    const filler = join(mount.path, 'filler');
    const { bavail, bsize } = statfsSync(mount.path);
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 4 * MiB));
    await expect(store.insert(batch)).rejects.toMatchObject({ name: 'StoreError', retryable: true });
    const rows = async () =>
      Number(
        await store.select('SELECT count() FROM t_default.`full.events`', 'JSONCompactEachRow').then(text),
      );
    expect(await rows()).toBe(0);
    expect(readdirSync(join(mount.path, 'tmp')).filter((name) => !name.endsWith('.pipe'))).toEqual([]);

    rmSync(filler);
    await store.insert(batch);
    expect(await rows()).toBe(8);
  },
);

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString().replace(/\D/g, '');
