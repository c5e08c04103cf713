import { describe, expect, it } from 'vitest';
import { Admission } from '../../../src/ingest/admission.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';

const metrics = createMetrics();
const all = limits.maxInflightBodyBytes;
const inFlight = () => metrics.inflightBodyBytes.value;

describe('admission', () => {
  it('leaves room for others whatever a tenant sends', async () => {
    const admission = new Admission({ metrics, shared: true });
    const first = admission.reserve('noisy', all / 2);
    expect(() => admission.reserve('noisy', 1)).toThrow('of other requests of the tenant are in progress');
    const other = admission.reserve('quiet', all / 4);
    expect(() => admission.reserve('quiet', 1)).toThrow('it may use no more of');
    expect(() => admission.reserve('third', all / 3)).toThrow(`${(all * 3) / 4} bytes of other requests`);
    other.release();
    first.release();
    first.release();
    expect(inFlight()).toBe(0);
    admission.reserve('noisy', all / 2).release();
  });

  it('has room for one more tenant when any number of them takes what it can get', () => {
    const admission = new Admission({ metrics, shared: true });
    const tenants = Array.from({ length: 20 }, (_, index) => `noisy${index}`);
    const held = new Map<string, number>(tenants.map((tenant) => [tenant, 0]));
    const bytes = 64 * 1024;
    for (let refused = 0; refused < tenants.length; ) {
      refused = 0;
      for (const tenant of tenants) {
        try {
          admission.reserve(tenant, bytes);
          held.set(tenant, (held.get(tenant) ?? 0) + bytes);
        } catch {
          refused += 1;
        }
      }
    }
    for (const taken of held.values()) {
      expect(taken).toBeGreaterThan(all / 21 - 2 * bytes);
      expect(taken).toBeLessThanOrEqual(all / 21 + bytes);
    }
    admission.reserve('quiet', all / 21 / 3);
  });

  it('gives all of it to the only one', () => {
    const admission = new Admission({ metrics, shared: false });
    admission.reserve('default', all).release();
    admission.close();
    expect(() => admission.reserve('default', 1)).toThrow('shutting down');
  });
});
