import type { DecodeResult } from '../../../src/decode/task.ts';

/**
 * The rows of all `samples` blocks of a result, sorted, as text: metric_id, series_id, timestamp and the bits
 * of the value, and the start timestamp unless it is 0, for which a block may lack the column. Reads the
 * Native format by itself: columns of fixed width, each behind its name and its type.
 */
export function sampleRows(result: DecodeResult): string[] {
  if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
  return result.blocks
    .filter(({ table }) => table === 'samples')
    .flatMap(({ bytes }) => blockRows(Buffer.from(bytes)))
    .sort();
}

const startColumn = 4;

function blockRows(block: Buffer): string[] {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = block.readUInt8(at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  const columns = varint();
  const rows = varint();
  const texts = Array.from({ length: rows }, () => '');
  for (let column = 0; column < columns; column++) {
    const nameLength = varint();
    at += nameLength;
    const typeLength = varint();
    const width = block.toString('latin1', at, at + typeLength) === 'UInt32' ? 4 : 8;
    at += typeLength;
    for (let row = 0; row < rows; row++, at += width) {
      const value = width === 4 ? block.readUInt32LE(at) : block.readBigUInt64LE(at);
      if (column < startColumn || value !== 0n) texts[row] += ` ${value}`;
    }
  }
  if (at !== block.length) throw new Error(`The block ends at byte ${at} of ${block.length}`);
  return texts;
}
