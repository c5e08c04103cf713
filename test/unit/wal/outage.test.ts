import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { limits } from '../../../src/limits/limits.ts';
import { DiskGuard, diskSpace } from '../../../src/wal/disk-guard.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { openLog, silent, textRecord } from '../../support/wal/open-log.ts';

const failure = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};

/** Makes everything that needs the disk fail; returns how often it was asked, and a way out. */
function breakDisk(files: MemoryFiles, code: string) {
  const fail = failure(code);
  const disk = { writes: 0, mend: () => {} };
  files.beforeWrite = () => {
    disk.writes += 1;
    fail();
  };
  disk.mend = () => {
    files.beforeWrite = () => {};
  };
  return disk;
}

async function texts(files: MemoryFiles): Promise<string[]> {
  const { backlog, recovery } = await openLog(files);
  const found: string[] = [];
  for (const segment of recovery.segments) {
    await backlog.hold(segment, segment.records);
    for (const { blocks } of segment.records) for (const block of blocks ?? []) found.push(String(block));
  }
  return found;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe('a log on a full disk', () => {
  it('refuses without touching the disk, is probed once in a while, and recovers by itself', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    await wal.append(textRecord('before'));
    const disk = breakDisk(files, 'ENOSPC');
    await expect(wal.append(textRecord('a'))).rejects.toMatchObject({ code: 'log_full' });
    expect(disk.writes).toBe(1);
    for (let request = 0; request < 100; request += 1) {
      expect(() => wal.checkRoom()).toThrow('disk of the write-ahead log is full');
      await expect(wal.append(textRecord('b'))).rejects.toMatchObject({ code: 'log_full' });
    }
    expect(disk.writes).toBe(1);
    for (let probe = 2; probe <= 4; probe += 1) {
      await vi.advanceTimersByTimeAsync(limits.walProbeIntervalMs);
      await vi.waitFor(() => expect(disk.writes).toBe(probe));
    }
    expect(() => wal.checkRoom()).toThrow();
    disk.mend();
    await vi.advanceTimersByTimeAsync(limits.walProbeIntervalMs);
    await vi.waitFor(() => wal.checkRoom());
    await wal.append(textRecord('after'));
    expect(await texts(files.afterPowerCut())).toEqual(['before', 'after']);
  });

  it('leaves no file behind for each probe', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    const disk = breakDisk(files, 'ENOSPC');
    await expect(wal.append(textRecord('a'))).rejects.toThrow();
    const before = files.names().length;
    for (let probe = 0; probe < 5; probe += 1) await vi.advanceTimersByTimeAsync(limits.walProbeIntervalMs);
    await vi.waitFor(() => expect(disk.writes).toBeGreaterThanOrEqual(3));
    expect(files.names().length).toBeLessThanOrEqual(before);
  });

  it('refuses at once all that waited behind the write that failed', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    const disk = breakDisk(files, 'ENOSPC');
    const half = 'x'.repeat(limits.walMaxGroupBytes / 2 + 1);
    const replies = await Promise.allSettled([1, 2, 3, 4].map(() => wal.append(textRecord(half))));
    expect(replies.map((reply) => reply.status === 'rejected' && reply.reason.code)).toEqual(
      Array(4).fill('log_full'),
    );
    expect(disk.writes).toBe(1);
  });

  it('still hands over the segment under way, so that the store can make room', async () => {
    const files = new MemoryFiles();
    const { wal, sealed } = await openLog(files);
    await wal.append(textRecord('acknowledged'));
    breakDisk(files, 'ENOSPC');
    wal.seal();
    await vi.waitFor(() => expect(sealed).toHaveLength(1));
    expect(() => wal.checkRoom()).toThrow();
    expect(wal.newestPending).toBe(sealed[0]?.number);
  });
});

