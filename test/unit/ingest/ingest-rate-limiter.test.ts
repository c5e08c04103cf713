import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { IngestRateLimiter } from '../../../src/ingest/ingest-rate-limiter.ts';
import { limits } from '../../../src/limits/limits.ts';
import { defaultLimits, type LimitsInForce, withLimits } from '../../../src/model/tenant-limits.ts';
import { caughtError } from '../../support/lib/caught.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';

const perSecond = 1000;
const burst = perSecond * limits.ingestBurstSeconds;
let clock: ManualClock;
let rates: IngestRateLimiter;
let bounds: LimitsInForce;
const limitsOf = () => bounds;
beforeEach(() => {
  clock = new ManualClock();
  bounds = {
    ...defaultLimits,
    tenantIngestBytesPerSecond: 4 * perSecond,
    datasetIngestBytesPerSecond: perSecond,
  };
  rates = new IngestRateLimiter({ clock, limitsOf });
});

/** Seconds to wait; 0 for a body that may come. */
function waitOf(dataset: string, tenant = 'acme'): number {
  try {
    rates.check(tenant, dataset);
    return 0;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'rate_limited') throw error;
    return error.retryAfterSeconds ?? Number.NaN;
  }
}

describe('rates of ingest', () => {
  it('let a burst in, and say how long to wait then', () => {
    rates.take('acme', 'app', burst - 1);
    expect(waitOf('app')).toBe(0);
    rates.take('acme', 'app', 2501);
    expect(waitOf('app')).toBe(3);
    clock.advance(2499);
    expect(waitOf('app')).toBe(1);
    clock.advance(2);
    expect(waitOf('app')).toBe(0);
  });

  it('let a body in that is larger than all of the burst', () => {
    rates.take('acme', 'app', 3 * burst);
    expect(waitOf('app')).toBe(20);
    clock.advance(20_001);
    expect(waitOf('app')).toBe(0);
  });

  it('keep to the rate in the long run, whatever is sent', () => {
    let takenBytes = 0;
    for (let step = 0; step < 10_000; step++) {
      if (waitOf('app') === 0) {
        rates.take('acme', 'app', 700);
        takenBytes += 700;
      }
      clock.advance(100);
    }
    expect(takenBytes / 1000).toBeGreaterThan(perSecond);
    expect(takenBytes / 1000).toBeLessThan(perSecond * 1.02);
  });

  it('hold back neither other datasets nor other tenants', () => {
    rates.take('acme', 'app', 2 * burst);
    expect([waitOf('app'), waitOf('web'), waitOf('app', 'other')]).toEqual([10, 0, 0]);
  });

  it('add up the datasets of a tenant', () => {
    for (let index = 0; index < 50; index++) rates.take('acme', `d${index}`, perSecond);
    expect([waitOf('new'), waitOf('new', 'other')]).toEqual([3, 0]);
  });

  it('name what is allowed, and who has said so', () => {
    rates.take('acme', 'app', 2 * burst);
    const refusal = (dataset: string) => caughtError(() => rates.check('acme', dataset));
    const limit = 'datasetIngestBytesPerSecond';
    expect(refusal('app')).toMatchObject({
      message: 'the dataset app may send 1000 bytes per second and has sent more',
      details: { bytesPerSecond: 1000, limit, setBy: 'service' },
    });
    bounds = withLimits(bounds, { [limit]: 500 }, 'dataset');
    expect(refusal('app')).toMatchObject({ details: { bytesPerSecond: 500, limit, setBy: 'dataset' } });
    bounds = withLimits(bounds, { tenantIngestBytesPerSecond: 1500 }, 'tenant');
    rates.take('acme', 'web', 2 * burst);
    expect(refusal('new')).toMatchObject({
      message: 'the tenant may send 1500 bytes per second and has sent more',
      details: { limit: 'tenantIngestBytesPerSecond', setBy: 'tenant' },
    });
  });

  it('remember a bounded number of datasets, those that were silent for longest last', () => {
    bounds = { ...bounds, tenantIngestBytesPerSecond: Number.POSITIVE_INFINITY };
    rates = new IngestRateLimiter({ clock, limitsOf, maxDatasets: 3 });
    for (const name of ['a', 'b', 'c', 'a', 'd']) rates.take('acme', name, 2 * burst);
    expect(rates.size).toBe(3);
    expect(['a', 'b', 'c', 'd'].map((name) => waitOf(name) > 0)).toEqual([true, false, true, true]);
  });

  it('may change under way: a higher one ends the wait sooner, and none at all at once', () => {
    rates.take('acme', 'app', burst + 4 * perSecond);
    expect(waitOf('app')).toBe(4);
    bounds = { ...bounds, datasetIngestBytesPerSecond: 2 * perSecond };
    expect(waitOf('app')).toBe(2);
    bounds = { ...bounds, datasetIngestBytesPerSecond: Number.POSITIVE_INFINITY };
    expect(waitOf('app')).toBe(0);
    rates.take('acme', 'app', 1);
    bounds = { ...bounds, datasetIngestBytesPerSecond: perSecond };
    expect(waitOf('app')).toBe(0);
  });

  it('remember nothing where there is no bound', () => {
    bounds = defaultLimits;
    rates.take('acme', 'app', 1e15);
    expect([rates.size, waitOf('app')]).toEqual([0, 0]);
  });
});
