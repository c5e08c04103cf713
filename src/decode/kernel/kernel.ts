/**
 * The hot loop of remote write, in AssemblyScript (https://www.assemblyscript.org): samples of series in the shape in
 * which senders write them. Everything else it leaves to the decoder in TypeScript
 * (`remote-write-v1.ts`), which reads the same message, field by field, and defines what is right.
 *
 *     TimeSeries   labels, then samples of one day, nothing else
 *     Label        of a new series as in `new-series.ts`; of others any, since its bytes were checked before
 *     Sample       value (absent if it is zero), then timestamp
 *
 * A series is known when the table has the hash of its label bytes and says that its row for the day of the
 * samples is durable. One that is not in the table at all is new: the kernel writes its row and puts it there, as long
 * as the table has room; it never makes the table grow. One whose last row is durable and of another day gets a row for
 * the day of the samples.
 *
 * Each read is checked against the end of what it reads from, either before it, or after it and before the use
 * of what was read: there is slack behind each region.
 */
import { hashBytes } from './hash';
import {
  messageAddress,
  metricIds,
  rowCapacity,
  seriesIds,
  tableAddress,
  timestamps,
  values,
} from './memory';
import { beginSeries, metricId, readLabels, seriesId, writeRow } from './new-series';

export { keysOffset } from './dictionary';
export {
  bodyAddress,
  bodyCapacity,
  endAddress,
  labelNames,
  messageAddress,
  messageCapacity,
  metricIds,
  metricNames,
  newDates,
  newLabelEnds,
  newLabelKeys,
  newLabelValues,
  newMetricIds,
  newMetricNames,
  newSeriesIds,
  rowCapacity,
  seriesIds,
  tableAddress,
  tableBytes,
  timestamps,
  values,
} from './memory';
export { newPairs, newRows, newValueBytes } from './new-series';
export { unsnappy } from './snappy';

const requestTimeseries: u8 = 0x0a;
const seriesLabel: u8 = 0x0a;
const seriesSample: u8 = 0x12;
const sampleValue: u8 = 0x09;
const sampleTimestamp: u8 = 0x10;

const dayMs: u64 = 86_400_000;
/** `limits.maxSampleTimestampMs`, which is in the middle of a day. */
const maxTimestampMs: u64 = 4_294_967_295_999;
const slotShift: u32 = 5;
/** In place of the start of a day: that of the first sample. */
const anyDay: u64 = u64.MAX_VALUE;

/** Samples written to the columns since `begin`. */
export let rows: u32 = 0;
/**
 * Where `walk` stopped at a series that is in the table, but whose row it does not know to be durable: the address of
 * its slot. Otherwise 0.
 */
export let unconfirmedSlot: u32 = 0;
/** Series put into the table by the last `walk`. */
export let inserted: u32 = 0;
/** Halves of the hash that `hashLabels` computed last. */
export let hashLow: i32 = 0;
export let hashHigh: i32 = 0;

let messageEnd: u32 = messageAddress;
let seed: u64 = 0;
let sequence: u32 = 0;
/** Entries that the table may get. */
let tableRoom: u32 = 0;
/** The free slot at which the last search of the table ended, or 0. */
let freeSlot: u32 = 0;
/** When the day of the samples taken last begins. */
let takenDay: u64 = 0;

/**
 * Starts with the message in memory.
 * @param scopeSeed what the labels belong to, and a secret of this process
 * @param taskSequence in the table beside new series
 */
export function begin(messageLength: u32, scopeSeed: u64, taskSequence: u32): void {
  messageEnd = messageAddress + messageLength;
  seed = scopeSeed;
  sequence = taskSequence;
  rows = 0;
  beginSeries();
}

/**
 * Takes fields of the message from the offset `from` on, as long as they are as described above.
 * @param slotMask slots in use of the table, a power of two, less one
 * @param room entries that the table may get
 * @returns the offset of the first field that was not taken, or the length of the message
 */
export function walk(from: u32, slotMask: u32, room: u32): u32 {
  let at = messageAddress + from;
  unconfirmedSlot = 0;
  inserted = 0;
  tableRoom = room;
  while (at < messageEnd) {
    const next = takeSeries(at, slotMask);
    if (next === 0) break;
    at = next;
  }
  return at - messageAddress;
}

/** The key in the table of the label bytes `[start, end)` of the message, into `hashLow` and `hashHigh`. */
export function hashLabels(start: u32, end: u32): void {
  const hash = hashBytes(messageAddress + start, messageAddress + end, seed);
  hashLow = <i32>hash;
  hashHigh = <i32>(hash >> 32);
}

