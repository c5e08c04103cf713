import type { Catalog } from '../../src/catalog/catalog.ts';
import type { InsertBatch } from '../../src/clickhouse/store.ts';
import { datasetIdOf, defaultTenant } from '../../src/model/dataset.ts';
import type { Backlog } from '../../src/wal/backlog.ts';
import { segmentHeaderBytes } from '../../src/wal/record.ts';
import { type SealedSegment, segmentName } from '../../src/wal/segment.ts';
import type { Wal } from '../../src/wal/wal.ts';
import { decodeRows } from './simulated-rows.ts';
import type { World } from './world.ts';

/**
 * A recovered segment ends with its last record: it takes no more, and nothing else may look like its end.
 */
export function checkRecovered(world: World, segments: readonly SealedSegment[]): void {
  for (const { name, byteLength } of segments) {
    const extra = world.disk.size(name) - segmentHeaderBytes - byteLength;
    if (extra !== 0) world.violate(`${name} has ${extra} bytes behind its records`);
  }
}

/**
 * Rows that go to the store under a token must be the ones that every later life finds under it. No sample is
 * stored before its labels, since a reader would find it without them.
 */
export function checkInserted(world: World, node: string, batch: InsertBatch): void {
  checkToken(world, node, batch.token);
  if (!batch.table.endsWith('.samples')) return;
  const ids = new Set(batch.blocks.flatMap((block) => decodeRows(block)).map(({ id }) => id));
  for (const { rows, mayBeGone } of world.ledger.requests) {
    const inBatch = [...rows.values()].flat().some((id) => ids.has(id));
    if (!inBatch || mayBeGone) continue;
    const labels = [...rows].filter(([table]) => table.endsWith('.series')).flatMap(([, series]) => series);
    const missing = labels.find((id) => !world.store.isStored(id));
    if (missing !== undefined)
      world.violate(`samples were sent before row ${missing}, which holds their labels`);
  }
}

function checkToken(world: World, node: string, token: string): void {
  const [, first = 'none', last = first] = new RegExp(`^${node}-(\\d+)(?:\\.\\.(\\d+))?-`).exec(token) ?? [];
  for (const number of [first, last]) {
    if (world.disk.isDurable(segmentName(Number(number)))) continue;
    world.violate(`an insert was sent as ${token} before the segment was durable as it is`);
  }
}

/** A service that has stopped without faults has left nothing behind. */
export function checkRest(world: World, wal: Wal, backlog: Backlog): void {
  const expectZero = (what: string, figure: number) => {
    if (figure !== 0) world.violate(`${what}: ${figure} at rest`);
  };
  expectZero('bytes in the log', wal.bytes);
  expectZero('segments in the log', wal.pendingSegments);
  expectZero('bytes of blocks in memory', backlog.retainedBytes);
  expectZero('open files', world.disk.openFiles);
  expectZero('dead letters', world.deadLetters.names().length);
  const isDamaged = (name: string) => name.includes('.damaged-');
  const names = world.disk.names();
  // A killed process leaves the beginning of what it was writing. Only a power cut leaves holes.
  if (names.filter((name) => !isDamaged(name)).length !== 1 || (!world.powerCuts && names.some(isDamaged))) {
    world.violate(`at rest the log holds the files ${names.join(', ')}`);
  }
}

/**
 * Acknowledged rows are stored exactly once, other rows at most once, and rows that were never sent not at
 * all. Tables of a deleted dataset do not count, since nobody reads them any more.
 */
export function checkPromise(world: World, catalog: Pick<Catalog, 'hasEnded'>): void {
  // By id alone: what was written before the store was read may belong to a dataset with another id.
  const times = new Map<number, number>();
  for (const [name, { rows }] of world.store.tables) {
    const dataset = datasetIdOf(name.slice(name.indexOf('.') + 1));
    const counts = !catalog.hasEnded(defaultTenant, dataset);
    for (const [id, count] of rows) times.set(id, (times.get(id) ?? 0) + (counts ? count : 0));
  }
  for (const { rows, outcome, mayBeGone, isGone } of world.ledger.requests) {
    for (const id of [...rows.values()].flat()) {
      const count = times.get(id) ?? 0;
      times.delete(id);
      if (count > 1) world.violate(`row ${id}, ${outcome}, is stored ${count} times`);
      if (count > 0 && isGone) world.violate(`row ${id}, ${outcome}, was deleted and is there again`);
      if (count === 0 && outcome === 'acknowledged' && !mayBeGone) {
        world.violate(`row ${id}, acknowledged, is lost`);
      }
    }
  }
  for (const id of times.keys()) world.violate(`row ${id} was never sent`);
}

/** What one sender sent arrived in the order of sending. */
export function checkOrder(world: World): void {
  const arrival = new Map(world.store.arrivals.map((id, index) => [id, index]));
  const newest = new Map<string, number>();
  for (const { client, rows } of world.ledger.requests) {
    for (const [table, ids] of rows) {
      const stream = `${client} ${table}`;
      for (const id of ids) {
        const at = arrival.get(id);
        if (at === undefined) continue;
        if (at < (newest.get(stream) ?? -1))
          world.violate(`row ${id} arrived before an earlier one of ${stream}`);
        newest.set(stream, at);
      }
    }
  }
}
