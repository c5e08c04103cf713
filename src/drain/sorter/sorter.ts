/**
 * Puts samples in the order of their table, in AssemblyScript (https://www.assemblyscript.org): a counting
 * sort. One pass finds the series of each sample and counts, then the series are sorted, and a second pass
 * puts each sample behind those of its series that came before it.
 *
 * Each series gets an ordinal, in the order in which the series first occur. Senders repeat their series in
 * the same order, so the next sample nearly always has the next ordinal, which needs no search.
 *
 * From `begin` on its memory holds, one behind the other:
 *
 *     slots      u32: a hash table with linear probing, at most half full, of ordinals plus one; 0 is free
 *     series     by ordinal: series_id u64, metric_id u32, samples u32, from `order` on the row of its next
 *                sample
 *     items      twice as many as series: series_id u64, metric_id u32, ordinal u32; to be sorted
 *     ordinals   u32 for each sample, in the order in which they come
 *     columns    of the result
 *     scratch    where the caller puts columns of a block
 */
const seriesBytes: u32 = 16;
const pageShift: u32 = 16;
const none: u32 = u32.MAX_VALUE;

/** Of the result, once all samples are placed. */
export let metricIds: u32 = 0;
export let seriesIds: u32 = 0;
export let timestamps: u32 = 0;
export let values: u32 = 0;
export let scratch: u32 = 0;

let slots: u32 = 0;
let slotMask: u32 = 0;
let series: u32 = 0;
let seriesCount: u32 = 0;
let seriesCapacity: u32 = 0;
let items: u32 = 0;
let ordinals: u32 = 0;
let seed: u64 = 0;
/** Samples found so far, and the ordinal of the last one. */
let row: u32 = 0;
let ordinal: u32 = none;

/**
 * @param rows samples in all
 * @param maxSeries of how many series at most
 * @param scratchBytes to be had at `scratch`
 * @param tableSeed so that nobody outside can choose series that collide in the table
 */
export function begin(rows: u32, maxSeries: u32, scratchBytes: u32, tableSeed: u64): void {
  let slotCount: u32 = 2;
  while (slotCount < 2 * maxSeries) slotCount *= 2;
  slots = (<u32>__heap_base + 15) & ~15;
  series = slots + 4 * slotCount;
  items = series + seriesBytes * maxSeries;
  seriesIds = items + 2 * seriesBytes * maxSeries;
  timestamps = seriesIds + 8 * rows;
  values = timestamps + 8 * rows;
  metricIds = values + 8 * rows;
  ordinals = metricIds + 4 * rows;
  scratch = ordinals + 4 * rows;
  const pages = (scratch + scratchBytes + 0xffff) >> pageShift;
  if (pages > <u32>memory.size()) memory.grow(pages - memory.size());
  memory.fill(slots, 0, 4 * slotCount);
  slotMask = slotCount - 1;
  seriesCapacity = maxSeries;
  seriesCount = 0;
  seed = tableSeed;
  row = 0;
  ordinal = none;
}

/**
 * Finds the series of the next `count` samples, whose ids are at these addresses. @returns false if there are
 * too many
 */
export function find(metrics: u32, ids: u32, count: u32): bool {
  for (let index: u32 = 0; index < count; index++) {
    const id = load<u64>(ids + 8 * index);
    const metric = load<u32>(metrics + 4 * index);
    let found = ordinal + 1;
    if (found >= seriesCount || !is(found, id, metric)) {
      found = search(id, metric);
      if (found === none) return false;
    }
    const at = series + seriesBytes * found;
    store<u32>(at, load<u32>(at, 12) + 1, 12);
    store<u32>(ordinals + 4 * row, found);
    ordinal = found;
    row++;
  }
  return true;
}

function is(candidate: u32, id: u64, metric: u32): bool {
  const at = series + seriesBytes * candidate;
  return load<u64>(at) === id && load<u32>(at, 8) === metric;
}

