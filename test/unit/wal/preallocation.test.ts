import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { segmentHeaderBytes } from '../../../src/wal/record.ts';
import type { Wal } from '../../../src/wal/wal.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { openLog, textRecord, textsOf } from '../../support/wal/open-log.ts';

const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => `record ${index}`);

async function append(wal: Wal, all: readonly string[]): Promise<void> {
  for (const text of all) await wal.append(textRecord(text));
}

const texts = ({ backlog, recovery }: Awaited<ReturnType<typeof openLog>>): Promise<string[]> =>
  textsOf(backlog, recovery.segments);

const failOnce = (files: MemoryFiles, code: string) => {
  files.beforeSync = () => {
    files.beforeSync = () => {};
    throw Object.assign(new Error(code), { code });
  };
};

describe('space preallocated behind the records of a segment', () => {
  it('is written with a group that makes the file longer, and most groups do not', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    const [name = ''] = files.names();
    const lengths = new Set<number>();
    for (const text of numbers(1000)) {
      await wal.append(textRecord(text));
      lengths.add(files.contents(name).length);
    }
    expect(lengths.size).toBeLessThan(30);
    expect(files.contents(name).length).toBeLessThan(3 * wal.bytes);
    await wal.close();
  });

  it('is bounded, and there is none for groups that would soon fill it', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    const [name = ''] = files.names();
    const preallocatedBytes = () => files.contents(name).length - segmentHeaderBytes - wal.bytes;
    const large = 'x'.repeat(limits.walMaxPreallocatedBytes);
    for (let count = 0; count < 10; count += 1) {
      await wal.append(textRecord(large));
      expect(preallocatedBytes()).toBe(0);
    }
    await wal.append(textRecord('small'));
    expect(preallocatedBytes()).toBe(limits.walMaxPreallocatedBytes);
    await wal.close();
  });

  it('is not in a segment that is sealed, also after a power cut', async () => {
    const files = new MemoryFiles();
    const { wal, sealed } = await openLog(files);
    await append(wal, numbers(100));
    wal.seal();
    await vi.waitFor(() => expect(sealed).toHaveLength(1));
    const [segment] = sealed;
    const after = files.afterPowerCut();
    expect(after.contents(segment?.name ?? '').length).toBe(segmentHeaderBytes + (segment?.byteLength ?? 0));
  });

  it('is no torn record after a power cut, and what is torn counts without it', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    await append(wal, numbers(100));
    const left = files.afterPowerCut();
    const [name = ''] = left.names();
    const recordEnd = segmentHeaderBytes + wal.bytes;
    expect(left.contents(name).length).toBeGreaterThan(recordEnd);
    const torn = left.afterPowerCut();
    torn.set(name, Buffer.from(left.contents(name)).fill('MREC', recordEnd, recordEnd + 4));

    const whole = await openLog(left);
    expect(await texts(whole)).toEqual(numbers(100));
    expect((await whole.metrics.walTornBytes.get()).values[0]?.value).toBe(0);
    expect(left.contents(name).length).toBe(recordEnd);

    const cut = await openLog(torn);
    expect(await texts(cut)).toEqual(numbers(100));
    expect((await cut.metrics.walTornBytes.get()).values[0]?.value).toBe(4);
    expect((await cut.metrics.walDamagedBytes.get()).values[0]?.value).toBe(0);
    expect(torn.contents(name).length).toBe(recordEnd);
  });

  it('keeps a segment from being sealed until it is gone', async () => {
    const files = new MemoryFiles();
    const { wal, sealed } = await openLog(files);
    await append(wal, numbers(100));
    const [name = ''] = files.names();
    failOnce(files, 'EIO');
    wal.seal();
    await vi.waitFor(() => expect(() => wal.checkRoom()).toThrow());
    expect(sealed).toEqual([]);
    await vi.waitFor(() => wal.checkRoom(), { timeout: 5000 });
    expect(sealed).toHaveLength(1);
    await append(wal, ['after']);
    const left = files.afterPowerCut();
    expect(left.contents(name).length).toBe(segmentHeaderBytes + (sealed[0]?.byteLength ?? 0));
    expect(await texts(await openLog(left))).toEqual([...numbers(100), 'after']);
    await wal.close();
  });
});
