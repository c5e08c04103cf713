/**
 * The keys of a `LowCardinality(String)` column, each once, in the order in which they came. A dictionary
 * is a region of memory:
 *
 *     size      u32, keys so far, the empty one at index 0 included
 *     keysEnd   u32, bytes of keys so far
 *     slots     u32 each: a hash table with linear probing, of indexes; 0 is a free slot
 *     places    u32 for each index: where its key is
 *     keys      each a length in one byte, then as many bytes: what the column has in a block
 */
import { areEqual, copyWords } from './bytes';
import { hashBytes } from './hash';

/**
 * Together with the empty one. Requests have some 50 names of labels, and hardly more metrics than series.
 */
const keyCapacity: u32 = 8_192;
const slotCount: u32 = 2 * keyCapacity;
/** Of a key: its length takes one byte. */
export const maxKeyBytes: u32 = 127;
const slackBytes: u32 = 64;

const slotsOffset: u32 = 8;
const placesOffset: u32 = slotsOffset + 4 * slotCount;
export const keysOffset: u32 = placesOffset + 4 * keyCapacity;
export const dictionaryBytes: u32 = keysOffset + keyCapacity * (1 + maxKeyBytes) + slackBytes;

/** Makes the dictionary empty but for the empty key, which ClickHouse keeps at index 0. */
export function clear(dictionary: u32): void {
  store<u32>(dictionary, 1);
  store<u32>(dictionary, 1, 4);
  memory.fill(dictionary + slotsOffset, 0, 4 * slotCount);
  store<u8>(dictionary + keysOffset, 0);
}

export function hasRoom(dictionary: u32, keys: u32): bool {
  return load<u32>(dictionary) + keys <= keyCapacity;
}

/**
 * The index of a key of 1 to `maxKeyBytes` bytes, for which there is room.
 * @param seed so that nobody outside can choose keys that collide
 */
export function indexOf(dictionary: u32, key: u32, length: u32, seed: u64): u32 {
  let place = <u32>hashBytes(key, key + length, seed) & (slotCount - 1);
  while (true) {
    const slot = dictionary + slotsOffset + 4 * place;
    const index = load<u32>(slot);
    if (index === 0) return add(dictionary, slot, key, length);
    const found = load<u32>(dictionary + placesOffset + 4 * index);
    if (load<u8>(found) === length && areEqual(found + 1, key, length)) return index;
    place = (place + 1) & (slotCount - 1);
  }
}

function add(dictionary: u32, slot: u32, key: u32, length: u32): u32 {
  const index = load<u32>(dictionary);
  const keysEnd = load<u32>(dictionary, 4);
  const place = dictionary + keysOffset + keysEnd;
  store<u8>(place, length);
  copyWords(place + 1, key, length);
  store<u32>(dictionary + placesOffset + 4 * index, place);
  store<u32>(slot, index);
  store<u32>(dictionary, index + 1);
  store<u32>(dictionary, keysEnd + 1 + length, 4);
  return index;
}
