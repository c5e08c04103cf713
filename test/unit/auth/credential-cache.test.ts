import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CredentialCache } from '../../../src/auth/credential-cache.ts';
import type { Identity } from '../../../src/auth/identity-sources.ts';
import { limits } from '../../../src/limits/limits.ts';

const alice: Identity = { principal: { kind: 'user', name: 'alice', tenant: 'acme', privileges: [] } };
const bob: Identity = { principal: { kind: 'user', name: 'bob', tenant: 'acme', privileges: [] } };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('are known for a moment after they were used, and then forgotten', () => {
  const recent = new CredentialCache();
  recent.keep('acme', 'key', alice);
  for (let round = 0; round < 5; round += 1) {
    vi.advanceTimersByTime(limits.recentCredentialMs);
    expect(recent.find('acme', 'key')).toBe(alice);
  }
  vi.advanceTimersByTime(2 * limits.recentCredentialMs);
  expect(recent.find('acme', 'key')).toBeUndefined();
  // Nothing is kept, so nothing runs.
  vi.advanceTimersByTime(limits.recentCredentialMs);
  expect(vi.getTimerCount()).toBe(0);
  recent.keep('acme', 'key', alice);
  expect(recent.find('acme', 'key')).toBe(alice);
});

it('are compared as a whole, with their tenant, also where they end alike', () => {
  const recent = new CredentialCache();
  const end = 'x'.repeat(64);
  recent.keep('acme', `Bearer a${end}`, alice);
  for (const value of [`Bearer b${end}`, `Bearer aa${end}`, end, end.slice(1), '']) {
    expect(recent.find('acme', value)).toBeUndefined();
  }
  expect(recent.find('globex', `Bearer a${end}`)).toBeUndefined();
  recent.keep('acme', `Bearer b${end}`, bob);
  expect(recent.find('acme', `Bearer b${end}`)).toBe(bob);
  expect(recent.find('acme', `Bearer a${end}`)).toBeUndefined();
  vi.advanceTimersByTime(limits.recentCredentialMs);
  expect(recent.find('globex', `Bearer b${end}`)).toBeUndefined();
  expect(recent.find('acme', `Bearer b${end}`)).toBe(bob);
});

it('are bounded', () => {
  const recent = new CredentialCache();
  for (let index = 0; index <= limits.maxRecentCredentials; index += 1)
    recent.keep('acme', `key ${index}`, alice);
  expect(recent.find('acme', `key ${limits.maxRecentCredentials - 1}`)).toBe(alice);
  expect(recent.find('acme', `key ${limits.maxRecentCredentials}`)).toBeUndefined();
});
