import { describe, expect, it } from 'vitest';
import { Admission } from '../../../src/ingest/admission.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits.ts';

const metrics = createMetrics();
const all = limits.maxInflightBodyBytes;
const inFlight = async () => (await metrics.inflightBodyBytes.get()).values[0]?.value;

describe('admission', () => {
  it('gives one of several tenants its part of the room and no more', async () => {
    const admission = new Admission({ metrics, maxTenantBytes: all / 2 });
    const first = admission.reserve('noisy', all / 2);
    expect(() => admission.reserve('noisy', 1)).toThrow('of other requests of the tenant are under way');
    const other = admission.reserve('quiet', all / 2);
    expect(() => admission.reserve('third', 1)).toThrow(`${all} bytes of other requests are under way`);
    other.release();
    first.release();
    first.release();
    expect(await inFlight()).toBe(0);
    admission.reserve('noisy', all / 2).release();
  });

  it('gives all of it to the only one', () => {
    const admission = new Admission({ metrics });
    admission.reserve('default', all).release();
    admission.close();
    expect(() => admission.reserve('default', 1)).toThrow('shutting down');
  });
});
