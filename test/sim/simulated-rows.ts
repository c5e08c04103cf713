import { crc32 } from 'node:zlib';

/** A row of the simulation: a number that occurs once in a run, and the day that decides its partition. */
export interface Row {
  readonly id: number;
  readonly day: number;
}

const rowBytes = 12;

/**
 * A block in the simulation's own format; the log takes blocks as bytes that it does not look into. For each
 * row id, day and length of the padding, each a u32, and the padding; at the end the CRC-32 of all before.
 */
export function encodeRows(rows: readonly Row[], padding: Uint8Array): Buffer {
  const parts: Uint8Array[] = rows.flatMap(({ id, day }) => {
    const head = Buffer.alloc(rowBytes);
    head.writeUInt32LE(id, 0);
    head.writeUInt32LE(day, 4);
    head.writeUInt32LE(padding.length, 8);
    return [head, padding];
  });
  const bytes = Buffer.concat(parts);
  const end = Buffer.alloc(4);
  end.writeUInt32LE(crc32(bytes));
  return Buffer.concat([bytes, end]);
}

/** @throws Error if a byte is not as it was written */
export function decodeRows(block: Uint8Array): Row[] {
  const bytes = Buffer.from(block);
  const end = bytes.length - 4;
  if (end < 0 || crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) {
    throw new Error('a block reached the store with other bytes than were acknowledged');
  }
  const rows: Row[] = [];
  for (let at = 0; at < end; at += rowBytes + bytes.readUInt32LE(at + 8)) {
    rows.push({ id: bytes.readUInt32LE(at), day: bytes.readUInt32LE(at + 4) });
  }
  return rows;
}
