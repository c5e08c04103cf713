/**
 * A seeded 64-bit hash: the rounds of xxHash64
 * (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
 */
export const prime1: u64 = 0x9e37_79b1_85eb_ca87;
export const prime2: u64 = 0xc2b2_ae3d_27d4_eb4f;
export const prime3: u64 = 0x1656_67b1_9e37_79f9;
export const prime4: u64 = 0x85eb_ca77_c2b2_ae63;

export function round(accumulator: u64, word: u64): u64 {
  return rotl<u64>(accumulator + word * prime2, 31) * prime1;
}

/**
 * Of the bytes `[start, end)`; up to 7 bytes behind them are read and not used. Unlike xxHash64 it takes the
 * last bytes as one word filled up with zeros. Four lanes of eight bytes keep the multiplier busy.
 */
export function hashBytes(start: u32, end: u32, seed: u64): u64 {
  let at = start;
  let a = seed + prime1 + prime2;
  let b = seed + prime2;
  let c = seed;
  let d = seed - prime1;
  for (; end - at >= 32; at += 32) {
    a = round(a, load<u64>(at));
    b = round(b, load<u64>(at, 8));
    c = round(c, load<u64>(at, 16));
    d = round(d, load<u64>(at, 24));
  }
  let hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18);
  hash = (hash ^ <u64>(end - start)) * prime1 + prime4;
  for (; end - at >= 8; at += 8) hash = mixWord(hash, load<u64>(at));
  const rest = end - at;
  if (rest > 0) hash = mixWord(hash, load<u64>(at) & (((<u64>1) << (8 * rest)) - 1));
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

function mixWord(hash: u64, word: u64): u64 {
  return rotl<u64>(hash ^ round(0, word), 27) * prime1 + prime4;
}