describe('a log on a disk that fails', () => {
  it('goes on at once when the next segment can be made', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    files.beforeSync = () => {
      files.beforeSync = () => {};
      failure('EIO')();
    };
    await expect(wal.append(textRecord('lost'))).rejects.toMatchObject({ code: 'log_failed' });
    await wal.append(textRecord('after'));
    expect(await texts(files.afterPowerCut())).toEqual(['after']);
  });

  it('acknowledges nothing before what a failed write left is cut off for good', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    await wal.append(textRecord('good'));
    let failures = 3;
    files.beforeSync = () => {
      failures -= 1;
      if (failures >= 0) failure('EIO')();
    };
    const names = files.names();
    await expect(wal.append(textRecord('lost'))).rejects.toMatchObject({ code: 'log_failed' });
    for (let probe = 0; probe < 2; probe += 1) {
      await vi.waitFor(() => expect(() => wal.checkRoom()).toThrow('disk of the write-ahead log fails'));
      expect(files.names()).toEqual(names);
      await vi.advanceTimersByTimeAsync(limits.walProbeIntervalMs);
    }
    await vi.waitFor(() => wal.checkRoom());
    expect(failures).toBeLessThan(0);
    await wal.append(textRecord('after'));
    expect(await texts(files.afterPowerCut())).toEqual(['good', 'after']);
  });

  it('refuses while it became read-only, and works when it is not', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    files.beforeCreate = failure('EROFS');
    const disk = breakDisk(files, 'EROFS');
    await expect(wal.append(textRecord('a'))).rejects.toMatchObject({ code: 'log_failed' });
    await vi.waitFor(() => expect(() => wal.checkRoom()).toThrow('disk of the write-ahead log fails'));
    files.beforeCreate = () => {};
    disk.mend();
    await vi.advanceTimersByTimeAsync(limits.walProbeIntervalMs);
    await vi.waitFor(() => wal.checkRoom());
    await wal.append(textRecord('b'));
    expect(await texts(files.afterPowerCut())).toEqual(['b']);
  });

  it('stops its probes when it is closed', async () => {
    const files = new MemoryFiles();
    const { wal } = await openLog(files);
    const disk = breakDisk(files, 'ENOSPC');
    await expect(wal.append(textRecord('a'))).rejects.toThrow();
    await wal.close();
    const { writes } = disk;
    await vi.advanceTimersByTimeAsync(10 * limits.walProbeIntervalMs);
    expect(disk.writes).toBe(writes);
  });
});

describe('the room that is kept on the disk', () => {
  const GiB = 2 ** 30;

  async function guarded(space: { availableBytes: number; totalBytes: number }) {
    let current: typeof space | undefined = space;
    const guard = await DiskGuard.start({
      measure: async () => {
        if (current === undefined) throw new Error('EIO');
        return current;
      },
      timers: systemClock,
      log: silent,
    });
    const become = async (next: typeof space | undefined) => {
      current = next;
      await vi.advanceTimersByTimeAsync(limits.diskCheckIntervalMs);
    };
    return { guard, become };
  }

  it('is refused to requests, and granted when there is more again', async () => {
    const totalBytes = 100 * GiB;
    const { guard, become } = await guarded({ availableBytes: limits.diskHeadroomBytes, totalBytes });
    guard.check();
    await become({ availableBytes: limits.diskHeadroomBytes - 1, totalBytes });
    expect(() => guard.check()).toThrow(
      `${limits.diskHeadroomBytes - 1} bytes are left on the disk; the last ${limits.diskHeadroomBytes} are kept`,
    );
    await become(undefined);
    expect(() => guard.check()).toThrow();
    await become({ availableBytes: limits.diskHeadroomBytes, totalBytes });
    guard.check();
    guard.stop();
  });

  it('is smaller on a small disk', async () => {
    const totalBytes = 64 * 2 ** 20;
    const { guard, become } = await guarded({ availableBytes: totalBytes / 20, totalBytes });
    guard.check();
    await become({ availableBytes: totalBytes / 20 - 4096, totalBytes });
    expect(() => guard.check()).toThrow();
    guard.stop();
  });

  it('is not measured any more after a stop', async () => {
    const { guard, become } = await guarded({ availableBytes: GiB, totalBytes: GiB });
    guard.stop();
    await become({ availableBytes: 0, totalBytes: GiB });
    guard.check();
  });

  it('is measured in bytes', async () => {
    const { availableBytes, totalBytes } = await diskSpace('/');
    expect(totalBytes).toBeGreaterThan(2 ** 20);
    expect(availableBytes).toBeLessThanOrEqual(totalBytes);
  });
});
