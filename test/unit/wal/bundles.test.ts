import { expect, test } from 'vitest';
import { Backlog } from '../../../src/wal/backlog.ts';
import { type SealedSegment, segmentName } from '../../../src/wal/segment.ts';
import { noStoredTables } from '../../../src/wal/stored-notes.ts';
import { MemoryFiles } from '../../support/memory-files.ts';

test('of bundles that are noted at the same time, one of which fails, nothing is left when their segments are gone', async () => {
  const files = new MemoryFiles();
  const backlog = new Backlog(files);
  const segments = [1, 2].map((number): SealedSegment => {
    const stored = noStoredTables();
    return {
      number,
      name: segmentName(number),
      sinceMicros: 0,
      byteLength: 0,
      records: [],
      stored,
      bundles: [],
    };
  });
  for (const segment of segments) backlog.add(segment);
  await backlog.created(3);
  let failures = 1;
  files.beforeWrite = () => {
    if (failures-- > 0) throw new Error('no space');
  };
  const noted = ['a', 'b'].map((table) => backlog.bundle(segments, new Map([[table, 1]])));
  expect((await Promise.allSettled(noted)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  await backlog.bundle(segments, new Map([['a', 1]]));
  expect(files.names()).toHaveLength(3);
  for (const segment of segments) await backlog.remove(segment);
  expect(files.names()).toEqual([]);
});
