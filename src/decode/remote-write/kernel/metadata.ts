/**
 * The metadata that version 2.0 has with each series:
 *
 *     Metadata   type, help and unit, each at most once and in that order; absent or zero if none
 *
 * It is taken if it need not be stored: if its row for today is durable, or in this request already.
 */
import { metadataTableAddress } from './memory-layout';
import { dayOf, findSlot, isConfirmed, isFree, sequenceOf } from './series-slots';
import { hashOfDescription, symbolCount } from './symbols';

const seriesMetadata: u8 = 0x2a;
const metadataType: u8 = 0x08;
const metadataHelp: u8 = 0x18;
const metadataUnit: u8 = 0x20;

/** Taken since `beginMetadata`. */
export let descriptions: u32 = 0;
/** The slot of the row which is not known to be durable, where only that was in the way; otherwise 0. */
export let unconfirmedDescription: u32 = 0;

/** Where the number read last ends. */
let numberEnd: u32 = 0;
let today: u32 = 0;
let sequence: u32 = 0;

/** @param day of rows that are written now, since 1970 */
export function beginMetadata(day: u32, taskSequence: u32): void {
  descriptions = 0;
  today = day;
  sequence = taskSequence;
}

export function forgetUnconfirmed(): void {
  unconfirmedDescription = 0;
}

/** @returns whether `[start, end)` is nothing, or metadata that can be taken, and then it counts */
export function takeMetadata(start: u32, end: u32, metricId: u32, slotMask: u32, seed: u64): bool {
  if (start === end) return true;
  if (load<u8>(start) !== seriesMetadata || start + 2 + load<u8>(start, 1) !== end) return false;
  let at = start + 2;
  const type = readNumber(at, end, metadataType);
  at = numberEnd;
  const help = readNumber(at, end, metadataHelp);
  at = numberEnd;
  const unit = readNumber(at, end, metadataUnit);
  if (numberEnd !== end) return false;
  if ((type | help | unit) === 0) return true;
  if (type >= 0x80 || help >= symbolCount || unit >= symbolCount) return false;
  const slot = findSlot(metadataTableAddress, hashOfDescription(metricId, type, help, unit, seed), slotMask);
  if (isFree(slot) || dayOf(slot) !== today) return false;
  if (!isConfirmed(slot) && sequenceOf(slot) !== sequence) {
    unconfirmedDescription = slot;
    return false;
  }
  descriptions++;
  return true;
}

/** The number in a field with that tag, of up to three bytes; 0 without one. */
function readNumber(start: u32, end: u32, tag: u8): u32 {
  numberEnd = start;
  if (start >= end || load<u8>(start) !== tag) return 0;
  let at = start + 1;
  let number: u32 = load<u8>(at++);
  if (number >= 0x80) {
    number = (number & 0x7f) | ((<u32>load<u8>(at++)) << 7);
    // With one byte more than these three, it is beyond all types and symbols.
    if (number >= 0x4000) number = (number & 0x3fff) | ((<u32>load<u8>(at++)) << 14);
  }
  numberEnd = at;
  return number;
}
