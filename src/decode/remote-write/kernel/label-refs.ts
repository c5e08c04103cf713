/** Labels of a new series as version 2.0 has them: references to symbols, which `readRefs` has read. */
import { refsAddress, symbolPlaces } from './memory-layout';
import { refCount } from './symbols';
import { addLabel, beginLabels, endLabels } from './write-new-series';

/** @returns whether they can be taken */
export function readLabelRefs(): bool {
  if (!beginLabels()) return false;
  for (let at = refsAddress; at < refsAddress + 4 * refCount; at += 8) {
    if (!readLabel(symbolPlaces + 8 * load<u32>(at), symbolPlaces + 8 * load<u32>(at, 4))) return false;
  }
  return endLabels();
}

/** Reads a label, whose name and value are at these places. A length ends where its symbol begins. */
function readLabel(namePlace: u32, valuePlace: u32): bool {
  const name = load<u32>(namePlace);
  const nameLength = load<u32>(namePlace, 4) - name;
  // In more than one byte it ends with another than itself.
  if (load<u8>(name - 1) !== nameLength) return false;
  const value = load<u32>(valuePlace);
  const end = load<u32>(valuePlace, 4);
  const valueLength = end - value;
  if (valueLength < 0x80) {
    return load<u8>(value - 1) === valueLength && addLabel(name, nameLength, value - 1, value, end);
  }
  if (valueLength >= 0x4000 || load<u8>(value - 1) !== valueLength >> 7) return false;
  return addLabel(name, nameLength, value - 2, value, end);
}
