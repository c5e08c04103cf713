/**
 * Samples of one series, into the columns. Both versions write them in the same way: value, then timestamp.
 */
import { metricIds, rowCapacity, seriesIds, timestamps, values } from './memory-layout';

const seriesSample: u8 = 0x12;
const sampleValue: u8 = 0x09;
const sampleTimestamp: u8 = 0x10;

export const dayMs: u64 = 86_400_000;
/** `limits.maxSampleTimestampMs`, which is in the middle of a day. */
const maxTimestampMs: u64 = 4_294_967_295_999;
/** In place of the start of a day: that of the first sample. */
export const anyDay: u64 = u64.MAX_VALUE;

/** Samples in the columns. */
export let rows: u32 = 0;
/** When the day of the samples read last begins. */
export let readDay: u64 = 0;
/** `rows` with these. */
let rowsRead: u32 = 0;

export function beginSamples(): void {
  rows = 0;
}

/** The samples that were read last count from now on. */
export function keepSamples(): void {
  rows = rowsRead;
}

/**
 * Reads samples up to the first field that is none. They leave no trace unless they are kept.
 * @param firstDayStart of the day that all of them must be of
 * @returns where the last one ends; 0 if there are none, or one that cannot be taken
 */
export function readSamples(start: u32, end: u32, series: u64, metric: u32, firstDayStart: u64): u32 {
  let dayStart = firstDayStart;
  let row = rows;
  let at = start;
  while (at < end && load<u8>(at) === seriesSample) {
    if (row === rowCapacity) return 0;
    // A length of two bytes has its high bit set here, and then the timestamp does not end where it should.
    const sampleEnd = at + 2 + load<u8>(at, 1);
    at += 2;
    let value: u64 = 0;
    if (load<u8>(at) === sampleValue) {
      value = load<u64>(at, 1);
      at += 9;
    }
    if (load<u8>(at) !== sampleTimestamp) return 0;
    const encoded = load<u64>(at, 1);
    // The last byte of a varint is the first whose high bit is clear.
    const lastBits = ~encoded & 0x8080_8080_8080_8080;
    if (lastBits === 0) return 0;
    at += 2 + (<u32>ctz(lastBits) >> 3);
    if (at !== sampleEnd || at > end) return 0;
    const timestamp = joinGroups(encoded & (lastBits ^ (lastBits - 1)));
    if (dayStart === anyDay) dayStart = timestamp - (timestamp % dayMs);
    if (timestamp - dayStart >= dayMs || timestamp > maxTimestampMs) return 0;
    store<u32>(metricIds + 4 * row, metric);
    store<u64>(seriesIds + 8 * row, series);
    store<u64>(timestamps + 8 * row, timestamp);
    store<u64>(values + 8 * row, value);
    row++;
  }
  if (row === rows) return 0;
  rowsRead = row;
  readDay = dayStart;
  return at;
}

/** The number of which a varint of up to eight bytes holds seven bits a byte, the lowest first. */
function joinGroups(bytes: u64): u64 {
  let bits = ((bytes & 0x7f00_7f00_7f00_7f00) >> 1) | (bytes & 0x007f_007f_007f_007f);
  bits = ((bits & 0x3fff_0000_3fff_0000) >> 2) | (bits & 0x0000_3fff_0000_3fff);
  return ((bits & 0x0fff_ffff_0000_0000) >> 4) | (bits & 0x0fff_ffff);
}
