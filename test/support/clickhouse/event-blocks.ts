import xxhash from 'xxhash-wasm';
import type { Store } from '../../../src/clickhouse/store.ts';
import { Decoder } from '../../../src/decode/decoder.ts';
import { DecodeOutcomes } from '../../../src/decode/outcomes.ts';
import type { TableBlock } from '../../../src/model/block.ts';

const decoder = new Decoder(new DecodeOutcomes(), await xxhash());

/** Blocks of 100,000 events each; this field numbers all events. They take seconds to make, so share them. */
export function numberedBlocks(field: string, count: number): readonly TableBlock[] {
  const perBlock = 100_000;
  return Array.from({ length: count }, (_, block) =>
    eventBlocks(Array.from({ length: perBlock }, (_, event) => ({ [field]: block * perBlock + event }))),
  ).flat();
}

/** Encodes events as a worker does. */
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

/** Inserts one event into a dataset of the default tenant whose columns exist. */
export async function insertEvent(
  store: Store,
  dataset: string,
  event: object,
  token: string,
): Promise<void> {
  const [block] = eventBlocks([event]);
  if (block === undefined) throw new Error('no block');
  const { columns, bytes } = block;
  await store.insert({ database: 't_default', table: `${dataset}.events`, columns, token, blocks: [bytes] });
}