/** @returns where the next field begins; 0 if this one was not taken, and then it has left no trace */
function takeSeries(start: u32, slotMask: u32): u32 {
  if (load<u8>(start) !== requestTimeseries) return 0;
  // The length: up to three bytes, 2 MiB.
  let at = start + 1;
  let length: u32 = load<u8>(at++);
  if (length >= 0x80) {
    length = (length & 0x7f) | ((<u32>load<u8>(at++)) << 7);
    if (length >= 0x4000) {
      length = (length & 0x3fff) | ((<u32>load<u8>(at++)) << 14);
      if (length >= 0x20_0000) return 0;
    }
  }
  if (at > messageEnd || length > messageEnd - at) return 0;
  const end = at + length;

  const labels = at;
  at = skipLabels(at, end);
  if (at === 0) return 0;
  const hash = hashBytes(labels, at, seed);
  const slot = findSlot(hash, slotMask);
  if (slot === 0) return freeSlot !== 0 && takeNewSeries(labels, at, end, hash) ? end : 0;
  const dayStart = <u64>load<u32>(slot, 20) * dayMs;
  if (takeSamples(at, end, load<u64>(slot, 8), load<u32>(slot, 16), dayStart)) return end;
  // Perhaps the samples are of another day, for which the series needs another row.
  return takeWithRow(slot, labels, at, end, hash) ? end : 0;
}

/** Takes a series for which `freeSlot` is. @returns whether it was taken; if not, it has left no trace */
function takeNewSeries(labels: u32, samples: u32, end: u32, hash: u64): bool {
  if (inserted === tableRoom || !takeWithRow(freeSlot, labels, samples, end, hash)) return false;
  inserted++;
  return true;
}

/** Takes a series with a row for the day of its samples. @returns whether it was taken; if not, it has left no trace */
function takeWithRow(slot: u32, labels: u32, samples: u32, end: u32, hash: u64): bool {
  if (!readLabels(labels, samples)) return false;
  if (!takeSamples(samples, end, seriesId, metricId, anyDay)) return false;
  const day = <u32>(takenDay / dayMs);
  writeRow(day, seed);
  store<u64>(slot, keyOf(hash));
  store<u64>(slot, seriesId, 8);
  store<u32>(slot, metricId, 16);
  store<u32>(slot, day, 20);
  store<u32>(slot, sequence, 24);
  store<u32>(slot, 0, 28);
  return true;
}

/** @returns the end of the last label; 0 if there is none, or one that is malformed or longer than 16 KiB */
function skipLabels(start: u32, end: u32): u32 {
  let at = start;
  while (at < end && load<u8>(at) === seriesLabel) {
    let length: u32 = load<u8>(at, 1);
    at += 2;
    if (length >= 0x80) {
      length = (length & 0x7f) | ((<u32>load<u8>(at++)) << 7);
      if (length >= 0x4000) return 0;
    }
    at += length;
  }
  return at > end || at === start ? 0 : at;
}

/** @returns the address of the series' slot; 0 if it is not in the table, or its last row not known to be durable */
function findSlot(hash: u64, slotMask: u32): u32 {
  const key = keyOf(hash);
  freeSlot = 0;
  let index = <u32>hash & slotMask;
  while (true) {
    const slot = tableAddress + (index << slotShift);
    const found = load<u64>(slot);
    if (found === key) {
      if (load<u32>(slot, 28) === 1) return slot;
      unconfirmedSlot = slot;
      return 0;
    }
    if (found === 0) {
      freeSlot = slot;
      return 0;
    }
    index = (index + 1) & slotMask;
  }
}

function keyOf(hash: u64): u64 {
  // A hash of zero would look like a free slot.
  return hash === 0 ? (<u64>1) << 32 : hash;
}

/** @returns whether all of `[start, end)` are samples of that day; only then do they count */
function takeSamples(start: u32, end: u32, series: u64, metric: u32, firstDayStart: u64): bool {
  let dayStart = firstDayStart;
  let row = rows;
  let at = start;
  while (at < end) {
    if (load<u8>(at) !== seriesSample || row === rowCapacity) return false;
    // A length of two bytes has its high bit set here, and then the timestamp does not end where it should.
    const sampleEnd = at + 2 + load<u8>(at, 1);
    at += 2;
    let value: u64 = 0;
    if (load<u8>(at) === sampleValue) {
      value = load<u64>(at, 1);
      at += 9;
    }
    if (load<u8>(at) !== sampleTimestamp) return false;
    const encoded = load<u64>(at, 1);
    // The last byte of a varint is the first whose high bit is clear.
    const lastBits = ~encoded & 0x8080_8080_8080_8080;
    if (lastBits === 0) return false;
    at += 2 + (<u32>ctz(lastBits) >> 3);
    if (at !== sampleEnd || at > end) return false;
    const timestamp = joinGroups(encoded & (lastBits ^ (lastBits - 1)));
    if (dayStart === anyDay) dayStart = timestamp - (timestamp % dayMs);
    if (timestamp - dayStart >= dayMs || timestamp > maxTimestampMs) return false;
    store<u32>(metricIds + 4 * row, metric);
    store<u64>(seriesIds + 8 * row, series);
    store<u64>(timestamps + 8 * row, timestamp);
    store<u64>(values + 8 * row, value);
    row++;
  }
  if (row === rows) return false;
  rows = row;
  takenDay = dayStart;
  return true;
}

/** The number of which a varint of up to eight bytes holds seven bits a byte, the lowest first. */
function joinGroups(bytes: u64): u64 {
  let bits = ((bytes & 0x7f00_7f00_7f00_7f00) >> 1) | (bytes & 0x007f_007f_007f_007f);
  bits = ((bits & 0x3fff_0000_3fff_0000) >> 2) | (bits & 0x0000_3fff_0000_3fff);
  return ((bits & 0x0fff_ffff_0000_0000) >> 4) | (bits & 0x0fff_ffff);
}
