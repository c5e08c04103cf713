/** A message of remote write by the kernel and a decoder in TypeScript together. */
import { countsOfSamples } from '../../model/counts.ts';
import { checkRoom } from '../metrics/metric-rows.ts';
import type { DecodeOutcomes } from '../outcomes.ts';
import type { DecodedBody } from '../task.ts';
import type { RemoteWriteKernel } from './remote-write-kernel.ts';

/** Reads fields of a message one by one, wherever they are. */
export interface FieldWalk {
  /** Reads the field of the message at that offset. @returns the offset of the next */
  readField(position: number): number;
  finish(): DecodedBody;
}

/**
 * Decodes the message that the kernel has loaded. The kernel takes what it can.
 * @param start offset of the first field
 * @param newWalk for the fields at which the kernel stops; called for the first of them
 * @throws AppError `body_too_large`, and what the walk throws
 */
export function decodeWithKernel(
  kernel: RemoteWriteKernel,
  start: number,
  outcomes: DecodeOutcomes,
  newWalk: () => FieldWalk,
): DecodedBody {
  const { length } = kernel.message;
  let walk: FieldWalk | undefined;
  for (let position = kernel.walk(start); position < length; position = kernel.walk(position)) {
    if (kernel.confirms(outcomes)) continue;
    walk ??= newWalk();
    position = walk.readField(position);
  }
  if (walk === undefined) {
    checkRoom(kernel.samples - 1, 'samples');
    return { blocks: kernel.finish(), counts: countsOfSamples(kernel.samples, kernel.descriptions) };
  }
  const { blocks, counts, refused } = walk.finish();
  if (kernel.samples === 0) return { blocks, counts, refused };
  const samples = counts.samples + kernel.samples;
  checkRoom(samples - 1, 'samples');
  const metadata = counts.metadata + kernel.descriptions;
  return { blocks: [...blocks, ...kernel.finish()], counts: { ...counts, samples, metadata }, refused };
}
