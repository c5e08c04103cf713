/**
 * Finds positions in a FlatBuffer (https://flatbuffers.dev/internals). Numbers are little-endian, references
 * are relative to their own position, and the vtable of a table gives the positions of its fields.
 */

/** The position of the table that a reference points to. */
export const follow = (bytes: Buffer, at: number): number => at + bytes.readUInt32LE(at);

/** The position of a field of a table; undefined if the field has its default value. */
export function fieldAt(bytes: Buffer, table: number, index: number): number | undefined {
  const vtable = table - bytes.readInt32LE(table);
  const slot = 4 + 2 * index;
  if (slot + 2 > bytes.readUInt16LE(vtable)) return undefined;
  const offset = bytes.readUInt16LE(vtable + slot);
  return offset === 0 ? undefined : table + offset;
}

/** The position of the vector of a field, which begins with its length; undefined if there is none. */
export function vectorAt(bytes: Buffer, table: number, index: number): number | undefined {
  const field = fieldAt(bytes, table, index);
  return field === undefined ? undefined : follow(bytes, field);
}

/** The tables of a vector. */
export function tablesOf(bytes: Buffer, vector: number | undefined): readonly number[] {
  if (vector === undefined) return [];
  return Array.from({ length: bytes.readUInt32LE(vector) }, (_, index) =>
    follow(bytes, vector + 4 + 4 * index),
  );
}

/** Removes elements from a vector of structs in place. Later ones move up; the end becomes unused. */
export function removeStructs(
  bytes: Buffer,
  vector: number,
  size: number,
  removed: ReadonlySet<number>,
): void {
  const count = bytes.readUInt32LE(vector);
  let kept = 0;
  for (let index = 0; index < count; index += 1) {
    if (removed.has(index)) continue;
    const from = vector + 4 + index * size;
    bytes.copyWithin(vector + 4 + kept * size, from, from + size);
    kept += 1;
  }
  bytes.writeUInt32LE(kept, vector);
}
