import type { BatchManifest } from '../wal/batch-manifests.ts';
import type { BatchPlan, PendingSegment } from './drain-state.ts';
import { mergeBatches, nameOf, type TableBatch } from './table-batch.ts';

/**
 * The batched jobs of which an earlier run of the process has left manifests. Their inserts may have been
 * sent, so they are made of the same rows again, unless it is known that the store has them.
 */
export class RecoveredBatches {
  readonly #segments: ReadonlyMap<number, PendingSegment>;
  /** What is to be inserted again. */
  readonly #batches = new Map<BatchManifest, TableBatch[]>();

  /** @param segments all that the log held at the start, in order */
  constructor(segments: readonly PendingSegment[]) {
    this.#segments = new Map(segments.map((pending) => [pending.segment.number, pending]));
    for (const { segment, waiting } of segments) {
      for (const manifest of segment.manifests) if (this.#isPending(manifest)) waiting.add(manifest.file);
    }
  }

  /**
   * Takes the batches of a segment that belong to recovered jobs. Segments come in their order. @returns them
   */
  take({ segment }: PendingSegment, batches: readonly TableBatch[]): ReadonlySet<TableBatch> {
    const { number, manifests } = segment;
    const taken = new Set<TableBatch>();
    if (manifests.length === 0) return taken;
    for (const batch of batches) {
      const name = nameOf(batch);
      const manifest = manifests.find(
        ({ tables }) => (tables.get(name) ?? Number.POSITIVE_INFINITY) <= number,
      );
      if (manifest === undefined) continue;
      taken.add(batch);
      if (this.#isStored(manifest, name)) continue;
      this.#batches.set(manifest, [...(this.#batches.get(manifest) ?? []), batch]);
    }
    return taken;
  }

  /**
   * The jobs that end with a segment, which was taken; without batches, if the store has all of them. Each is
   * to be queued before the next is asked for: until then the later ones keep their segments pending, which
   * would be retired otherwise.
   */
  *completedBy({ segment }: PendingSegment): Generator<BatchPlan> {
    for (const manifest of segment.manifests) {
      if (manifest.segments.at(-1) !== segment.number || !this.#isPending(manifest)) continue;
      const segments = this.#segmentsOf(manifest);
      for (const { waiting } of segments) waiting.delete(manifest.file);
      yield { segments, batches: mergeBatches(this.#batches.get(manifest) ?? []) };
    }
  }

  #segmentsOf({ segments }: BatchManifest): PendingSegment[] {
    return segments.flatMap((number) => this.#segments.get(number) ?? []);
  }

  /**
   * A segment leaves the log when the store has all jobs that take rows of it. So if one is gone, the store
   * has the job.
   */
  #isPending(manifest: BatchManifest): boolean {
    return this.#segmentsOf(manifest).length === manifest.segments.length;
  }

  #isStored(manifest: BatchManifest, name: string): boolean {
    const last = this.#segmentsOf(manifest).at(-1);
    return !this.#isPending(manifest) || last?.segment.checkpoint.tables.has(name) === true;
  }
}
