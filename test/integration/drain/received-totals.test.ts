import { afterAll, beforeAll, expect, it } from 'vitest';
import { ReceivedTable } from '../../../src/catalog/received-table.ts';
import { ReceivedTotals } from '../../../src/drain/received-totals.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { emptyCheckpoint } from '../../../src/wal/checkpoints.ts';
import type { RecordHeader } from '../../../src/wal/record-header.ts';
import type { SealedSegment } from '../../../src/wal/segment.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
  await new MetadataLog(test.store, 'node-1').prepare();
});
afterAll(() => test.close());

const dayMs = 86_400_000;
const today = Date.parse('2026-11-20T10:00:00Z');

function segment(number: number, ...headers: RecordHeader[]): SealedSegment {
  const records = headers.map((header) => ({ header, blocksPosition: 0, blocks: undefined }));
  return {
    number,
    name: '',
    sinceMicros: 0,
    byteLength: 0,
    records,
    checkpoint: emptyCheckpoint(),
    manifests: [],
  };
}

const header = (dataset: string, rows: number, bytes: number, atMs = today): RecordHeader => ({
  tenant: 'default',
  dataset,
  kind: 'events',
  received: { micros: atMs * 1000, bytes },
  blocks: [{ table: 'events', rows, byteLength: 1, columns: [] }],
});

it('counts what was received once, by day, while it waits and when it has left the log', async () => {
  const table = new ReceivedTable(test.store);
  const first = segment(1, header('app', 2, 100), header('web', 5, 10), header('app', 1, 50, today - dayMs));
  const second = segment(2, header('app', 3, 30), header('gone', 9, 9));
  const log = [first, second];
  const life = () =>
    new ReceivedTotals({
      node: 'node-1',
      table,
      destination: ({ dataset }) => (dataset === 'gone' ? undefined : dataset),
      segments: () => log,
      log: createLogger('silent'),
    });
  const received = life();
  expect(received.pending('default', 'app', undefined)).toEqual({ events: 6, bytes: 180 });
  expect(received.pending('default', 'app', '2026-11-19')).toEqual({ events: 1, bytes: 50 });

  await received.addSegment(first);
  expect(received.pending('default', 'app', undefined)).toEqual({ events: 3, bytes: 30 });
  // A crash came before the segment had left the log.
  await life().addSegment(first);
  log.shift();
  await received.addSegment(second);
  const day = Math.floor(today / dayMs);
  expect(await table.days('default', 'app')).toEqual([
    { day: day - 1, events: 1, bytes: 50 },
    { day, events: 5, bytes: 130 },
  ]);
  expect(await table.days('default', 'gone')).toEqual([]);

  await table.forgetEnded((_, dataset) => dataset === 'app');
  expect(await table.days('default', 'app')).toEqual([]);
  expect(await table.days('default', 'web')).toEqual([{ day, events: 5, bytes: 10 }]);
});
