import { describe, expect, it } from 'vitest';
import { emptyCheckpoint, extendCheckpoint, recoverCheckpoints } from '../../../src/wal/checkpoints.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';

const tables = ['t_default.a.events', 't_default.b.samples'];
const name = (segment: number, count: number) => `${String(segment).padStart(20, '0')}.stored-${count}`;

async function recovered(files: MemoryFiles, ...segments: number[]) {
  const found = await recoverCheckpoints(files, new Set(segments));
  return new Map([...found].map(([segment, checkpoint]) => [segment, [...checkpoint.tables]]));
}

describe('checkpoints of what the store has', () => {
  it('survive a power cut when they are written, and add up', async () => {
    const files = new MemoryFiles();
    const checkpoint = emptyCheckpoint();
    await extendCheckpoint(files, 7, checkpoint, tables.slice(0, 1));
    await extendCheckpoint(files, 7, checkpoint, tables.slice(1));
    expect([...checkpoint.tables]).toEqual(tables);
    const left = files.afterPowerCut();
    expect(left.names()).toEqual([name(7, 0), name(7, 1)]);
    expect(await recovered(left, 7, 8)).toEqual(new Map([[7, tables]]));
  });

  it('go at the next start when their segment is gone', async () => {
    const files = new MemoryFiles();
    await extendCheckpoint(files, 7, emptyCheckpoint(), tables);
    await extendCheckpoint(files, 8, emptyCheckpoint(), tables);
    expect(await recovered(files, 8)).toEqual(new Map([[8, tables]]));
    expect(files.names()).toEqual([name(8, 0)]);
  });

  it('say nothing where a byte is missing or changed, or when they are of another segment', async () => {
    const whole = new MemoryFiles();
    await extendCheckpoint(whole, 7, emptyCheckpoint(), tables);
    const bytes = whole.contents(name(7, 0));
    const broken = [
      ...Array.from(bytes, (_, length) => bytes.subarray(0, length)).filter(
        ({ length }) => length < bytes.length - 1,
      ),
      ...Array.from(bytes.subarray(0, -1), (byte, at) => {
        const changed = Buffer.from(bytes);
        changed[at] = byte ^ 1;
        return changed;
      }),
      Buffer.alloc(bytes.length),
    ];
    for (const contents of broken) {
      const files = new MemoryFiles();
      files.set(name(7, 0), contents);
      expect(await recovered(files, 7)).toEqual(new Map([[7, []]]));
    }
    const foreign = new MemoryFiles();
    foreign.set(name(9, 0), bytes);
    expect(await recovered(foreign, 9)).toEqual(new Map([[9, []]]));
  });

  it('are synced again when a start relies on them, and never written twice under one name', async () => {
    const files = new MemoryFiles();
    files.beforeSync = () => {
      throw new Error('EIO');
    };
    const checkpoint = emptyCheckpoint();
    await expect(extendCheckpoint(files, 7, checkpoint, tables)).rejects.toThrow('EIO');
    expect(checkpoint.tables.size).toBe(0);
    // The process is killed, and the next one sees what never reached the disk.
    files.beforeSync = () => {};
    expect(await recovered(files, 7)).toEqual(new Map([[7, tables]]));
    expect(await recovered(files.afterPowerCut(), 7)).toEqual(new Map([[7, tables]]));
    await extendCheckpoint(files, 7, checkpoint, tables);
    expect(files.names()).toEqual([name(7, 0), name(7, 1)]);
  });
});
