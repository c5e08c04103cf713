import { describe, expect, it } from 'vitest';
import { DenialBounds } from '../../../src/audit/denial-bounds.ts';
import { limits } from '../../../src/limits/limits.ts';

const { maxDenialLinesPerSecond: perTenant, maxDenialLinesPerSecondInAll: inAll } = limits;

const rates = {
  ofTenant: { burst: perTenant, perSecond: perTenant },
  inAll: { burst: inAll, perSecond: inAll },
};

/** How many of so many refusals are written. */
const flood = (bounds: DenialBounds, tenant: string, count: number, nowMs: number): number =>
  Array.from({ length: count }, () => bounds.admit(tenant, nowMs)).filter((said) => said !== undefined)
    .length;

describe('what is said about refusals', () => {
  it('is bounded in each second, and tells later what was left out', () => {
    const bounds = new DenialBounds(rates);
    expect(flood(bounds, 'acme', perTenant + 7, 0)).toBe(perTenant);
    expect(bounds.admit('acme', 999)).toBeUndefined();
    expect(bounds.admit('acme', 1000)).toBe(8);
    expect(bounds.admit('acme', 1000)).toBe(0);
  });

  it('is a matter of each tenant: neither silence nor a count comes from another', () => {
    const bounds = new DenialBounds(rates);
    flood(bounds, 'acme', 10 * perTenant, 0);
    expect(bounds.admit('globex', 0)).toBe(0);
    expect(bounds.admit('globex', 1000)).toBe(0);
    // A quiet second does not lose the count.
    expect(bounds.admit('globex', 2000)).toBe(0);
    expect(bounds.admit('acme', 3000)).toBe(9 * perTenant);
  });

  it('is bounded for all together', () => {
    const bounds = new DenialBounds(rates);
    const said = Array.from({ length: 100 }, (_, index) => flood(bounds, `tenant${index}`, perTenant, 0));
    expect(said.reduce((sum, each) => sum + each, 0)).toBe(inAll);
    expect(bounds.admit('tenant99', 1000)).toBe(perTenant);
  });

  it('goes on more slowly than it began, where that is the rate', () => {
    const bounds = new DenialBounds({
      ofTenant: { burst: 10, perSecond: 2 },
      inAll: { burst: 15, perSecond: 3 },
    });
    expect(flood(bounds, 'acme', 30, 0)).toBe(10);
    expect(flood(bounds, 'globex', 30, 0)).toBe(5);
    expect(bounds.admit('acme', 1000)).toBe(20);
    expect(flood(bounds, 'acme', 30, 1000)).toBe(1);
    expect(flood(bounds, 'globex', 30, 1000)).toBe(1);
    // After a while of silence there is room again, and what was left out is not forgotten.
    expect(bounds.admit('globex', 60_000)).toBe(29);
    expect(flood(bounds, 'globex', 30, 60_000)).toBe(9);
  });

  it('takes memory for a bounded number of tenants', () => {
    const bounds = new DenialBounds(rates);
    flood(bounds, 'first', perTenant + 1, 0);
    for (let index = 0; index < limits.maxTenants; index += 1) bounds.admit(`tenant${index}`, 0);
    expect(bounds.admit('first', 1000)).toBe(0);
  });
});
