/**
 * The built decoding worker, with a way to crash it: the body "die" ends its thread, as running out of memory
 * would. It is JavaScript because it is the entry of a thread.
 */
const built = new URL('../../../dist/workers/decode.js', import.meta.url);
const { decode: decodeReal } = await import(built.href);

export function decode(batch) {
  if (batch.tasks.some(({ body }) => Buffer.from(body).toString() === 'die')) process.exit(1);
  return decodeReal(batch);
}
