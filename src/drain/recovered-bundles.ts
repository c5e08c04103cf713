import type { BatchManifest } from '../wal/batch-manifests.ts';
import { mergeBatches, nameOf, type TableBatch } from './batch.ts';
import type { Waited } from './quiet-tables.ts';
import type { Load } from './shipment.ts';

/**
 * Bundles that an earlier life of the process has noted: their inserts may have been sent, so they are made of the same
 * parts again, unless it is known that the store has them.
 */
export class RecoveredBundles {
  readonly #loads: ReadonlyMap<number, Load>;
  /** Parts that are to be sent. */
  readonly #parts = new Map<BatchManifest, TableBatch[]>();

  /** @param loads all segments that the log held at the start, in order */
  constructor(loads: readonly Load[]) {
    this.#loads = new Map(loads.map((load) => [load.segment.number, load]));
    for (const load of loads) {
      for (const bundle of load.segment.manifests) if (this.#isThere(bundle)) load.waiting.add(bundle.file);
    }
  }

  /** Takes the parts of a segment that belong to bundles. Segments come in their order. @returns them */
  take(load: Load, batches: readonly TableBatch[]): ReadonlySet<TableBatch> {
    const { number, manifests: bundles } = load.segment;
    const taken = new Set<TableBatch>();
    if (bundles.length === 0) return taken;
    for (const batch of batches) {
      const name = nameOf(batch);
      const bundle = bundles.find(({ tables }) => (tables.get(name) ?? Number.POSITIVE_INFINITY) <= number);
      if (bundle === undefined) continue;
      taken.add(batch);
      if (!this.#isStored(bundle, name)) this.#parts.set(bundle, [...(this.#parts.get(bundle) ?? []), batch]);
    }
    return taken;
  }

  /**
   * Bundles that end with a segment, which was taken; without batches, if the store has all of them. Each is to be sent
   * before the next is asked for: until then the later ones keep their segments back, which the store may have otherwise.
   */
  *completedBy({ segment }: Load): Generator<Waited> {
    for (const bundle of segment.manifests) {
      if (bundle.segments.at(-1) !== segment.number || !this.#isThere(bundle)) continue;
      const loads = this.#loadsOf(bundle);
      for (const load of loads) load.waiting.delete(bundle.file);
      yield { loads, batches: mergeBatches(this.#parts.get(bundle) ?? []) };
    }
  }

  #loadsOf({ segments }: BatchManifest): Load[] {
    return segments.flatMap((number) => this.#loads.get(number) ?? []);
  }

  /** A segment leaves the log when the store has all of its bundles. */
  #isThere(bundle: BatchManifest): boolean {
    return this.#loadsOf(bundle).length === bundle.segments.length;
  }

  #isStored(bundle: BatchManifest, name: string): boolean {
    const last = this.#loadsOf(bundle).at(-1);
    return !this.#isThere(bundle) || last?.segment.checkpoint.tables.has(name) === true;
  }
}
