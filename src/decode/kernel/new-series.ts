/**
 * The rows of series that are met for the first time, if their labels are as nearly all senders write them:
 *
 *     Label    name of 1 to 127 bytes, then a value that is not empty; nothing else
 *     all      ASCII; names ascending, so none twice; a metric name of at most 127 bytes among them
 *
 * `readLabels` looks and leaves no trace, `writeRow` then writes the columns. What the ids are made of is said in
 * `series-labels.ts`.
 */
import { copyWords, isAscii, isBefore } from './bytes';
import { clear, hasRoom, indexOf, maxKeyBytes } from './dictionary';
import {
  canonicalAddress,
  canonicalCapacity,
  labelCapacity,
  labelNames,
  metricNames,
  newDates,
  newLabelEnds,
  newLabelKeys,
  newLabelValues,
  newMetricIds,
  newMetricNames,
  newSeriesIds,
  pairCapacity,
  placesAddress,
  seriesCapacity,
} from './memory';
import { xxHash32, xxHash64 } from './xxhash';

const nameField: u8 = 0x0a;
const valueField: u8 = 0x12;
/** `__name__` as a word. */
const metricNameLabel: u64 = 0x5f5f_656d_616e_5f5f;

/** Rows and labels written, and bytes of values, since `beginSeries`. */
export let newRows: u32 = 0;
export let newPairs: u32 = 0;
export let newValueBytes: u32 = 0;

/** What `readLabels` made of the labels. */
export let seriesId: u64 = 0;
export let metricId: u32 = 0;
let metricStart: u32 = 0;
let metricLength: u32 = 0;
/**
 * Labels beside the metric's name. Each has a place of three words: where its name begins, where the length of its
 * value stands, and where it ends.
 */
let labelCount: u32 = 0;
let canonicalEnd: u32 = 0;

export function beginSeries(): void {
  newRows = 0;
  newPairs = 0;
  newValueBytes = 0;
}

/**
 * @param start of the first label, whose field like those behind it was seen to lie before `end`
 * @returns whether they can be taken and there is room for a row
 */
export function readLabels(start: u32, end: u32): bool {
  if (end - start > canonicalCapacity || newRows === seriesCapacity) return false;
  labelCount = 0;
  metricLength = 0;
  canonicalEnd = canonicalAddress;
  let at = start;
  let name: u32 = 0;
  let nameLength: u32 = 0;
  while (at < end) {
    const isLong = load<u8>(at, 1) >= 0x80;
    const labelEnd = isLong
      ? at + 3 + ((load<u8>(at, 1) & 0x7f) | ((<u32>load<u8>(at, 2)) << 7))
      : at + 2 + load<u8>(at, 1);
    const nameBefore = name;
    const lengthBefore = nameLength;
    at += isLong ? 3 : 2;
    name = at + 2;
    nameLength = load<u8>(at, 1);
    if (!readLabel(at, labelEnd)) return false;
    if (nameBefore > 0 && !isBefore(nameBefore, lengthBefore, name, nameLength)) return false;
    at = labelEnd;
  }
  if (metricLength === 0 || newPairs + labelCount > pairCapacity) return false;
  if (newRows > 0 && !(hasRoom(labelNames, labelCount) && hasRoom(metricNames, 1))) return false;
  seriesId = xxHash64(canonicalAddress, canonicalEnd);
  metricId = xxHash32(metricStart, metricStart + metricLength);
  return true;
}

/** Reads the label `[start, end)` into the canonical encoding and its place. @returns whether it can be taken */
function readLabel(start: u32, end: u32): bool {
  if (start === end || load<u8>(start) !== nameField) return false;
  const name = start + 2;
  const nameLength: u32 = load<u8>(start, 1);
  if (nameLength - 1 >= maxKeyBytes) return false;
  const nameEnd = name + nameLength;
  if (nameEnd + 2 >= end || load<u8>(nameEnd) !== valueField) return false;
  const lengthStart = nameEnd + 1;
  let value = lengthStart + 1;
  let valueLength: u32 = load<u8>(lengthStart);
  if (valueLength >= 0x80) {
    valueLength = (valueLength & 0x7f) | ((<u32>load<u8>(value++)) << 7);
    // In fewer bytes, or in more.
    if (valueLength < 0x80 || valueLength >= 0x4000) return false;
  }
  if (valueLength === 0 || value + valueLength !== end) return false;
  if (!isAscii(name, nameEnd) || !isAscii(value, end)) return false;

  if (nameLength === 8 && load<u64>(name) === metricNameLabel) {
    if (valueLength > maxKeyBytes) return false;
    metricStart = value;
    metricLength = valueLength;
  } else {
    if (labelCount === labelCapacity) return false;
    const place = placesAddress + 12 * labelCount++;
    store<u32>(place, name);
    store<u32>(place, lengthStart, 4);
    store<u32>(place, end, 8);
  }
  // Both with their lengths, which are encoded in the same way there.
  copyWords(canonicalEnd, name - 1, nameLength + 1);
  canonicalEnd += nameLength + 1;
  copyWords(canonicalEnd, lengthStart, end - lengthStart);
  canonicalEnd += end - lengthStart;
  return true;
}

/** Writes the row of the labels that were read last. @param day since 1970 */
export function writeRow(day: u32, seed: u64): void {
  if (newRows === 0) {
    clear(labelNames);
    clear(metricNames);
  }
  const row = newRows++;
  store<u16>(newDates + 2 * row, day);
  store<u64>(newSeriesIds + 8 * row, seriesId);
  store<u32>(newMetricIds + 4 * row, metricId);
  store<u16>(newMetricNames + 2 * row, indexOf(metricNames, metricStart, metricLength, seed));
  for (let label: u32 = 0; label < labelCount; label++) {
    const place = placesAddress + 12 * label;
    const name = load<u32>(place);
    const lengthStart = load<u32>(place, 4);
    const valueBytes = load<u32>(place, 8) - lengthStart;
    store<u16>(newLabelKeys + 2 * newPairs++, indexOf(labelNames, name, load<u8>(name - 1), seed));
    copyWords(newLabelValues + newValueBytes, lengthStart, valueBytes);
    newValueBytes += valueBytes;
  }
  store<u64>(newLabelEnds + 8 * row, newPairs);
}
