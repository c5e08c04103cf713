import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import { type LimitName, type LimitsInForce, limitDetails } from '../model/tenant-limits.ts';

export interface IngestRateLimiterOptions {
  readonly clock: Clock;
  /** The limits that apply to a dataset now. */
  readonly limitsOf: (tenant: string, dataset: string) => LimitsInForce;
  readonly maxDatasets?: number;
}

/**
 * Limits how fast tenants and their datasets may send, with token buckets.
 *
 * - A bucket fills at its rate, up to `limits.ingestBurstSeconds` of it. A body is let in while the
 *   bucket is not empty, and then takes all of its bytes, even if that makes the bucket negative. The
 *   next body waits until it is positive again. A body of any size thus gets in, and nobody needs to know
 *   its size beforehand. Over time the rate holds; it can be exceeded by the burst and by the bodies that
 *   arrived at the same moment.
 * - A body counts with its compressed size, even if it is refused later.
 * - Each tenant and dataset that has sent something takes a number and a time. Beyond a bound, the one that
 *   has been silent for longest is dropped, which only fills its bucket.
 */
export class IngestRateLimiter {
  readonly #clock: Clock;
  readonly #limitsOf: IngestRateLimiterOptions['limitsOf'];
  readonly #tenants: Buckets;
  readonly #datasets: Buckets;

  constructor({ clock, limitsOf, maxDatasets }: IngestRateLimiterOptions) {
    this.#clock = clock;
    this.#limitsOf = limitsOf;
    this.#tenants = new Buckets(limits.maxTenants);
    this.#datasets = new Buckets(maxDatasets ?? limits.maxMeteredDatasets);
  }

  /** @throws AppError `rate_limited` */
  check(tenant: string, dataset: string): void {
    const inForce = this.#limitsOf(tenant, dataset);
    const { tenantIngestBytesPerSecond, datasetIngestBytesPerSecond } = inForce;
    if (tenantIngestBytesPerSecond === unlimited && datasetIngestBytesPerSecond === unlimited) return;
    const nowMs = this.#clock.monotonicMs();
    const tenantWaitMs = this.#tenants.waitMs(tenant, nowMs, tenantIngestBytesPerSecond);
    const datasetWaitMs = this.#datasets.waitMs(keyOf(tenant, dataset), nowMs, datasetIngestBytesPerSecond);
    const waitMs = Math.max(tenantWaitMs, datasetWaitMs);
    if (waitMs <= 0) return;
    const [who, limit]: readonly [string, LimitName] =
      tenantWaitMs > datasetWaitMs
        ? ['the tenant', 'tenantIngestBytesPerSecond']
        : [`the dataset ${dataset}`, 'datasetIngestBytesPerSecond'];
    const rate = inForce[limit];
    throw new AppError('rate_limited', `${who} may send ${rate} bytes per second and has sent more`, {
      retryAfterSeconds: Math.ceil(waitMs / 1000),
      details: { bytesPerSecond: rate, ...limitDetails(limit, inForce) },
    });
  }

  /** Counts the bytes of a body that is let in. */
  take(tenant: string, dataset: string, bytes: number): void {
    const { tenantIngestBytesPerSecond, datasetIngestBytesPerSecond } = this.#limitsOf(tenant, dataset);
    if (
      this.size === 0 &&
      tenantIngestBytesPerSecond === unlimited &&
      datasetIngestBytesPerSecond === unlimited
    )
      return;
    const nowMs = this.#clock.monotonicMs();
    this.#tenants.take(tenant, nowMs, bytes, tenantIngestBytesPerSecond);
    this.#datasets.take(keyOf(tenant, dataset), nowMs, bytes, datasetIngestBytesPerSecond);
  }

  /** How many tenants and datasets are tracked. */
  get size(): number {
    return this.#tenants.size + this.#datasets.size;
  }
}

const unlimited = Number.POSITIVE_INFINITY;

interface Bucket {
  /** What was in the bucket at that time; negative if more was taken. */
  bytes: number;
  atMs: number;
}

/** Token buckets, ordered by last use. The rate may differ on each call. */
class Buckets {
  readonly #maxEntries: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** How long the bucket stays empty. */
  waitMs(key: string, nowMs: number, bytesPerSecond: number): number {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined || bytesPerSecond === unlimited) return 0;
    const bytes = filled(bucket, nowMs, bytesPerSecond);
    return bytes > 0 ? 0 : Math.max(1, (-bytes * 1000) / bytesPerSecond);
  }

  take(key: string, nowMs: number, bytes: number, bytesPerSecond: number): void {
    const bucket = this.#buckets.get(key);
    if (bytesPerSecond === unlimited) {
      // A level that was reached at another rate means nothing at this one.
      if (bucket !== undefined) this.#buckets.delete(key);
      return;
    }
    const before = bucket === undefined ? capacityOf(bytesPerSecond) : filled(bucket, nowMs, bytesPerSecond);
    this.#buckets.delete(key);
    this.#buckets.set(key, { bytes: before - bytes, atMs: nowMs });
    if (this.#buckets.size <= this.#maxEntries) return;
    const [oldest = ''] = this.#buckets.keys();
    this.#buckets.delete(oldest);
  }
}

const capacityOf = (bytesPerSecond: number): number => bytesPerSecond * limits.ingestBurstSeconds;

const filled = ({ bytes, atMs }: Bucket, nowMs: number, bytesPerSecond: number): number =>
  Math.min(capacityOf(bytesPerSecond), bytes + ((nowMs - atMs) / 1000) * bytesPerSecond);

/** Neither name contains a slash. */
const keyOf = (tenant: string, dataset: string): string => `${tenant}/${dataset}`;
