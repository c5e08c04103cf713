/**
 * xxHash64 and xxHash32 with seed 0, of which the ids of series and metrics are made:
 * https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
 */
import { prime1, prime2, prime3, prime4, round } from './hash';

const prime5: u64 = 0x27d4_eb2f_1656_67c5;
const short1: u32 = 0x9e37_79b1;
const short2: u32 = 0x85eb_ca77;
const short3: u32 = 0xc2b2_ae3d;
const short4: u32 = 0x27d4_eb2f;
const short5: u32 = 0x1656_67b1;

/** Of the bytes `[start, end)`. */
export function xxHash64(start: u32, end: u32): u64 {
  let at = start;
  let hash = prime5;
  if (end - start >= 32) {
    let a = prime1 + prime2;
    let b = prime2;
    let c: u64 = 0;
    let d: u64 = 0 - prime1;
    for (; end - at >= 32; at += 32) {
      a = round(a, load<u64>(at));
      b = round(b, load<u64>(at, 8));
      c = round(c, load<u64>(at, 16));
      d = round(d, load<u64>(at, 24));
    }
    hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  }
  hash += <u64>(end - start);
  for (; end - at >= 8; at += 8) {
    hash = rotl<u64>(hash ^ round(0, load<u64>(at)), 27) * prime1 + prime4;
  }
  if (end - at >= 4) {
    hash = rotl<u64>(hash ^ (<u64>load<u32>(at) * prime1), 23) * prime2 + prime3;
    at += 4;
  }
  for (; at < end; at++) hash = rotl<u64>(hash ^ (<u64>load<u8>(at) * prime5), 11) * prime1;
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

function merge(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * prime1 + prime4;
}

/** Of the bytes `[start, end)`. */
export function xxHash32(start: u32, end: u32): u32 {
  let at = start;
  let hash = short5;
  if (end - start >= 16) {
    let a = short1 + short2;
    let b = short2;
    let c: u32 = 0;
    let d: u32 = 0 - short1;
    for (; end - at >= 16; at += 16) {
      a = shortRound(a, load<u32>(at));
      b = shortRound(b, load<u32>(at, 4));
      c = shortRound(c, load<u32>(at, 8));
      d = shortRound(d, load<u32>(at, 12));
    }
    hash = rotl<u32>(a, 1) + rotl<u32>(b, 7) + rotl<u32>(c, 12) + rotl<u32>(d, 18);
  }
  hash += end - start;
  for (; end - at >= 4; at += 4) hash = rotl<u32>(hash + load<u32>(at) * short3, 17) * short4;
  for (; at < end; at++) hash = rotl<u32>(hash + <u32>load<u8>(at) * short5, 11) * short1;
  hash = (hash ^ (hash >> 15)) * short2;
  hash = (hash ^ (hash >> 13)) * short3;
  return hash ^ (hash >> 16);
}

function shortRound(accumulator: u32, word: u32): u32 {
  return rotl<u32>(accumulator + word * short2, 13) * short1;
}
