import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/lib/log.ts';
import { limits } from '../../../src/limits/limits.ts';
import { noCounts } from '../../../src/model/counts.ts';
import type { StoredRequest } from '../../../src/model/replay.ts';
import { emptyCheckpoint } from '../../../src/wal/checkpoints.ts';
import { ReplayJournal } from '../../../src/wal/replay-journal.ts';
import type { SealedSegment } from '../../../src/wal/segment.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';

const windowMs = 80_000;
const partMs = windowMs / limits.replayJournalParts;

function segmentOf(requests: ReadonlyArray<StoredRequest | undefined>, dataset = 'd'): SealedSegment {
  return {
    number: 1,
    name: '1',
    sinceMicros: 0,
    byteLength: 0,
    checkpoint: emptyCheckpoint(),
    manifests: [],
    records: requests.map((request) => ({
      header: { tenant: 'default', dataset, kind: 'metrics', request, blocks: [] },
      blocksPosition: 0,
      blocks: undefined,
    })),
  };
}

/** A life of the journal, and the names that it found at its start, with their datasets. */
async function open(files: MemoryFiles, clock: ManualClock) {
  const found: string[] = [];
  const journal = await ReplayJournal.open({
    files,
    clock,
    log: createLogger('silent'),
    windowMs,
    onStored: (tenant, dataset, { name }) => found.push(`${tenant}/${dataset}/${name}`),
  });
  return { journal, found };
}

const stored = (clock: ManualClock, name: string): StoredRequest => ({
  name,
  receivedMicros: clock.nowMicros(),
  counts: { ...noCounts, samples: 1 },
});

