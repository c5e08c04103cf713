import * as v from 'valibot';
import { AppError } from '../errors.ts';
import { type Expectation, members, validate } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';

/** The limits of a tenant. Rates are in bytes of bodies as sent per second; infinity means no limit. */
export interface TenantLimits {
  readonly maxDatasets: number;
  /** Columns of an events dataset. */
  readonly maxColumns: number;
  /** The size of one JSON event, as sent. */
  readonly maxEventBytes: number;
  readonly tenantIngestBytesPerSecond: number;
  /** Of each dataset. */
  readonly datasetIngestBytesPerSecond: number;
}

export type LimitName = keyof TenantLimits;

/** The limits in which a tenant differs from the configuration. */
export type OwnLimits = Partial<TenantLimits>;

/** The effective limits of a tenant or of one of its datasets, and who has set each. */
export interface LimitsInForce extends TenantLimits {
  readonly setBy: Readonly<Record<LimitName, 'service' | 'tenant' | 'dataset'>>;
}

/** The limits from the configuration. */
export const serviceLimits = (limitsOfAll: TenantLimits): LimitsInForce => ({
  ...limitsOfAll,
  setBy: {
    maxDatasets: 'service',
    maxColumns: 'service',
    maxEventBytes: 'service',
    tenantIngestBytesPerSecond: 'service',
    datasetIngestBytesPerSecond: 'service',
  },
});

export const defaultLimits: LimitsInForce = serviceLimits({
  maxDatasets: limits.maxDatasetsPerTenant,
  maxColumns: limits.maxColumnsPerDataset,
  maxEventBytes: limits.maxEventBytes,
  tenantIngestBytesPerSecond: Number.POSITIVE_INFINITY,
  datasetIngestBytesPerSecond: Number.POSITIVE_INFINITY,
});

/** Replaces some of the limits. */
export function withLimits(
  inForce: LimitsInForce,
  own: OwnLimits,
  setter: 'tenant' | 'dataset',
): LimitsInForce {
  const setters = Object.fromEntries(Object.keys(own).map((name) => [name, setter]));
  return { ...inForce, ...own, setBy: { ...inForce.setBy, ...setters } };
}

/** What an error says about the limit that was reached: its name, and who can change it. */
export const limitDetails = (name: LimitName, { setBy }: LimitsInForce) => ({
  limit: name,
  setBy: setBy[name],
});

/** Stands for an infinite rate, since JSON has no infinite numbers. */
const unlimited = 'unlimited';

interface Range {
  readonly range: readonly [min: number, max: number];
  readonly mayBeUnlimited: boolean;
}

const ranges: Readonly<Record<LimitName, Range>> = {
  maxDatasets: { range: limits.settableDatasets, mayBeUnlimited: false },
  maxColumns: { range: limits.settableColumns, mayBeUnlimited: false },
  maxEventBytes: { range: limits.settableEventBytes, mayBeUnlimited: false },
  tenantIngestBytesPerSecond: { range: limits.settableIngestRate, mayBeUnlimited: true },
  datasetIngestBytesPerSecond: { range: limits.settableIngestRate, mayBeUnlimited: true },
};

export const limitNames = Object.keys(ranges) as readonly LimitName[];

/** Limits as JSON has them: numbers, or "unlimited" for a rate. */
export type WrittenLimits = { readonly [Name in LimitName]?: number | typeof unlimited | undefined };

function limitSchema(name: LimitName) {
  const { range, mayBeUnlimited } = ranges[name];
  const [min, max] = range;
  const rule = `is a whole number from ${min} to ${max}${mayBeUnlimited ? `, or "${unlimited}"` : ''}`;
  const count = v.pipe(v.number(rule), v.integer(rule), v.minValue(min, rule), v.maxValue(max, rule));
  return mayBeUnlimited ? v.union([v.literal(unlimited), count], rule) : count;
}

/** Limits with any of these names. */
export const limitsExpectation = (names: readonly LimitName[]): Expectation<WrittenLimits> => ({
  schema: members(
    Object.fromEntries(names.map((name) => [name, v.optional(limitSchema(name))])),
    `is none of the limits: ${names.join(', ')}`,
  ),
  name: '',
  whole: `limits are an object: {"${names[0]}":${ranges[names[0] ?? 'maxDatasets'].range[0]}}`,
  code: 'bad_limits',
});

/** Limits of a tenant. */
export const tenantLimitsExpectation = limitsExpectation(limitNames);

/**
 * Reads limits as `showLimits` writes them: an object with any of these names, and numbers, or
 * "unlimited" for a rate.
 * @throws AppError `bad_limits`
 */
export const parseLimits = (value: unknown, expectation: Expectation<WrittenLimits>): OwnLimits =>
  readLimits(validate(expectation, value));

/** Limits whose form was checked. */
export const readLimits = (written: WrittenLimits): OwnLimits =>
  Object.fromEntries(
    Object.entries(written).map(([name, limit]) => [
      name,
      limit === unlimited ? Number.POSITIVE_INFINITY : limit,
    ]),
  );

/**
 * Reads limits of a tenant.
 * @throws AppError `bad_limits`
 */
export const parseOwnLimits = (value: unknown): OwnLimits => parseLimits(value, tenantLimitsExpectation);

/** The limits of these names that are set, as JSON values. */
export const showLimits = (
  shown: OwnLimits,
  names: readonly LimitName[] = limitNames,
): Readonly<Record<string, number | string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const limit = shown[name];
      return limit === undefined ? [] : [[name, Number.isFinite(limit) ? limit : unlimited]];
    }),
  );

export const badLimits = (reason: string): AppError => new AppError('bad_limits', reason);
