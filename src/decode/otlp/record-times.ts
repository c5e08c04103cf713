import { limits } from '../../limits/limits.ts';
import type { Bits } from '../wire/protobuf-values.ts';

/** Times are below this: the high half of their nanoseconds since 1970. */
const endHigh = (limits.maxSampleTimestampMs + 1) / 1000 / 4.294967296;

export const isZero = ({ low, high }: Readonly<Bits>): boolean => (low | high) === 0;

/**
 * Whether a time in nanoseconds since 1970 is one that all of the store's types for dates and times can hold.
 */
export const isStorable = ({ high }: Readonly<Bits>): boolean => high >>> 0 < endHigh;

/** Microseconds as nanoseconds in halves. */
export function nanosOf(micros: number): Bits {
  const nanos = BigInt(micros) * 1000n;
  return { low: Number(BigInt.asIntN(32, nanos)), high: Number(BigInt.asIntN(32, nanos >> 32n)) };
}
