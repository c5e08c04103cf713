/**
 * What version 2.0 has in place of label messages: a table of the request's strings, and references to them.
 * Each string is hashed once; what names strings has the hash of their hashes. So its key is the same in each
 * request, however the strings are numbered there.
 *
 *     symbols      first in the message, the first of them empty, each of less than 2 MiB
 *     references   packed, name and value in turn
 *
 * Symbols that stand elsewhere are given by the decoder (`takeSymbolTable`). Until it has done so no
 * reference to them is taken.
 */
import { hashBytes, prime3 } from './hash';
import {
  messageAddress,
  refCapacity,
  refHashes,
  refsAddress,
  symbolCapacity,
  symbolHashes,
  symbolPlaces,
} from './memory-layout';

const requestSymbol: u8 = 0x22;
const seriesRefs: u8 = 0x0a;

/** Of the request. */
export let symbolCount: u32 = 0;
/** Of the series under way. */
export let refCount: u32 = 0;

/** @returns where the first field behind the symbols is; 0 if they cannot be taken */
export function readSymbolTable(messageEnd: u32, seed: u64): u32 {
  let at = messageAddress;
  let count: u32 = 0;
  symbolCount = 0;
  while (at < messageEnd && load<u8>(at) === requestSymbol) {
    if (count === symbolCapacity) return 0;
    let length: u32 = load<u8>(at, 1);
    at += 2;
    if (length >= 0x80) {
      length = (length & 0x7f) | ((<u32>load<u8>(at++)) << 7);
      if (length >= 0x4000) {
        length = (length & 0x3fff) | ((<u32>load<u8>(at++)) << 14);
        if (length >= 0x20_0000) return 0;
      }
    }
    if (at > messageEnd || length > messageEnd - at || (count === 0 && length > 0)) return 0;
    addSymbol(count++, at, at + length, seed);
    at += length;
  }
  symbolCount = count;
  return count === 0 ? 0 : at;
}

/** Takes symbols whose places are offsets in the message yet. @param count at most `symbolCapacity` */
export function takeSymbolTable(count: u32, seed: u64): void {
  for (let symbol: u32 = 0; symbol < count; symbol++) {
    const place = symbolPlaces + 8 * symbol;
    addSymbol(symbol, messageAddress + load<u32>(place), messageAddress + load<u32>(place, 4), seed);
  }
  symbolCount = count;
}

function addSymbol(symbol: u32, start: u32, end: u32, seed: u64): void {
  store<u32>(symbolPlaces + 8 * symbol, start);
  store<u32>(symbolPlaces + 8 * symbol, end, 4);
  store<u64>(symbolHashes + 8 * symbol, hashBytes(start, end, seed));
}

/**
 * Reads the references of a series into the scratch memory. @returns where they end; 0 if they cannot be
 * taken
 */
export function readRefs(start: u32, end: u32): u32 {
  if (load<u8>(start) !== seriesRefs) return 0;
  let length: u32 = load<u8>(start, 1);
  let at = start + 2;
  if (length >= 0x80) {
    length = (length & 0x7f) | ((<u32>load<u8>(at++)) << 7);
    if (length >= 0x4000) return 0;
  }
  if (at > end || length > end - at) return 0;
  const refsEnd = at + length;
  let count: u32 = 0;
  while (at < refsEnd) {
    let ref: u32 = load<u8>(at++);
    if (ref >= 0x80) {
      ref = (ref & 0x7f) | ((<u32>load<u8>(at++)) << 7);
      // With one byte more than these three, it is beyond all symbols.
      if (ref >= 0x4000) ref = (ref & 0x3fff) | ((<u32>load<u8>(at++)) << 14);
    }
    if (ref >= symbolCount || count === refCapacity) return 0;
    store<u32>(refsAddress + 4 * count, ref);
    store<u64>(refHashes + 8 * count, load<u64>(symbolHashes + 8 * ref));
    count++;
  }
  refCount = count;
  return at === refsEnd && count > 0 && (count & 1) === 0 ? at : 0;
}

/** The key of the references that were read last. */
export function hashOfRefs(seed: u64): u64 {
  // Begins elsewhere than the hash of label messages, which are in the same table.
  return hashBytes(refHashes, refHashes + 8 * refCount, seed ^ prime3);
}

/** The key of the first `count` references in the scratch memory, each to a symbol of the request. */
export function hashOfGivenRefs(count: u32, seed: u64): u64 {
  for (let index: u32 = 0; index < count; index++) {
    store<u64>(refHashes + 8 * index, load<u64>(symbolHashes + 8 * load<u32>(refsAddress + 4 * index)));
  }
  refCount = count;
  return hashOfRefs(seed);
}

/**
 * The key of a description of a metric; `help` and `unit` are symbols. It takes the place of
 * the references' hashes.
 */
export function hashOfDescription(metricId: u32, type: u32, help: u32, unit: u32, seed: u64): u64 {
  store<u64>(refHashes, ((<u64>type) << 32) | metricId);
  store<u64>(refHashes, load<u64>(symbolHashes + 8 * help), 8);
  store<u64>(refHashes, load<u64>(symbolHashes + 8 * unit), 16);
  return hashBytes(refHashes, refHashes + 24, seed ^ prime3);
}
