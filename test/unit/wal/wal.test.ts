import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { openLog, textRecord, textsOf } from '../../support/wal/open-log.ts';

const value = async (metrics: ReturnType<typeof createMetrics>, name: 'walTornBytes' | 'walDamagedBytes') =>
  (await metrics[name].get()).values[0]?.value;

describe('the write-ahead log', () => {
  it('keeps an acknowledged record through a power cut', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    await wal.append(textRecord('one'));
    await wal.append(textRecord('two'));
    const after = await openLog(files.afterPowerCut());
    expect(await textsOf(after.backlog, after.recovery.segments)).toEqual(['one', 'two']);
  });

  it('shares one sync among the records that wait for it', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    const before = files.syncs;
    await Promise.all(Array.from({ length: 100 }, (_, index) => wal.append(textRecord(`r${index}`))));
    expect(files.syncs - before).toBe(1);
  });

  it('waits a moment for the senders that were answered last, and no longer', async () => {
    const files = new MemoryFiles();
    const waits: Array<() => void> = [];
    const after = (ms: number, action: () => void) => {
      if (ms !== limits.walGroupDelayMs) return systemClock.after(ms, action);
      waits.push(action);
      return () => {};
    };
    const { wal } = await openLog(files, { clock: { ...systemClock, after } });
    const append = (names: readonly string[]) => names.map((name) => wal.append(textRecord(name)));
    await Promise.all(append(['a', 'b', 'c']));
    const syncs = files.syncs;
    const first = append(['d', 'e']);
    await expect.poll(() => waits.length).toBe(1);
    expect(files.syncs).toBe(syncs);
    // All three are there again.
    await Promise.all([...first, ...append(['f'])]);
    expect(files.syncs).toBe(syncs + 1);
    const second = append(['g', 'h']);
    await expect.poll(() => waits.length).toBe(2);
    expect(files.syncs).toBe(syncs + 1);
    // The third does not come.
    waits[1]?.();
    await Promise.all(second);
    expect(files.syncs).toBe(syncs + 2);
    // Two are expected now.
    await Promise.all(append(['i', 'j']));
    expect(waits.length).toBe(2);
    await wal.close();
  });

  it('does not acknowledge what it could not sync, and goes on in another segment', async () => {
    const files = new MemoryFiles();
    const { wal, backlog, sealed } = await openLog(files);
    await wal.append(textRecord('good'));
    files.beforeSync = () => {
      files.beforeSync = () => {};
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    };
    await expect(wal.append(textRecord('lost'))).rejects.toMatchObject({ code: 'log_failed' });
    await wal.append(textRecord('after'));
    await wal.close();
    expect(await textsOf(backlog, sealed)).toEqual(['good', 'after']);
    const after = await openLog(files.afterPowerCut());
    expect(await textsOf(after.backlog, after.recovery.segments)).toEqual(['good', 'after']);
  });

  it('refuses new records above its bound of bytes', async () => {
    const { wal } = await openLog(new MemoryFiles(), { maxBytes: 1000 });
    await wal.append(textRecord('x'.repeat(2000)));
    await expect(wal.append(textRecord('y'))).rejects.toBeInstanceOf(AppError);
    expect(() => wal.checkRoom()).toThrow('at most 1000');
  });

  it('begins another segment with what comes right after a seal, and a seal right after an acknowledgement', async () => {
    const { wal, backlog, sealed } = await openLog(new MemoryFiles());
    for (const text of ['first', 'second', 'third']) {
      await wal.append(textRecord(text));
      wal.seal();
    }
    await expect.poll(() => sealed).toHaveLength(3);
    expect(await textsOf(backlog, sealed)).toEqual(['first', 'second', 'third']);
  });

  it('hands over all that was appended when it closes, however many groups that makes', async () => {
    const { wal, backlog, sealed } = await openLog(new MemoryFiles());
    const appended = Array.from({ length: 2 * limits.walMaxGroupRecords + 1 }, (_, index) =>
      wal.append(textRecord(`${index}`)),
    );
    await wal.close();
    await Promise.all(appended);
    expect(await textsOf(backlog, sealed)).toEqual(appended.map((_, index) => `${index}`));
    expect(wal.pendingSegments).toBe(sealed.length);
  });

  it('seals by age, and hands over the records in order', async () => {
    const { wal, backlog, sealed } = await openLog(new MemoryFiles(), { ageMs: 20 });
    await wal.append(textRecord('first'));
    await wal.append(textRecord('second'));
    await expect.poll(() => sealed).toHaveLength(1);
    expect(await textsOf(backlog, sealed)).toEqual(['first', 'second']);
    expect(wal.pendingSegments).toBe(1);
    for (const segment of sealed) await backlog.remove(segment);
    expect(wal.pendingSegments).toBe(0);
    expect(wal.bytes).toBe(0);
  });

  it('seals by age also when records never stop coming', async () => {
    const files = new MemoryFiles();
    const { wal, sealed } = await openLog(files, { ageMs: 10 });
    let coming = true;
    const appends: Promise<void>[] = [];
    // While one is written, the next one comes.
    files.beforeWrite = () => {
      if (coming) appends.push(wal.append(textRecord('x')));
    };
    appends.push(wal.append(textRecord('first')));
    try {
      await expect.poll(() => sealed.length).toBeGreaterThan(1);
    } finally {
      coming = false;
    }
    await Promise.all(appends);
  });

  it('never uses a segment number twice, because the number is the token of the inserts', async () => {
    const files = new MemoryFiles();
    const used = new Set<number>();
    let directory = files;
    for (let round = 0; round < 5; round += 1) {
      const { wal, backlog, sealed } = await openLog(directory);
      await wal.append(textRecord(`round ${round}`));
      if (round % 2 === 0) {
        // The segment fails, is sealed and removed while no newer one exists.
        const failing = directory;
        failing.beforeSync = () => {
          failing.beforeSync = () => {};
          throw Object.assign(new Error('EIO'), { code: 'EIO' });
        };
        await expect(wal.append(textRecord('lost'))).rejects.toThrow();
      } else await wal.close();
      for (const segment of sealed) {
        expect(used.has(segment.number)).toBe(false);
        used.add(segment.number);
        await backlog.remove(segment);
      }
      directory = directory.afterPowerCut();
    }
    expect(used.size).toBe(5);
  });

  it('reads blocks back from the file when they are no longer in memory', async () => {
    const files = new MemoryFiles();
    const { wal, backlog, sealed } = await openLog(files);
    await wal.append(textRecord('kept on disk'));
    await wal.close();
    for (const { records } of sealed) for (const each of records) each.blocks = undefined;
    expect(await textsOf(backlog, sealed)).toEqual(['kept on disk']);
  });
});

