import * as v from 'valibot';
import type { Catalog } from '../catalog/catalog.ts';
import { applyRetention } from '../catalog/table-retention.ts';
import type { Store } from '../clickhouse/store.ts';
import { type Expectation, listOf, members, oneOf, text, validate } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';
import type { Retention } from '../model/retention.ts';
import type { DatasetChanges } from './dataset-changes.ts';
import { existingDataset, orUnavailable } from './existing.ts';

export interface DatasetRetentionOptions {
  readonly catalog: Pick<Catalog, 'get' | 'ensure' | 'datasets'>;
  readonly store: Store;
  readonly changes: DatasetChanges;
}

/** How long datasets keep their rows. Callers have checked that it is allowed. */
export class DatasetRetention {
  readonly #options: DatasetRetentionOptions;

  constructor(options: DatasetRetentionOptions) {
    this.#options = options;
  }

  /**
   * Undefined: for ever.
   * @throws AppError `dataset_not_found`, `store_unavailable`
   */
  get(tenant: string, name: string): Retention | undefined {
    const { catalog } = this.#options;
    existingDataset(catalog, tenant, name);
    return catalog.datasets.get(tenant, name)?.retention;
  }

  /**
   * Changes it, at any time. If the store fails in the middle, the same again completes it.
   * @throws AppError `dataset_not_found`, `store_unavailable`, `overloaded`
   */
  async set(tenant: string, name: string, retention: Retention | undefined): Promise<void> {
    const { catalog, store, changes } = this.#options;
    const dataset = existingDataset(catalog, tenant, name);
    const { id, kind } = dataset;
    await orUnavailable(() =>
      changes.make(tenant, id, 'retention', async () => {
        await catalog.ensure(tenant, id, kind, []);
        await catalog.datasets.setRetention(tenant, id, retention);
        await applyRetention(store, dataset, catalog.datasets.get(tenant, name)?.retention);
      }),
    );
  }
}

const durationRule = `must be a number of days, "1d" to "${limits.maxRetentionDays}d"`;

const retentionTask = members({
  description: v.optional(text(limits.maxRetentionDescriptionLength)),
  action: oneOf(['delete']),
  duration: v.pipe(
    v.string(durationRule),
    v.regex(/^\d{1,6}d$/, durationRule),
    v.check((duration) => isAllowed(daysIn(duration)), durationRule),
    v.description('Whole days: `30d`.'),
  ),
});

/** A retention as clients write it. */
type WrittenRetention = readonly v.InferOutput<typeof retentionTask>[];

/** A retention as clients read it. */
export interface RetentionTask {
  readonly description: string;
  readonly action: 'delete';
  /** `30d` */
  readonly duration: string;
}

/** `[{"description": "…", "action": "delete", "duration": "30d"}]`, or `[]` for none. */
export const retentionExpectation: Expectation<WrittenRetention> = {
  schema: v.pipe(listOf(retentionTask, 1), v.title('Retention')),
  name: 'retention',
  whole: 'a retention must be an array with one task, or none: [{"action": "delete", "duration": "30d"}]',
  code: 'bad_retention',
};

export const showRetention = (retention: Retention | undefined): readonly RetentionTask[] =>
  retention === undefined
    ? []
    : [{ description: retention.description, action: 'delete', duration: `${retention.days}d` }];

/**
 * Reads a retention.
 * @throws AppError `bad_retention`
 */
export const parseRetention = (value: unknown): Retention | undefined =>
  readRetention(validate(retentionExpectation, value));

/** A retention whose form was checked. */
export const readRetention = ([task]: WrittenRetention): Retention | undefined =>
  task && { description: task.description ?? '', days: daysIn(task.duration) };

const daysIn = (duration: string): number => Number(duration.slice(0, -1));
const isAllowed = (days: number): boolean => days >= 1 && days <= limits.maxRetentionDays;
