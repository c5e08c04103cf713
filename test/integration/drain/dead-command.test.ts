import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Tenants } from '../../../src/catalog/tenants.ts';
import {
  dropDeadLetters,
  listDeadLetters,
  retryDeadLetters,
} from '../../../src/drain/dead-letters/command.ts';
import { DeadLetters } from '../../../src/drain/dead-letters/letters.ts';
import type { DeadNote } from '../../../src/drain/dead-letters/note.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { segmentName } from '../../../src/wal/segment.ts';
import { openWalDirectory } from '../../../src/wal/wal-files.ts';
import { eventBlocks } from '../../support/clickhouse/event-blocks.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

const log = createLogger('silent');
let test: TestStore;
let dataDir: string;
let printed: string[];
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millrace-dead-command-'));
  await writeFile(join(dataDir, 'node'), 'node-1\n');
  printed = [];
  return () => rm(dataDir, { recursive: true });
});

const options = () => ({
  dataDir,
  // The engine stays open for the next test.
  openStore: async () => ({
    command: test.store.command.bind(test.store),
    select: test.store.select.bind(test.store),
    insert: test.store.insert.bind(test.store),
    close: async () => {},
  }),
  log,
  print: (line: string) => printed.push(line),
});

/** A dead letter with events of these ids. */
async function addLetter(
  dataset: string,
  ids: readonly number[],
  more: Partial<DeadNote> = {},
): Promise<string> {
  const files = await openWalDirectory(join(dataDir, 'dead'));
  const letters = await DeadLetters.open({ files, metrics: createMetrics(), log });
  const [block] = eventBlocks(ids.map((id) => ({ id })));
  if (block === undefined) throw new Error('no block');
  const batch = `node-1-3-t_default.${dataset}.events`;
  const note: DeadNote = {
    format: 1,
    tenant: 'default',
    dataset,
    kind: 'events',
    database: 't_default',
    table: `${dataset}.events`,
    columns: block.columns,
    rows: ids.length,
    segment: 3,
    batch,
    ranges: [{ from: 0, to: ids.length }],
    token: `${batch}/0-${ids.length}`,
    error: { code: 469, message: 'refused\n\u001b[31mfor good' },
    time: '2026-01-02T03:04:05.678Z',
    ...more,
  };
  await letters.add(note, [block.bytes]);
  return `${note.batch}-0`;
}

const ids = async (dataset: string) =>
  (await test.rows(`SELECT \`id:num\` AS id FROM t_default.\`${dataset}.events\` ORDER BY id`)).map(
    ({ id }) => id,
  );

describe('millrace dead', () => {
  it('retry makes the dataset that was never stored, and removes what is', async () => {
    await addLetter('unseen', [1, 2]);
    expect(await retryDeadLetters(options(), 'all')).toBe(true);
    expect(await ids('unseen')).toEqual([1, 2]);
    expect(await readdir(join(dataDir, 'dead'))).toEqual([]);
  });

  it('retry stores once, when it was stopped before it removed the letter', async () => {
    const name = await addLetter('twice', [1, 2]);
    await cp(join(dataDir, 'dead'), join(dataDir, 'copy'), { recursive: true });
    expect(await retryDeadLetters(options(), [name])).toBe(true);
    await cp(join(dataDir, 'copy'), join(dataDir, 'dead'), { recursive: true });
    expect(await retryDeadLetters(options(), [name])).toBe(true);
    expect(await ids('twice')).toEqual([1, 2]);
  });

  it('retry goes on after one that is refused, and says so', async () => {
    await addLetter('unseen', [1], { kind: 'metrics', batch: 'node-1-1-x.events' });
    const name = await addLetter('goes-on', [5]);
    expect(await retryDeadLetters(options(), 'all')).toBe(false);
    expect(printed[0]).toBe(
      'node-1-1-x.events-0: stays, because the dataset unseen holds events; metrics cannot be written to it. Use another dataset',
    );
    expect(printed[1]).toBe(`${name}: stored`);
    expect(await readdir(join(dataDir, 'dead'))).toEqual([
      'node-1-1-x.events-0.json',
      'node-1-1-x.events-0.native',
    ]);
  });

  it.each([['retry'], ['drop']])('%s leaves a letter alone whose segment is in the log', async (verb) => {
    const name = await addLetter('held', [1]);
    await mkdir(join(dataDir, 'wal'));
    await writeFile(join(dataDir, 'wal', segmentName(3)), '');
    const run = verb === 'retry' ? retryDeadLetters : dropDeadLetters;
    await expect(run(options(), [name])).rejects.toMatchObject({ code: 'dead_letter_in_use' });
    await expect(run(options(), 'all')).rejects.toThrow('still in the log');
    expect(await readdir(join(dataDir, 'dead'))).toHaveLength(2);
    await rm(join(dataDir, 'wal', segmentName(3)));
    expect(await run(options(), [name])).toBe(true);
    expect(await readdir(join(dataDir, 'dead'))).toEqual([]);
  });

  it('retry leaves the rows of a deleted tenant where they are', async () => {
    const tenants = new Tenants(new MetadataLog(test.store, 'node-1'));
    await new MetadataLog(test.store, 'node-1').prepare();
    await tenants.refresh();
    await tenants.create('deleted', '2026-01-01T00:00:00.000Z');
    await tenants.end('deleted');
    const more = { tenant: 'deleted', database: 't_deleted', batch: 'node-1-3-t_deleted.app.events' };
    const name = await addLetter('app', [1], more);
    expect(await retryDeadLetters(options(), [name])).toBe(false);
    expect(printed).toEqual([`${name}: stays, because its tenant has been deleted`]);
    const names = await test.rows<{ name: string }>(
      "SELECT name FROM system.databases WHERE name LIKE 't_de%'",
    );
    expect(names).not.toContainEqual({ name: 't_deleted' });
  });

  it('list aligns its columns and shows nothing that a terminal would obey', async () => {
    await addLetter('app', [1, 2, 3]);
    await addLetter('other', [1], {
      tenant: 'acme',
      batch: 'node-1-10-y.events',
      error: { code: null, message: 'x' },
    });
    await writeFile(join(dataDir, 'dead', 'half.native'), 'rows');
    await listDeadLetters(options());
    expect(printed).toEqual([
      'NAME                             DATASET     ROWS  TIME                      CODE  REASON',
      'half                                                                               the note is not whole',
      'node-1-10-y.events-0             acme/other  1     2026-01-02T03:04:05.678Z        x',
      'node-1-3-t_default.app.events-0  app         3     2026-01-02T03:04:05.678Z  469   refused [31mfor good',
    ]);
  });

  it('drop takes half a letter, too', async () => {
    await addLetter('app', [1]);
    await writeFile(join(dataDir, 'dead', 'half.native'), 'rows');
    expect(await dropDeadLetters(options(), ['half'])).toBe(true);
    expect(await readdir(join(dataDir, 'dead'))).toHaveLength(2);
    expect(await dropDeadLetters(options(), 'all')).toBe(true);
    expect(await readdir(join(dataDir, 'dead'))).toEqual([]);
  });
});
