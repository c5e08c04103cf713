import { AppError } from '../errors.ts';
import { FairExecutor } from '../lib/fair-executor.ts';
import { limits } from '../limits/limits.ts';

/** What of a dataset is replaced as a whole. */
export type DatasetSetting = 'retention' | 'limits';

/** A change that waits for its turn, and all who are waiting for it. */
interface WaitingChange {
  /** Of the last caller. */
  work: () => Promise<void>;
  callers: number;
  made: Promise<void>;
}

const refusal = 'too many changes of datasets are being made at the moment';

/**
 * Changes of the settings of datasets, one after another on this node, tenants in turn.
 *
 * Each change costs an insert into the metadata log, and that of a retention some statements of DDL besides.
 * Changes that are made at the same time cost more than that: of entries with the same base only one takes
 * effect, and the others are appended again (`MetadataLog`), so that n changes need up to n * n / 2 entries.
 *
 * A change replaces a setting as a whole. So while one waits, later ones of the same setting of the same
 * dataset take its place, and all callers wait for the last one: it is as if each had been made right
 * after the one before. A change that has begun is never joined.
 *
 * At most `maxPendingDatasetChanges` changes wait with `maxCallersPerDatasetChange` callers each, none for
 * longer than `maxChangeWaitMs`. Nothing survives the process: callers that got no reply ask again.
 */
export class DatasetChanges {
  readonly #turns = new FairExecutor(limits.maxPendingDatasetChanges, refusal, limits.maxChangeWaitMs);
  readonly #waiting = new Map<string, WaitingChange>();

  /**
   * Makes a change, or one that replaces it.
   * @param id of the dataset
   * @param work makes the change; not called if a later one takes its place
   * @throws AppError `overloaded`, and what the work throws that was called
   */
  make(tenant: string, id: string, setting: DatasetSetting, work: () => Promise<void>): Promise<void> {
    const key = JSON.stringify([tenant, id, setting]);
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return this.#enqueue(tenant, key, work);
    if (waiting.callers >= limits.maxCallersPerDatasetChange) {
      return Promise.reject(new AppError('overloaded', refusal));
    }
    waiting.callers += 1;
    waiting.work = work;
    return waiting.made;
  }

  #enqueue(tenant: string, key: string, work: () => Promise<void>): Promise<void> {
    const change: WaitingChange = { work, callers: 1, made: Promise.resolve() };
    this.#waiting.set(key, change);
    const forget = (): void => {
      if (this.#waiting.get(key) === change) this.#waiting.delete(key);
    };
    // It may begin at once.
    change.made = this.#turns
      .run(tenant, () => {
        forget();
        return change.work();
      })
      .finally(forget);
    return change.made;
  }
}
