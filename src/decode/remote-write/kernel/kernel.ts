/**
 * The hot loop of remote write, in AssemblyScript (https://www.assemblyscript.org): samples of series
 * in the shape in which senders write them. Everything else it leaves to the decoders in TypeScript
 * (`remote-write-v1.ts`, `remote-write-v2.ts`), which read the same message, field by field, and
 * define what is right.
 *
 *     1.0   labels, then samples of one day, nothing else
 *     2.0   references to symbols (`symbols.ts`), then samples of one day, then metadata or nothing
 *
 *     Label     of a new series as in `write-new-series.ts`; of others any, since its bytes are checked
 *     Sample    value (absent if it is zero), then timestamp
 *
 * A series is known when the table has the hash of its labels and says that its row for the day of the
 * samples is durable. One that is not in the table at all is new: the kernel writes its row and puts it
 * there, as long as the table has room; it never makes the table grow. One whose last row is durable and of
 * another day gets a row for the day of the samples.
 *
 * Each read is checked against the end of what it reads from, either before it, or after it and before the
 * use of what was read: there is slack behind each region.
 */
import { hashBytes } from './hash';
import { readLabelRefs } from './label-refs';
import { dayBits, dayBitsBytes, messageAddress, tableAddress } from './memory-layout';
import { beginMetadata, forgetUnconfirmed, takeMetadata } from './metadata';
import { readLabelMessages, skipLabels } from './read-label-messages';
import { anyDay, beginSamples, dayMs, keepSamples, readDay, readSamples } from './samples';
import { dayOf, fillSlot, findSlot, isConfirmed, isFree, metricIdOf, seriesIdOf } from './series-slots';
import {
  hashOfDescription,
  hashOfGivenRefs,
  hashOfRefs,
  readRefs,
  readSymbolTable,
  takeSymbolTable,
} from './symbols';
import { beginSeries, metricId, seriesId, writeRow } from './write-new-series';

export { keysOffset } from './dictionary';
export {
  bodyAddress,
  bodyCapacity,
  dayBits,
  dayBitsBytes,
  endAddress,
  labelNames,
  messageAddress,
  messageCapacity,
  metadataTableAddress,
  metadataTableBytes,
  metricIds,
  metricNames,
  newDates,
  newLabelEnds,
  newLabelKeys,
  newLabelValues,
  newMetricIds,
  newMetricNames,
  newSeriesIds,
  refCapacity,
  refsAddress,
  seriesIds,
  symbolCapacity,
  symbolPlaces,
  tableAddress,
  tableBytes,
  timestamps,
  values,
} from './memory-layout';
export { descriptions, unconfirmedDescription } from './metadata';
export { rows } from './samples';
export { unsnappy } from './snappy';
export { symbolCount } from './symbols';
export { newPairs, newRows, newValueBytes } from './write-new-series';

const timeseries1: u8 = 0x0a;
const timeseries2: u8 = 0x2a;

/**
 * Where `walk` stopped at a series that is in the table, but whose row it does not know to be durable: the
 * address of its slot. Otherwise 0.
 */
export let unconfirmedSlot: u32 = 0;
/** Series put into the table by the last `walk`. */
export let inserted: u32 = 0;
/** Days that the last `walk` added to those of the request. */
export let newDays: u32 = 0;
/** Halves of the hash that was computed last for the decoders. */
export let hashLow: i32 = 0;
export let hashHigh: i32 = 0;

let messageEnd: u32 = messageAddress;
let seed: u64 = 0;
let sequence: u32 = 0;
let isSecond: bool = false;
/** Slots in use of the tables, powers of two, less one. */
let slotMask: u32 = 0;
let metadataMask: u32 = 0;
/** When the day begins that a series was taken for last. */
let lastDay: u64 = anyDay;
/** Days that may be added to those of the request. */
let dayRoom: u32 = 0;
/** Entries that the table may get. */
let tableRoom: u32 = 0;

/**
 * Starts with the message in memory.
 * @param scopeSeed what the labels belong to, and a secret of this process
 * @param taskSequence in the tables beside new series
 * @param today days since 1970
 * @param maxValueBytes that the labels of rows may have
 */
export function begin(
  messageLength: u32,
  scopeSeed: u64,
  taskSequence: u32,
  today: u32,
  maxValueBytes: u32,
): void {
  messageEnd = messageAddress + messageLength;
  seed = scopeSeed;
  sequence = taskSequence;
  isSecond = false;
  lastDay = anyDay;
  memory.fill(dayBits, 0, dayBitsBytes);
  beginSamples();
  beginSeries(maxValueBytes);
  beginMetadata(today, taskSequence);
}

/**
 * Reads the symbols of a message of version 2.0, which it is taken for from then on.
 * @returns the offset of the first field behind them; 0 if they are not as described there
 */
export function readSymbols(): u32 {
  isSecond = true;
  const at = readSymbolTable(messageEnd, seed);
  return at === 0 ? 0 : at - messageAddress;
}

