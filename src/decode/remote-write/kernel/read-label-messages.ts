/** Labels as version 1.0 has them: a message for each, side by side. */
import { addLabel, beginLabels, endLabels } from './write-new-series';

const seriesLabel: u8 = 0x0a;
const nameField: u8 = 0x0a;
const valueField: u8 = 0x12;

/** @returns the end of the last label; 0 if there is none, or one that is malformed or longer than 16 KiB */
export function skipLabels(start: u32, end: u32): u32 {
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

/**
 * Reads the labels of a new series.
 * @param start of the first one, whose field like those behind it `skipLabels` found to lie before `end`
 * @returns whether they can be taken
 */
export function readLabelMessages(start: u32, end: u32): bool {
  if (!beginLabels()) return false;
  let at = start;
  while (at < end) {
    const isLong = load<u8>(at, 1) >= 0x80;
    const labelEnd = isLong
      ? at + 3 + ((load<u8>(at, 1) & 0x7f) | ((<u32>load<u8>(at, 2)) << 7))
      : at + 2 + load<u8>(at, 1);
    if (!readLabel(at + (isLong ? 3 : 2), labelEnd)) return false;
    at = labelEnd;
  }
  return endLabels();
}

/** Reads a name and a value and nothing else. */
function readLabel(start: u32, end: u32): bool {
  if (start === end || load<u8>(start) !== nameField) return false;
  const name = start + 2;
  // A length of two bytes has its high bit set here, and then the name is too long.
  const nameLength: u32 = load<u8>(start, 1);
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
  return value + valueLength === end && addLabel(name, nameLength, lengthStart, value, end);
}
