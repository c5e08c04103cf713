/**
 * The built decoding worker, which can be made to die: a body of the one word "die" ends its thread, as running out
 * of memory would. In JavaScript, since it is the entry of a thread.
 */
import { decode as decodeReal } from '../../dist/workers/decode.js';

export function decode(batch) {
  if (batch.tasks.some(({ body }) => Buffer.from(body).toString() === 'die')) process.exit(1);
  return decodeReal(batch);
}