/**
 * @returns the ordinal of a series, which is a new one if it was not there; `none` if there is no room for it
 */
function search(id: u64, metric: u32): u32 {
  let hash = (id ^ seed) * 0x9e37_79b1_85eb_ca87;
  hash = (hash ^ (hash >> 32)) * 0xc2b2_ae3d_27d4_eb4f;
  let slot = <u32>(hash >> 32) & slotMask;
  while (true) {
    const at = slots + 4 * slot;
    const found = load<u32>(at);
    if (found === 0) return add(at, id, metric);
    if (is(found - 1, id, metric)) return found - 1;
    slot = (slot + 1) & slotMask;
  }
}

function add(slot: u32, id: u64, metric: u32): u32 {
  if (seriesCount === seriesCapacity) return none;
  const at = series + seriesBytes * seriesCount;
  store<u64>(at, id);
  store<u32>(at, metric, 8);
  store<u32>(at, 0, 12);
  store<u32>(slot, ++seriesCount);
  return seriesCount - 1;
}

/** When the series of all samples are found: sorts them, and writes the columns of ids. */
export function order(): void {
  for (let index: u32 = 0; index < seriesCount; index++) {
    const from = series + seriesBytes * index;
    const to = items + seriesBytes * index;
    store<u64>(to, load<u64>(from));
    store<u32>(to, load<u32>(from, 8), 8);
    store<u32>(to, index, 12);
  }
  const sorted = sortItems();
  let next: u32 = 0;
  for (let index: u32 = 0; index < seriesCount; index++) {
    const item = sorted + seriesBytes * index;
    const id = load<u64>(item);
    const metric = load<u32>(item, 8);
    const count = series + seriesBytes * load<u32>(item, 12) + 12;
    const end = next + load<u32>(count);
    store<u32>(count, next);
    for (; next < end; next++) {
      store<u64>(seriesIds + 8 * next, id);
      store<u32>(metricIds + 4 * next, metric);
    }
  }
}

/**
 * Merges runs, each time twice as long, from one half of the items into the other. @returns where they are
 * sorted
 */
function sortItems(): u32 {
  let from = items;
  let to = items + seriesBytes * seriesCapacity;
  for (let run: u32 = 1; run < seriesCount; run *= 2) {
    for (let start: u32 = 0; start < seriesCount; start += 2 * run) {
      const middle = min(start + run, seriesCount);
      merge(from, to, start, middle, min(middle + run, seriesCount));
    }
    const merged = to;
    to = from;
    from = merged;
  }
  return from;
}

function merge(from: u32, to: u32, start: u32, middle: u32, end: u32): void {
  let left = start;
  let right = middle;
  for (let index = start; index < end; index++) {
    const takesLeft =
      right === end || (left < middle && !isBefore(from + seriesBytes * right, from + seriesBytes * left));
    const item = from + seriesBytes * (takesLeft ? left++ : right++);
    store<u64>(to + seriesBytes * index, load<u64>(item));
    store<u64>(to + seriesBytes * index, load<u64>(item, 8), 8);
  }
}

function isBefore(a: u32, b: u32): bool {
  const left = load<u32>(a, 8);
  const right = load<u32>(b, 8);
  return left === right ? load<u64>(a) < load<u64>(b) : left < right;
}

/** The ordinal of the series of a sample that was found. */
export function ordinalOf(sample: u32): u32 {
  return load<u32>(ordinals + 4 * sample);
}

/** Places `count` samples from this one on, whose times and values are at these addresses. */
export function place(first: u32, times: u32, bits: u32, count: u32): void {
  for (let index: u32 = 0; index < count; index++) {
    const at = series + seriesBytes * load<u32>(ordinals + 4 * (first + index)) + 12;
    const to = load<u32>(at);
    store<u32>(at, to + 1);
    store<u64>(timestamps + 8 * to, load<u64>(times + 8 * index));
    store<u64>(values + 8 * to, load<u64>(bits + 8 * index));
  }
}
