/** Searches the tables whose layout and bounds are in `series-table.ts`. */
const slotShift: u32 = 5;

/** @returns the address of the slot that has the key of that hash, or of the free one where it would go */
export function findSlot(table: u32, hash: u64, slotMask: u32): u32 {
  const key = keyOf(hash);
  let index = <u32>hash & slotMask;
  while (true) {
    const slot = table + (index << slotShift);
    const found = load<u64>(slot);
    if (found === key || found === 0) return slot;
    index = (index + 1) & slotMask;
  }
}

export function isFree(slot: u32): bool {
  return load<u64>(slot) === 0;
}

export function seriesIdOf(slot: u32): u64 {
  return load<u64>(slot, 8);
}

export function metricIdOf(slot: u32): u32 {
  return load<u32>(slot, 16);
}

/** Of the row that was written last, since 1970. */
export function dayOf(slot: u32): u32 {
  return load<u32>(slot, 20);
}

/** Of the task that wrote it. */
export function sequenceOf(slot: u32): u32 {
  return load<u32>(slot, 24);
}

/** Whether the row is known to be durable. */
export function isConfirmed(slot: u32): bool {
  return load<u32>(slot, 28) === 1;
}

export function fillSlot(slot: u32, hash: u64, seriesId: u64, metricId: u32, day: u32, sequence: u32): void {
  store<u64>(slot, keyOf(hash));
  store<u64>(slot, seriesId, 8);
  store<u32>(slot, metricId, 16);
  store<u32>(slot, day, 20);
  store<u32>(slot, sequence, 24);
  store<u32>(slot, 0, 28);
}

function keyOf(hash: u64): u64 {
  // A hash of zero would look like a free slot.
  return hash === 0 ? (<u64>1) << 32 : hash;
}
