import { totalmem } from 'node:os';
import { limits } from '../limits/limits.ts';

const MiB = 2 ** 20;

/**
 * What one query may use where nobody has said: a share of the memory, within bounds.
 * @param machineBytes memory of the machine, or of the container if that has less
 */
export function defaultQueryMemoryBytes(machineBytes = availableBytes()): number {
  const share = Math.floor((machineBytes * limits.queryMemoryShare) / MiB) * MiB;
  return Math.max(limits.queryMinMemoryBytes, Math.min(limits.queryMaxMemoryBytes, share));
}

/** A container's bound is 0 where there is none that is known, or larger than the machine. */
function availableBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** What all queries together may use where nobody has said. */
export const defaultTotalQueryMemoryBytes = (queryBytes: number): number =>
  Math.floor(queryBytes * limits.queryMemoryFactor);
