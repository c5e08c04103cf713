/** Bodies on their way to be decoded: here, in a worker as a short task, or in one as a long task. */
import { presumedLength } from '../decode/body.ts';
import type { DecodeBounds } from '../decode/decode-bounds.ts';
import type { BodyFormat, DecodeResult, DecodeTask } from '../decode/task.ts';
import type { FairQueue } from '../lib/fair-queue.ts';
import { limits } from '../limits/limits.ts';

export type NewTask = Omit<DecodeTask, 'sequence'>;

/** Of what is compressed with gzip a thousand times as much can come. */
const inlineFormats: ReadonlySet<BodyFormat> = new Set([
  'json',
  'ndjson',
  'remote-write-1',
  'remote-write-2',
]);
/** Whether a body is decoded where it arrives. */
export const isSmall = ({ body, format, encoding }: NewTask): boolean =>
  body.byteLength <= limits.maxInlineBodyBytes &&
  (encoding === 'identity' || encoding === 'snappy') &&
  inlineFormats.has(format);

/** Whether a body is presumably short: the worker that decodes it says whether it was. */
export const isShort = ({ body, encoding }: NewTask): boolean =>
  presumedLength(body, encoding) <= limits.maxShortBodyBytes;

/** Each by its name: a copy takes V8 a microsecond. */
export const numbered = (
  task: NewTask,
  sequence: number,
  maxDecodedBytes: number,
  bounds: DecodeBounds | undefined,
  body = task.body,
): { readonly [Name in keyof Required<DecodeTask>]: DecodeTask[Name] } => ({
  tenant: task.tenant,
  dataset: task.dataset,
  format: task.format,
  encoding: task.encoding,
  receivedMicros: task.receivedMicros,
  body,
  maxDecodedBytes: Math.min(task.maxDecodedBytes, maxDecodedBytes),
  events: task.events,
  maxEventBytes: task.maxEventBytes,
  bounds,
  sequence,
});

/** Of what a body has become. */
export const blockBytes = (result: DecodeResult): number =>
  result.ok ? result.blocks.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) : 0;

/**
 * What decoding a body takes, about: the body after decompression, its columns while they grow, and the blocks. As far as it
 * can be told before; the bounds on what a body may become hold for the rest.
 */
export const workingBytes = ({ body, encoding, maxDecodedBytes }: NewTask): number =>
  4 * Math.min(presumedLength(body, encoding), maxDecodedBytes);

/** What goes to a worker as one task: the turn of a tenant and, if that leaves room, those of the next ones. */
export function takeBatch<Waiting extends { readonly task: DecodeTask }>(
  queue: FairQueue<Waiting>,
): Waiting[] {
  const batch: Waiting[] = [];
  let bytes = 0;
  let count = 0;
  const fits = ({ task }: Waiting): boolean => {
    if (count === limits.maxDecodeBatchRequests) return false;
    bytes += task.body.byteLength;
    if (count > 0 && bytes > limits.maxDecodeBatchBytes) return false;
    count += 1;
    return true;
  };
  const takeTurn = (): Waiting[] => queue.shiftWhile(fits);
  for (let turn = takeTurn(); turn.length > 0; turn = takeTurn()) batch.push(...turn);
  return batch;
}
