import { randomFillSync } from 'node:crypto';

const seeds = randomFillSync(new Int32Array(2));

const mix = (hash: number): number => {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
};

const multiplierLow = 0x9e37_79b1;
const multiplierHigh = 0xc2b2_ae3d;

/**
 * A 64-bit hash of raw label bytes from 32-bit arithmetic, which is what plain JavaScript is fast at. It is
 * good for a table in memory and nothing else: seeded anew in each process, so that nobody outside can
 * construct collisions, and of no meaning to other processes.
 *
 * Both halves see every word of the input. They differ in multiplier and rotation, and one adds what the
 * other xors, so that changes which cancel out in one half do not in the other.
 */
export class LabelHash {
  /** The halves of the hash computed last, as signed integers: those stay out of the heap. */
  low = 0;
  high = 0;
  #seedLow = seeds[0] ?? 0;
  #seedHigh = seeds[1] ?? 0;

  /** @param scope what the labels belong to; equal labels of different scopes hash differently */
  constructor(scope: string) {
    const bytes = Buffer.from(scope);
    this.compute(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
    this.#seedLow = this.low;
    this.#seedHigh = this.high;
  }

  /** The seed of this scope, for another hash function. */
  get seed(): bigint {
    return (BigInt(this.#seedHigh) << 32n) ^ BigInt(this.#seedLow);
  }

  /** Hashes the bytes `[start, end)` into `low` and `high`. */
  compute(view: DataView, start: number, end: number): void {
    let low = this.#seedLow ^ (end - start);
    let high = this.#seedHigh ^ (end - start);
    let at = start;
    for (; at + 4 <= end; at += 4) {
      const word = view.getInt32(at, true);
      low = Math.imul(low ^ word, multiplierLow);
      low = (low << 13) | (low >>> 19);
      high = Math.imul((high + word) | 0, multiplierHigh);
      high = (high << 17) | (high >>> 15);
    }
    for (; at < end; at++) {
      const byte = view.getUint8(at);
      low = Math.imul(low ^ byte, multiplierLow);
      low = (low << 13) | (low >>> 19);
      high = Math.imul((high + byte) | 0, multiplierHigh);
      high = (high << 17) | (high >>> 15);
    }
    this.#finish(low, high);
  }

  /**
   * Hashes a list of things that have hashes already, into `low` and `high`.
   * @param hashes the halves of each thing's hash, side by side
   * @param list indexes of things
   */
  combine(hashes: Int32Array, list: Uint32Array, count: number): void {
    // Begins elsewhere than `compute`, so that a list is never taken for the bytes of its hashes.
    let low = this.#seedLow ^ ~count;
    let high = this.#seedHigh ^ ~count;
    for (let index = 0; index < count; index++) {
      const at = 2 * (list[index] as number);
      low = Math.imul(low ^ (hashes[at] as number), multiplierLow);
      low = (low << 13) | (low >>> 19);
      high = Math.imul((high + (hashes[at + 1] as number)) | 0, multiplierHigh);
      high = (high << 17) | (high >>> 15);
    }
    this.#finish(low, high);
  }

  #finish(low: number, high: number): void {
    this.low = mix(low ^ ((high << 16) | (high >>> 16)));
    this.high = mix((high + Math.imul(low, 0x27d4_eb2f)) | 0);
  }
}