/**
 * Replaces the symbols by those whose offsets in the message are at `symbolPlaces`, where each begins and
 * ends.
 */
export function takeSymbols(count: u32): void {
  takeSymbolTable(count, seed);
}

/**
 * Takes fields of the message from the offset `from` on, as long as they are as described above.
 * @param room entries that the table of series may get
 * @param newDayRoom days that may be added to those of the request
 * @returns the offset of the first field that was not taken, or the length of the message
 */
export function walk(from: u32, seriesMask: u32, room: u32, descriptionMask: u32, newDayRoom: u32): u32 {
  let at = messageAddress + from;
  unconfirmedSlot = 0;
  forgetUnconfirmed();
  inserted = 0;
  newDays = 0;
  dayRoom = newDayRoom;
  slotMask = seriesMask;
  tableRoom = room;
  metadataMask = descriptionMask;
  while (at < messageEnd) {
    const next = takeSeries(at);
    if (next === 0) break;
    at = next;
  }
  return at - messageAddress;
}

/** The key in the table of the label bytes `[start, end)` of the message, into `hashLow` and `hashHigh`. */
export function hashLabels(start: u32, end: u32): void {
  keepHash(hashBytes(messageAddress + start, messageAddress + end, seed));
}

/** The same of the first `count` references at `refsAddress`, each less than `symbolCount`. */
export function hashRefs(count: u32): void {
  keepHash(hashOfGivenRefs(count, seed));
}

/** The key of a description, in the table of metadata. */
export function hashDescription(metric: u32, type: u32, help: u32, unit: u32): void {
  keepHash(hashOfDescription(metric, type, help, unit, seed));
}

function keepHash(hash: u64): void {
  hashLow = <i32>hash;
  hashHigh = <i32>(hash >> 32);
}

/** @returns where the next field begins; 0 if this one was not taken, and then it has left no trace */
function takeSeries(start: u32): u32 {
  if (load<u8>(start) !== (isSecond ? timeseries2 : timeseries1)) return 0;
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

  const samples = isSecond ? readRefs(at, end) : skipLabels(at, end);
  if (samples === 0) return 0;
  const hash = isSecond ? hashOfRefs(seed) : hashBytes(at, samples, seed);
  const slot = findSlot(tableAddress, hash, slotMask);
  if (isFree(slot)) {
    if (inserted === tableRoom || !takeWithRow(slot, at, samples, end, hash)) return 0;
    inserted++;
    return end;
  }
  if (!isConfirmed(slot)) {
    unconfirmedSlot = slot;
    return 0;
  }
  const metric = metricIdOf(slot);
  const dayStart = <u64>dayOf(slot) * dayMs;
  const samplesEnd = readSamples(samples, end, seriesIdOf(slot), metric, dayStart);
  // Perhaps the samples are of another day, for which the series needs another row.
  if (samplesEnd === 0) return takeWithRow(slot, at, samples, end, hash) ? end : 0;
  if (isDayTooMany() || !takeRest(samplesEnd, end, metric)) return 0;
  keepSamples();
  keepDay();
  return end;
}

/** Whether the day of the samples that were read last is one too many: the other decoder says so. */
function isDayTooMany(): bool {
  if (readDay === lastDay || newDays < dayRoom) return false;
  const day = <u32>(readDay / dayMs);
  return ((load<u32>(dayBits + 4 * (day >> 5)) >> (day & 31)) & 1) === 0;
}

/** The day of the samples that were read last is one of the request's from now on. */
function keepDay(): void {
  if (readDay === lastDay) return;
  lastDay = readDay;
  const day = <u32>(readDay / dayMs);
  const word = dayBits + 4 * (day >> 5);
  const bit: u32 = 1 << (day & 31);
  const bits = load<u32>(word);
  if ((bits & bit) !== 0) return;
  store<u32>(word, bits | bit);
  newDays++;
}

/**
 * Takes a series with a row for the day of its samples. @returns whether it was taken; if not,
 * it has left no trace
 */
function takeWithRow(slot: u32, labels: u32, samples: u32, end: u32, hash: u64): bool {
  if (!(isSecond ? readLabelRefs() : readLabelMessages(labels, samples))) return false;
  const samplesEnd = readSamples(samples, end, seriesId, metricId, anyDay);
  if (samplesEnd === 0 || isDayTooMany() || !takeRest(samplesEnd, end, metricId)) return false;
  keepSamples();
  keepDay();
  const day = <u32>(readDay / dayMs);
  writeRow(day, seed);
  fillSlot(slot, hash, seriesId, metricId, day, sequence);
  return true;
}

/** Takes what is behind the samples of a series; last of all, since it leaves a trace. */
function takeRest(start: u32, end: u32, metric: u32): bool {
  return isSecond ? takeMetadata(start, end, metric, metadataMask, seed) : start === end;
}
