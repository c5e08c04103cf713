import type { Catalog } from '../catalog/catalog.ts';
import { applyRetention } from '../catalog/table-retention.ts';
import type { Store } from '../clickhouse/store.ts';
import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import type { Retention } from '../model/retention.ts';
import { existingDataset, orUnavailable } from './existing.ts';

export interface DatasetRetentionOptions {
  readonly catalog: Pick<Catalog, 'get' | 'ensure' | 'datasets'>;
  readonly store: Store;
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
   * @throws AppError `dataset_not_found`, `store_unavailable`
   */
  async set(tenant: string, name: string, retention: Retention | undefined): Promise<void> {
    const { catalog, store } = this.#options;
    const dataset = existingDataset(catalog, tenant, name);
    const { id, kind } = dataset;
    await orUnavailable(async () => {
      await catalog.ensure(tenant, id, kind, []);
      await catalog.datasets.setRetention(tenant, id, retention);
      await applyRetention(store, dataset, catalog.datasets.get(tenant, name)?.retention);
    });
  }
}

/** A retention as clients write and read it. */
export interface RetentionTask {
  readonly description: string;
  readonly action: 'delete';
  /** `30d` */
  readonly duration: string;
}

export const showRetention = (retention: Retention | undefined): readonly RetentionTask[] =>
  retention === undefined
    ? []
    : [{ description: retention.description, action: 'delete', duration: `${retention.days}d` }];

/**
 * Reads a retention: `[{"description": "…", "action": "delete", "duration": "30d"}]`, or `[]` for none.
 * @throws AppError `bad_retention`
 */
export function parseRetention(value: unknown): Retention | undefined {
  if (!Array.isArray(value) || value.length > 1) {
    throw badRetention('it is an array with one task, or none');
  }
  const [task] = value as readonly unknown[];
  if (task === undefined) return undefined;
  if (typeof task !== 'object' || task === null) throw badRetention('a task is an object');
  const { description = '', action, duration, ...others }: { readonly [Name in string]?: unknown } = task;
  const [stray] = Object.keys(others);
  if (stray !== undefined) throw badRetention(`${JSON.stringify(stray.slice(0, 40))} is not known here`);
  if (action !== 'delete') throw badRetention('the action is "delete"');
  if (typeof description !== 'string' || description.length > limits.maxRetentionDescriptionLength) {
    throw badRetention(
      `the description is text of ${limits.maxRetentionDescriptionLength} characters at most`,
    );
  }
  const days =
    typeof duration === 'string' && /^\d{1,6}d$/.test(duration) ? Number(duration.slice(0, -1)) : 0;
  if (days < 1 || days > limits.maxRetentionDays) {
    throw badRetention(`the duration is a number of days, "1d" to "${limits.maxRetentionDays}d"`);
  }
  return { description, days };
}

const badRetention = (reason: string): AppError => new AppError('bad_retention', reason);
