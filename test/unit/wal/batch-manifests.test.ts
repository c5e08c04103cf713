import { expect, test } from 'vitest';
import { Backlog } from '../../../src/wal/backlog.ts';
import { emptyCheckpoint } from '../../../src/wal/checkpoints.ts';
import { type SealedSegment, segmentName } from '../../../src/wal/segment.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';

test('of manifests that are written at the same time, one of which fails, nothing is left when their segments are gone', async () => {
  const files = new MemoryFiles();
  const backlog = new Backlog(files);
  const segments = [1, 2].map((number): SealedSegment => {
    return {
      number,
      name: segmentName(number),
      sinceMicros: 0,
      byteLength: 0,
      records: [],
      checkpoint: emptyCheckpoint(),
      manifests: [],
    };
  });
  for (const segment of segments) backlog.add(segment);
  await backlog.created(3);
  let failures = 1;
  files.beforeWrite = () => {
    if (failures-- > 0) throw new Error('no space');
  };
  const written = ['a', 'b'].map((table) => backlog.writeManifest(segments, new Map([[table, 1]])));
  expect((await Promise.allSettled(written)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  await backlog.writeManifest(segments, new Map([['a', 1]]));
  expect(files.names()).toHaveLength(3);
  for (const segment of segments) await backlog.remove(segment);
  expect(files.names()).toEqual([]);
});
