import type { DatasetKind } from './dataset.ts';
import {
  badLimits,
  type LimitName,
  type LimitsInForce,
  limitsExpectation,
  parseLimits,
  showLimits,
  withLimits,
} from './tenant-limits.ts';

const ofEvents = ['maxColumns', 'maxEventBytes', 'datasetIngestBytesPerSecond'] as const;
const ofOthers = ['datasetIngestBytesPerSecond'] as const;

export type DatasetLimitName = (typeof ofEvents)[number];

/** Limits of a dataset that are lower than its tenant's. Plain JSON except for an infinite rate. */
export type OwnDatasetLimits = { readonly [Name in DatasetLimitName]?: number };

/** The limits that apply to datasets of a kind. */
export const datasetLimitNames = (kind: DatasetKind): readonly DatasetLimitName[] =>
  kind === 'events' ? ofEvents : ofOthers;

/** Limits of a dataset of whatever kind. */
export const datasetLimitsExpectation = limitsExpectation(ofEvents);
const ofOthersExpectation = limitsExpectation(ofOthers);

/**
 * Reads the limits of a dataset. Whoever manages a dataset may not be the one who divides up the server, so
 * the limits can only be lower than those of its tenant.
 * @param allowed the limits of the tenant
 * @throws AppError `bad_limits`
 */
export function parseDatasetLimits(
  value: unknown,
  kind: DatasetKind,
  allowed: LimitsInForce,
): OwnDatasetLimits {
  const own: OwnDatasetLimits = parseLimits(
    value,
    kind === 'events' ? datasetLimitsExpectation : ofOthersExpectation,
  );
  for (const name of ofEvents) {
    if ((own[name] ?? 0) <= allowed[name]) continue;
    const [most] = Object.values(showLimits(allowed, [name]));
    throw badLimits(`${name} of a dataset is no more than its tenant has, which is ${most}`);
  }
  return own;
}

/** Reads what `showLimits` has written of a dataset. */
export const readDatasetLimits = (shown: unknown): OwnDatasetLimits =>
  parseLimits(shown, datasetLimitsExpectation);

/**
 * The effective limits of a dataset: the lower one of each, since the tenant's limits may have been lowered
 * later.
 */
export function narrowed(tenant: LimitsInForce, own: OwnDatasetLimits): LimitsInForce {
  const narrower = Object.entries(own).filter(([name, limit]) => limit < tenant[name as LimitName]);
  return withLimits(tenant, Object.fromEntries(narrower), 'dataset');
}
