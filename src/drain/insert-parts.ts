import { memoryLimitExceeded, StoreError } from '../clickhouse/store-error.ts';
import { limits } from '../limits/limits.ts';

interface MemoryShortage {
  /** Refusals in a row since the last change of `parts`. */
  refusals: number;
  parts: number;
}

/**
 * In how many parts the batches of a table are inserted. It is one, until the store lacks memory for a batch
 * several times in a row; each time this happens, the number of parts doubles. After each batch that
 * succeeds, the number is halved.
 */
export class InsertParts {
  /** Only tables that are short of memory. */
  readonly #shortages = new Map<string, MemoryShortage>();

  of(table: string): number {
    return this.#shortages.get(table)?.parts ?? 1;
  }

  noteFailure(table: string, error: unknown): void {
    if (!(error instanceof StoreError && error.clickHouseCode === memoryLimitExceeded)) return;
    const shortage = this.#shortages.get(table) ?? { refusals: 0, parts: 1 };
    this.#shortages.set(table, shortage);
    shortage.refusals += 1;
    if (shortage.refusals < limits.maxMemoryRefusals) return;
    shortage.refusals = 0;
    shortage.parts = Math.min(shortage.parts * 2, limits.maxInsertParts);
  }

  noteSuccess(table: string): void {
    const shortage = this.#shortages.get(table);
    if (shortage === undefined) return;
    shortage.refusals = 0;
    shortage.parts /= 2;
    if (shortage.parts < 1) this.#shortages.delete(table);
  }
}