describe('recovery', () => {
  async function written(...all: string[]): Promise<{ files: MemoryFiles; name: string; bytes: Buffer }> {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    for (const text of all) await wal.append(textRecord(text));
    const [name = ''] = files.names();
    return { files: files.afterPowerCut(), name, bytes: Buffer.from(files.contents(name)) };
  }

  it('cuts a torn tail at every possible place, and keeps all before it', async () => {
    const { name, bytes } = await written('one', 'two');
    const two = bytes.lastIndexOf('MREC');
    for (let length = 0; length < bytes.length; length += 1) {
      const files = new MemoryFiles();
      files.set(name, Buffer.from(bytes.subarray(0, length)));
      const { backlog, recovery, metrics } = await openLog(files);
      const expected = length < two ? [] : ['one'];
      expect(await textsOf(backlog, recovery.segments)).toEqual(expected);
      // Zeros at the end may be room.
      const torn = bytes.subarray(two, Math.max(two, length)).findLastIndex((byte) => byte !== 0) + 1;
      if (length > two) expect(await value(metrics, 'walTornBytes')).toBe(torn);
      // The cut is durable: the next start finds the same.
      const again = await openLog(files.afterPowerCut());
      expect(await textsOf(again.backlog, again.recovery.segments)).toEqual(expected);
    }
  });

  it('sets a damaged record aside and keeps the others', async () => {
    const { name, bytes } = await written('one', 'two', 'three');
    const damaged = Buffer.from(bytes);
    const at = damaged.indexOf('two');
    damaged[at] = 0x54;
    const files = new MemoryFiles();
    files.set(name, damaged);
    const { backlog, recovery, metrics } = await openLog(files);
    expect(await textsOf(backlog, recovery.segments)).toEqual(['one', 'three']);
    const aside = files.names().find((each) => each.includes('.damaged-'));
    expect(aside).toBeDefined();
    expect(files.contents(aside ?? '').includes('Two')).toBe(true);
    expect(await value(metrics, 'walDamagedBytes')).toBe(files.contents(aside ?? '').length);
  });

  it('keeps the others when any single byte of a record in the middle is flipped', async () => {
    const { name, bytes } = await written('one', 'two', 'three');
    const first = bytes.indexOf('MREC') + 1;
    const start = bytes.indexOf('MREC', first);
    const end = bytes.lastIndexOf('MREC');
    for (let at = start; at < end; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x20;
      const files = new MemoryFiles();
      files.set(name, damaged);
      const { backlog, recovery } = await openLog(files);
      expect(await textsOf(backlog, recovery.segments)).toEqual(['one', 'three']);
    }
  });

  it('starts when the power went while a segment was made, whatever is left of its header', async () => {
    const { files, name, bytes } = await written('one');
    const next = name.replace('1.wal', '2.wal');
    for (const left of [Buffer.alloc(0), Buffer.alloc(32), bytes.subarray(0, 20), bytes.subarray(0, 32)]) {
      const directory = files.afterPowerCut();
      directory.set(next, Buffer.from(left));
      const { backlog, recovery, metrics, wal } = await openLog(directory);
      expect(await textsOf(backlog, recovery.segments)).toEqual(['one']);
      expect(await value(metrics, 'walDamagedBytes')).toBe(0);
      await wal.close();
      expect(directory.names()).toEqual([name, next.replace('2.wal', '3.wal')]);
    }
  });

  it('keeps the records of a segment whose header is damaged', async () => {
    const { files, name, bytes } = await written('one', 'two');
    files.set(name, Buffer.concat([Buffer.alloc(32, 0xff), bytes.subarray(32)]));
    const { backlog, recovery } = await openLog(files);
    expect(await textsOf(backlog, recovery.segments)).toEqual(['one', 'two']);
    expect(files.contents(`${name}.damaged-0`)).toEqual(Buffer.alloc(32, 0xff));
  });

  it('sets aside the bad end of a segment that was finished, since it may have been acknowledged', async () => {
    const { files, name, bytes } = await written('one', 'two');
    const two = bytes.lastIndexOf('MREC');
    const broken = Buffer.from(bytes);
    broken[bytes.length - 1] = 0;
    files.set(name, broken);
    const { wal } = await openLog(files);
    await wal.close();
    const newer = new MemoryFiles();
    for (const each of files.names()) newer.set(each, files.contents(each));
    newer.set(name, broken);
    const { backlog, recovery, metrics } = await openLog(newer);
    expect(await textsOf(backlog, recovery.segments)).toEqual(['one']);
    expect(newer.contents(`${name}.damaged-${two}`)).toEqual(broken.subarray(two));
    expect(await value(metrics, 'walTornBytes')).toBe(0);
    expect(await value(metrics, 'walDamagedBytes')).toBe(bytes.length - two);
  });

  it('does not take for a record what was one in another segment, or lies inside a damaged one', async () => {
    const { bytes } = await written('one');
    const elsewhere = bytes.subarray(bytes.indexOf('MREC')).toString('latin1');
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    await wal.append(textRecord('first'));
    const inside = textRecord('');
    const [block] = inside.blocks;
    await wal.append({
      ...inside,
      blocks: [{ ...block, bytes: Buffer.from(elsewhere, 'latin1') } as (typeof inside.blocks)[number]],
    });
    const [name = ''] = files.names();
    const torn = Buffer.from(files.contents(name));
    // The header of the second record is lost; its data, and blocks of a deleted file behind it, are there.
    const second = torn.indexOf('MREC', torn.indexOf('MREC') + 1);
    torn.fill(0, second, second + 16);
    const left = new MemoryFiles();
    left.set(name, Buffer.concat([torn, bytes.subarray(32)]));
    const { backlog, recovery } = await openLog(left);
    expect(await textsOf(backlog, recovery.segments)).toEqual(['first']);
  });

  it('makes again a copy of damaged bytes that an earlier start did not finish', async () => {
    const { name, bytes } = await written('one', 'two', 'three');
    const damaged = Buffer.from(bytes);
    const at = damaged.indexOf('two');
    damaged[at] = 0x54;
    const files = new MemoryFiles();
    files.set(name, damaged);
    const start = damaged.indexOf('MREC', damaged.indexOf('MREC') + 1);
    files.set(`${name}.damaged-${start}`, Buffer.from('MR'));
    await openLog(files);
    expect(files.contents(`${name}.damaged-${start}`)).toEqual(
      damaged.subarray(start, damaged.lastIndexOf('MREC')),
    );
  });

  it('refuses a segment of a format it does not know, by name', async () => {
    const { files, name } = await written('one');
    const bytes = Buffer.from(files.contents(name));
    const { crc32 } = await import('node:zlib');
    bytes.writeUInt32LE(99, 8);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 28)), 28);
    files.set(name, bytes);
    await expect(openLog(files)).rejects.toThrow('segment 1 of the log has format 99');
  });
});
