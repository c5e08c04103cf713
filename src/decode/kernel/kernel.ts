/**
 * The hot loop of remote write, in AssemblyScript (https://www.assemblyscript.org): samples of series that are
 * known, in the shape in which senders write them. Everything else it leaves to the decoder in TypeScript
 * (`remote-write-v1.ts`), which reads the same message, field by field, and defines what is right.
 *
 *     TimeSeries   labels, then samples, nothing else
 *     Label        any; its bytes were checked when the series was first met
 *     Sample       value (absent if it is zero), then timestamp
 *
 * A series is known when the table has the hash of its label bytes and says that its row for the day of the
 * samples is durable. Only the TypeScript side writes the table.
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

export {
  bodyAddress,
  bodyCapacity,
  endAddress,
  messageAddress,
  messageCapacity,
  metricIds,
  rowCapacity,
  seriesIds,
  tableAddress,
  tableBytes,
  timestamps,
  values,
} from './memory';
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

/** Samples written to the columns since `begin`. */
export let rows: u32 = 0;
/**
 * Where `walk` stopped at a series that is in the table, but whose row it does not know to be durable: the address of
 * its slot. Otherwise 0.
 */
export let unconfirmedSlot: u32 = 0;
/** Halves of the hash that `hashLabels` computed last. */
export let hashLow: i32 = 0;
export let hashHigh: i32 = 0;

let messageEnd: u32 = messageAddress;
let seed: u64 = 0;

/** Starts with the message in memory. @param scopeSeed what the labels belong to, and a secret of this process */
export function begin(messageLength: u32, scopeSeed: u64): void {
  messageEnd = messageAddress + messageLength;
  seed = scopeSeed;
  rows = 0;
}

/**
 * Takes fields of the message from the offset `from` on, as long as they are as described above.
 * @param slotMask slots in use of the table, a power of two, less one
 * @returns the offset of the first field that was not taken, or the length of the message
 */
export function walk(from: u32, slotMask: u32): u32 {
  let at = messageAddress + from;
  unconfirmedSlot = 0;
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
  const slot = findSlot(hashBytes(labels, at, seed), slotMask);
  if (slot === 0) return 0;
  return takeSamples(at, end, slot) ? end : 0;
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
  // A hash of zero would look like a free slot.
  const key: u64 = hash === 0 ? 1 << 32 : hash;
  let index = <u32>hash & slotMask;
  while (true) {
    const slot = tableAddress + (index << slotShift);
    const found = load<u64>(slot);
    if (found === key) {
      if (load<u32>(slot, 28) === 1) return slot;
      unconfirmedSlot = slot;
      return 0;
    }
    if (found === 0) return 0;
    index = (index + 1) & slotMask;
  }
}

/** @returns whether all of `[start, end)` are samples of the slot's day; only then do they count */
function takeSamples(start: u32, end: u32, slot: u32): bool {
  const seriesId = load<u64>(slot, 8);
  const metricId = load<u32>(slot, 16);
  const dayStart = <u64>load<u32>(slot, 20) * dayMs;
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
    if (timestamp - dayStart >= dayMs || timestamp > maxTimestampMs) return false;
    store<u32>(metricIds + 4 * row, metricId);
    store<u64>(seriesIds + 8 * row, seriesId);
    store<u64>(timestamps + 8 * row, timestamp);
    store<u64>(values + 8 * row, value);
    row++;
  }
  if (row === rows) return false;
  rows = row;
  return true;
}

/** The number of which a varint of up to eight bytes holds seven bits a byte, the lowest first. */
function joinGroups(bytes: u64): u64 {
  let bits = ((bytes & 0x7f00_7f00_7f00_7f00) >> 1) | (bytes & 0x007f_007f_007f_007f);
  bits = ((bits & 0x3fff_0000_3fff_0000) >> 2) | (bits & 0x0000_3fff_0000_3fff);
  return ((bits & 0x0fff_ffff_0000_0000) >> 4) | (bits & 0x0fff_ffff);
}