describe('the replay journal', () => {
  it('keeps what it took through a power cut, in order and by dataset', async () => {
    const clock = new ManualClock();
    const files = new MemoryFiles();
    const { journal } = await open(files, clock);
    await journal.keep(segmentOf([stored(clock, 'a'), undefined, stored(clock, 'b')]));
    await journal.keep(segmentOf([stored(clock, 'c')], 'e'));
    const { found } = await open(files.afterPowerCut(), clock);
    expect(found).toEqual(['default/d/a', 'default/d/b', 'default/e/c']);
  });

  it('takes one sync for a segment, and none for one with nothing to remember', async () => {
    const clock = new ManualClock();
    const files = new MemoryFiles();
    const { journal } = await open(files, clock);
    await journal.keep(segmentOf([undefined]));
    expect([files.syncs, files.names()]).toEqual([0, []]);
    await journal.keep(segmentOf(Array.from({ length: 1000 }, (_, index) => stored(clock, `r${index}`))));
    expect(files.syncs).toBe(1);
  });

  it('goes on in another file after a failed sync, and repeats what it could not keep', async () => {
    const clock = new ManualClock();
    const files = new MemoryFiles();
    const { journal } = await open(files, clock);
    await journal.keep(segmentOf([stored(clock, 'a')]));
    files.beforeSync = () => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    };
    await expect(journal.keep(segmentOf([stored(clock, 'b')]))).rejects.toThrow('EIO');
    files.beforeSync = () => {};
    await journal.keep(segmentOf([stored(clock, 'b')]));
    const { found } = await open(files.afterPowerCut(), clock);
    expect(found).toEqual(['default/d/a', 'default/d/b']);
    expect(files.names()).toHaveLength(2);
  });

  it('works again after a file could not be made', async () => {
    const clock = new ManualClock();
    const files = new MemoryFiles();
    const { journal } = await open(files, clock);
    files.beforeWrite = () => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    };
    await expect(journal.keep(segmentOf([stored(clock, 'a')]))).rejects.toThrow('ENOSPC');
    files.beforeWrite = () => {};
    await journal.keep(segmentOf([stored(clock, 'a')]));
    const { found } = await open(files.afterPowerCut(), clock);
    expect(found).toEqual(['default/d/a']);
  });

  it('removes a file when the window has passed for all in it, also for files of earlier lives', async () => {
    const clock = new ManualClock();
    const files = new MemoryFiles();
    const first = await open(files, clock);
    await first.journal.keep(segmentOf([stored(clock, 'a')]));
    clock.advance(partMs + 1);
    const second = await open(files, clock);
    await second.journal.keep(segmentOf([stored(clock, 'b')]));
    const [old, young] = files.names();
    clock.advance(windowMs - partMs - 2);
    await second.journal.keep(segmentOf([]));
    expect(files.names()).toEqual([old, young]);
    clock.advance(1);
    await second.journal.keep(segmentOf([]));
    expect(files.names()).toEqual([young]);
  });

  it('holds the requests of one window in a bounded number of files', async () => {
    const clock = new ManualClock();
    const files = new MemoryFiles();
    const { journal } = await open(files, clock);
    let most = 0;
    for (let second = 0; second < (5 * windowMs) / 1000; second += 1) {
      await journal.keep(segmentOf([stored(clock, `r${second}`)]));
      most = Math.max(most, files.names().length);
      clock.advance(1000);
    }
    expect(most).toBeGreaterThan(2);
    expect(most).toBeLessThanOrEqual(limits.replayJournalParts + 2);
    const { found } = await open(files.afterPowerCut(), clock);
    const firstValid = (5 * windowMs) / 1000 - windowMs / 1000;
    expect(found).toEqual(
      expect.arrayContaining([`default/d/r${firstValid}`, `default/d/r${firstValid + 79}`]),
    );
  });

  it('drops its oldest file above its bound of bytes', async () => {
    const clock = new ManualClock();
    const files = new MemoryFiles();
    const { journal } = await open(files, clock);
    // Long names stand for many of them.
    const perFile = limits.maxReplayJournalBytes / limits.replayJournalParts;
    for (let index = 0; index < limits.replayJournalParts + 4; index += 1) {
      await journal.keep(segmentOf([stored(clock, `${index}-${'x'.repeat(perFile)}`)]));
    }
    const bytes = files.names().reduce((sum, name) => sum + files.contents(name).length, 0);
    expect(bytes).toBeLessThan(limits.maxReplayJournalBytes + 2 * perFile);
    const { found } = await open(files, clock);
    expect(found[0]).not.toMatch(/\/0-/);
    expect(found.at(-1)).toMatch(new RegExp(`/${limits.replayJournalParts + 3}-`));
  });

  it('reads every whole line, wherever the file was cut or damaged', async () => {
    const clock = new ManualClock();
    const files = new MemoryFiles();
    const { journal } = await open(files, clock);
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) await journal.keep(segmentOf([stored(clock, name)], `set-${name}`));
    const [file = ''] = files.names();
    const whole = files.contents(file);
    const headBytes = whole.indexOf('\n') + 1;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: headBytes, max: whole.length }),
        fc.option(fc.record({ at: fc.nat(), value: fc.nat(255) }), { nil: undefined }),
        async (length, damage) => {
          const bytes = Buffer.from(whole.subarray(0, length));
          const at = headBytes + ((damage?.at ?? 0) % Math.max(1, length - headBytes));
          if (damage !== undefined && at < length) bytes[at] = damage.value;
          const left = new MemoryFiles();
          left.set(file, bytes);
          const { found } = await open(left, clock);
          const untouched = names.filter((name) => {
            const line = whole.indexOf(`"set-${name}"`);
            const start = whole.lastIndexOf('\n', line) + 1;
            const end = whole.indexOf('\n', line);
            return (
              end <= length &&
              bytes.subarray(start, end).equals(whole.subarray(start, end)) &&
              (end === length || bytes[end] === 0x0a) &&
              bytes[start - 1] === 0x0a
            );
          });
          expect(found).toEqual(untouched.map((name) => `default/set-${name}/${name}`));
        },
      ),
    );
  });

  it('refuses a file of a format that it does not know, by name', async () => {
    const files = new MemoryFiles();
    const name = `${'1'.padStart(20, '0')}.replay`;
    files.set(name, Buffer.from('millrace-replay 2\n'));
    await expect(open(files, new ManualClock())).rejects.toThrow(`${name} begins with "millrace-replay 2"`);
  });
});
