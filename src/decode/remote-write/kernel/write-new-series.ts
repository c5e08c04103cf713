/**
 * The rows of series that are met for the first time, if their labels are as nearly all senders write them:
 *
 *     label    name of 1 to 127 bytes, then a value that is not empty, each behind its length
 *     all      ASCII; names ascending, so none twice; a metric name of at most 127 bytes among them
 *
 * `beginLabels`, `addLabel` and `endLabels` look and leave no trace, `writeRow` then writes the columns. What
 * the ids are made of is said in `series-labels.ts`.
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
  valueCapacity,
} from './memory-layout';
import { xxHash32, xxHash64 } from './xxhash';

/** `__name__` as a word. */
const metricNameLabel: u64 = 0x5f5f_656d_616e_5f5f;

/** Rows and labels written, and bytes of values, since `beginSeries`. */
export let newRows: u32 = 0;
export let newPairs: u32 = 0;
export let newValueBytes: u32 = 0;
/** Bytes of values that may be written. */
let valueRoom: u32 = 0;

/** What `endLabels` made of the labels. */
export let seriesId: u64 = 0;
export let metricId: u32 = 0;
let metricStart: u32 = 0;
let metricLength: u32 = 0;
/**
 * Labels beside the metric's name. Each has a place of three words: where its name begins, where the length
 * of its value stands, and where it ends.
 */
let labelCount: u32 = 0;
let valueBytes: u32 = 0;
let canonicalEnd: u32 = 0;
/** The label that was added last. */
let lastName: u32 = 0;
let lastNameLength: u32 = 0;

/** @param maxValueBytes of all rows; a value may be in many of them */
export function beginSeries(maxValueBytes: u32): void {
  newRows = 0;
  newPairs = 0;
  newValueBytes = 0;
  valueRoom = min(maxValueBytes, valueCapacity);
}

/** @returns whether there is room for a row */
export function beginLabels(): bool {
  labelCount = 0;
  valueBytes = 0;
  metricLength = 0;
  canonicalEnd = canonicalAddress;
  lastName = 0;
  lastNameLength = 0;
  return newRows < seriesCapacity;
}

/**
 * @param name behind a byte that is its length
 * @param value behind its length, which begins at `lengthStart`; both have as few bytes as can be
 * @returns whether the label can be taken
 */
export function addLabel(name: u32, nameLength: u32, lengthStart: u32, value: u32, end: u32): bool {
  if (nameLength - 1 >= maxKeyBytes || value === end) return false;
  if (lastName > 0 && !isBefore(lastName, lastNameLength, name, nameLength)) return false;
  if (!isAscii(name, name + nameLength) || !isAscii(value, end)) return false;
  const bytes = nameLength + 1 + end - lengthStart;
  if (bytes > canonicalCapacity - (canonicalEnd - canonicalAddress)) return false;
  lastName = name;
  lastNameLength = nameLength;

  if (nameLength === 8 && load<u64>(name) === metricNameLabel) {
    if (end - value > maxKeyBytes) return false;
    metricStart = value;
    metricLength = end - value;
  } else {
    if (labelCount === labelCapacity) return false;
    const place = placesAddress + 12 * labelCount++;
    store<u32>(place, name);
    store<u32>(place, lengthStart, 4);
    store<u32>(place, end, 8);
    valueBytes += end - lengthStart;
  }
  // Both with their lengths, which are encoded in the same way there.
  copyWords(canonicalEnd, name - 1, nameLength + 1);
  copyWords(canonicalEnd + nameLength + 1, lengthStart, end - lengthStart);
  canonicalEnd += bytes;
  return true;
}

/** @returns whether the labels are those of a series, and there is room for them */
export function endLabels(): bool {
  if (metricLength === 0 || newPairs + labelCount > pairCapacity) return false;
  if (valueBytes > valueRoom - newValueBytes) return false;
  if (newRows > 0 && !(hasRoom(labelNames, labelCount) && hasRoom(metricNames, 1))) return false;
  seriesId = xxHash64(canonicalAddress, canonicalEnd);
  metricId = xxHash32(metricStart, metricStart + metricLength);
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
    const bytes = load<u32>(place, 8) - lengthStart;
    store<u16>(newLabelKeys + 2 * newPairs++, indexOf(labelNames, name, load<u8>(name - 1), seed));
    copyWords(newLabelValues + newValueBytes, lengthStart, bytes);
    newValueBytes += bytes;
  }
  store<u64>(newLabelEnds + 8 * row, newPairs);
}
