import xxhash from 'xxhash-wasm';
import { Decoder } from '../../src/decode/decoder.ts';
import { DecodeOutcomes } from '../../src/decode/outcomes.ts';
import type { TableBlock } from '../../src/model/block.ts';

const decoder = new Decoder(new DecodeOutcomes(), await xxhash());

/** Events as the blocks that a worker makes of them. */
export function eventBlocks(
  events: readonly object[],
  receivedMicros = 1_700_000_000_000_000,
): readonly TableBlock[] {
  const result = decoder.decode({
    tenant: 'default',
    dataset: 'app',
    format: 'json',
    encoding: 'identity',
    receivedMicros,
    body: Buffer.from(JSON.stringify(events)),
    maxDecodedBytes: 1e9,
    sequence: 1,
  });
  if (!result.ok) throw new Error(result.message);
  return result.blocks;
}
