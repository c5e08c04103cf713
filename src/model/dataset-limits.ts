import type { DatasetKind } from './dataset.ts';
import {
  badLimits,
  type LimitName,
  type LimitsInForce,
  parseLimits,
  showLimits,
  withLimits,
} from './tenant-limits.ts';

const ofEvents = ['maxColumns', 'maxEventBytes', 'datasetIngestBytesPerSecond'] as const;
const ofOthers = ['datasetIngestBytesPerSecond'] as const;

export type DatasetLimitName = (typeof ofEvents)[number];

/** Where a dataset may have less than its tenant allows for each. Plain JSON but for an infinite rate. */
export type OwnDatasetLimits = { readonly [Name in DatasetLimitName]?: number };

/** The limits that mean something for a dataset of a kind. */
export const datasetLimitNames = (kind: DatasetKind): readonly DatasetLimitName[] =>
  kind === 'events' ? ofEvents : ofOthers;

/**
 * Reads limits of a dataset. Whoever manages a dataset need not be the one who shares the server out, so that they may only
 * be narrower than what its tenant has.
 * @param allowed what the tenant of the dataset has
 * @throws AppError `bad_limits`
 */
export function parseDatasetLimits(
  value: unknown,
  kind: DatasetKind,
  allowed: LimitsInForce,
): OwnDatasetLimits {
  const own = parseLimits(value, datasetLimitNames(kind));
  for (const name of ofEvents) {
    if ((own[name] ?? 0) <= allowed[name]) continue;
    const [most] = Object.values(showLimits(allowed, [name]));
    throw badLimits(`${name} of a dataset is no more than its tenant has, which is ${most}`);
  }
  return own;
}

/** Reads what `showLimits` has written of a dataset. */
export const readDatasetLimits = (shown: unknown): OwnDatasetLimits => parseLimits(shown, ofEvents);

/** What holds for a dataset: of each limit the narrower one, since its tenant may have less than when they were set. */
export function narrowed(tenant: LimitsInForce, own: OwnDatasetLimits): LimitsInForce {
  const narrower = Object.entries(own).filter(([name, limit]) => limit < tenant[name as LimitName]);
  return withLimits(tenant, Object.fromEntries(narrower), 'dataset');
}
