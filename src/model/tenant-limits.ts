import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';

/** What a tenant may have. Rates are bytes of bodies as sent, a second; infinite for no bound. */
export interface TenantLimits {
  readonly maxDatasets: number;
  /** Columns of a dataset of events. */
  readonly maxColumns: number;
  /** One JSON event, as it is sent. */
  readonly maxEventBytes: number;
  readonly tenantIngestBytesPerSecond: number;
  /** Of each dataset. */
  readonly datasetIngestBytesPerSecond: number;
}

/** What differs for a tenant from what the service was started with. */
export type OwnLimits = Partial<TenantLimits>;

/** The word for an infinite rate: JSON has no such number. */
const unlimited = 'unlimited';

interface Range {
  readonly range: readonly [min: number, max: number];
  readonly mayBeUnlimited: boolean;
}

const ranges: Readonly<Record<keyof TenantLimits, Range>> = {
  maxDatasets: { range: limits.settableDatasets, mayBeUnlimited: false },
  maxColumns: { range: limits.settableColumns, mayBeUnlimited: false },
  maxEventBytes: { range: limits.settableEventBytes, mayBeUnlimited: false },
  tenantIngestBytesPerSecond: { range: limits.settableIngestRate, mayBeUnlimited: true },
  datasetIngestBytesPerSecond: { range: limits.settableIngestRate, mayBeUnlimited: true },
};

const isName = (name: string): name is keyof TenantLimits => Object.hasOwn(ranges, name);

/**
 * Reads limits as `showLimits` writes them: an object with any of their names, numbers in it, or "unlimited" for a rate.
 * @throws AppError `bad_tenant_limits`
 */
export function parseOwnLimits(value: unknown): OwnLimits {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refusal('limits are an object: {"maxDatasets":100}');
  }
  const own: Partial<Record<keyof TenantLimits, number>> = {};
  for (const [name, limit] of Object.entries(value) as Array<[string, unknown]>) {
    if (!isName(name)) {
      throw refusal(
        `${JSON.stringify(name.slice(0, 40))} is none of the limits: ${Object.keys(ranges).join(', ')}`,
      );
    }
    own[name] = parseLimit(name, limit);
  }
  return own;
}

function parseLimit(name: keyof TenantLimits, limit: unknown): number {
  const { range, mayBeUnlimited } = ranges[name];
  if (mayBeUnlimited && limit === unlimited) return Number.POSITIVE_INFINITY;
  const [min, max] = range;
  if (typeof limit === 'number' && Number.isInteger(limit) && limit >= min && limit <= max) return limit;
  const orUnlimited = mayBeUnlimited ? ', or "unlimited"' : '';
  throw refusal(`${name} is a whole number from ${min} to ${max}${orUnlimited}`);
}

/** As JSON can have it. */
export const showLimits = (shown: OwnLimits): Readonly<Record<string, number | string>> =>
  Object.fromEntries(
    Object.entries(shown).map(([name, limit]) => [name, Number.isFinite(limit) ? limit : unlimited]),
  );

const refusal = (reason: string): AppError => new AppError('bad_tenant_limits', reason);
