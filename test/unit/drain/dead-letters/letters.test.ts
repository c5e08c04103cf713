import { describe, expect, it } from 'vitest';
import { DeadLetters } from '../../../../src/drain/dead-letters/letters.ts';
import type { DeadNote } from '../../../../src/drain/dead-letters/note.ts';
import { createLogger } from '../../../../src/lib/log.ts';
import { createMetrics } from '../../../../src/lib/metrics.ts';
import { MemoryFiles } from '../../../support/wal/memory-files.ts';

const open = async (files: MemoryFiles, metrics = createMetrics()) =>
  DeadLetters.open({ files, metrics, log: createLogger('silent') });

const batch = 'node-7-t_default.app.events';
const note = (from: number, to: number, token = batch): DeadNote => ({
  format: 1,
  tenant: 'default',
  dataset: 'app',
  kind: 'events',
  database: 't_default',
  table: 'app.events',
  columns: [{ name: 'p_timestamp', type: "DateTime64(6, 'UTC')" }],
  rows: to - from,
  segment: 7,
  batch: token,
  ranges: [{ from, to }],
  token: `${token}/${from}-${to}`,
  error: { code: 469, message: 'a constraint is violated' },
  time: '2026-01-02T03:04:05.678Z',
});
const blocks = [Buffer.from('first'), Buffer.from('second')];

describe('a dead letter', () => {
  it('is there after a power cut, with its rows and the reason', async () => {
    const files = new MemoryFiles();
    await (await open(files)).add(note(3, 5), blocks);
    const letters = await open(files.afterPowerCut());
    expect(letters.names()).toEqual([`${batch}-3`]);
    expect(await letters.note(`${batch}-3`)).toEqual(note(3, 5));
    expect((await letters.rows(`${batch}-3`)).toString()).toBe('firstsecond');
  });

  it('says which rows of its batch it holds, and of no other', async () => {
    const letters = await open(new MemoryFiles());
    await letters.add(note(3, 5), blocks);
    await letters.add(note(9, 10), blocks);
    await letters.add(note(0, 1, 'node-7-t_default.app.events.x.events'), blocks);
    await letters.add(note(1, 2, 'node-77-t_default.app.events'), blocks);
    expect(await letters.rangesOf(batch)).toEqual([
      { from: 3, to: 5 },
      { from: 9, to: 10 },
    ]);
    expect(await letters.rangesOf('node-8-t_default.app.events')).toEqual([]);
  });

  it('does not count as long as its note is not whole, and can be written again', async () => {
    const files = new MemoryFiles();
    await (await open(files)).add(note(3, 5), blocks);
    const whole = files.contents(`${batch}-3.json`);
    for (const length of [0, 1, whole.length - 3]) {
      files.set(`${batch}-3.json`, whole.subarray(0, length));
      const letters = await open(files);
      expect(await letters.rangesOf(batch)).toEqual([]);
      expect(await letters.note(`${batch}-3`)).toBeUndefined();
      await letters.add(note(3, 4), [Buffer.from('again')]);
      expect(await letters.rangesOf(batch)).toEqual([{ from: 3, to: 4 }]);
      expect((await letters.rows(`${batch}-3`)).toString()).toBe('again');
    }
  });

  it('never has a whole note beside rows that are not durable', async () => {
    for (let failing = 1; failing <= 2; failing += 1) {
      const files = new MemoryFiles();
      let syncs = 0;
      files.beforeSync = () => {
        syncs += 1;
        if (syncs === failing) throw new Error('EIO');
      };
      await expect((await open(files)).add(note(3, 5), blocks)).rejects.toThrow('EIO');
      expect(await (await open(files.afterPowerCut())).rangesOf(batch)).toEqual([]);
      if (failing === 1) expect(files.names()).toEqual([`${batch}-3.native`]);
    }
  });

  it('is shown, and can be removed, when a crash left half of it', async () => {
    const files = new MemoryFiles();
    files.set(`${batch}-3.native`, Buffer.from('rows'));
    files.set(`${batch}-4.json`, Buffer.from('{"form'));
    const letters = await open(files);
    expect(letters.names()).toEqual([`${batch}-3`, `${batch}-4`]);
    expect(await letters.note(`${batch}-3`)).toBeUndefined();
    for (const name of letters.names()) await letters.remove(name);
    expect(files.names()).toEqual([]);
  });

  it('is counted in rows as it comes and in files as they are', async () => {
    const files = new MemoryFiles();
    const metrics = createMetrics();
    const letters = await open(files, metrics);
    await letters.add(note(3, 5), blocks);
    await letters.add(note(7, 8), blocks);
    await letters.remove(`${batch}-3`);
    const read = async (from: typeof metrics) => [
      (await from.deadRows.get()).values[0]?.value,
      (await from.deadFiles.get()).values[0]?.value,
    ];
    expect(await read(metrics)).toEqual([3, 1]);
    const restarted = createMetrics();
    await open(files, restarted);
    expect(await read(restarted)).toEqual([0, 1]);
  });

  it('has a name that file systems take, however long the names in it are', async () => {
    const files = new MemoryFiles();
    const letters = await open(files);
    const long = ['a', 'b'].map((end) => `node-7-t_${'t'.repeat(128)}.${'d'.repeat(127)}${end}.events`);
    for (const [index, token] of long.entries()) await letters.add(note(index, index + 1, token), blocks);
    for (const name of files.names()) expect(name.length).toBeLessThanOrEqual(255);
    expect(await letters.rangesOf(long[0] ?? '')).toEqual([{ from: 0, to: 1 }]);
    expect(await letters.rangesOf(long[1] ?? '')).toEqual([{ from: 1, to: 2 }]);
  });
});

it('the letters of a tenant go when it has ended', async () => {
  const files = new MemoryFiles();
  const letters = await open(files);
  await letters.add(note(3, 5), blocks);
  await letters.add({ ...note(0, 1, 'node-7-t_acme.app.events'), tenant: 'acme' }, blocks);
  await letters.forgetEnded((tenant) => tenant === 'acme');
  expect(letters.names()).toEqual([`${batch}-3`]);
  expect((await open(files.afterPowerCut())).names()).toEqual([`${batch}-3`]);
});
