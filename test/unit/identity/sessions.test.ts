import { expect, it } from 'vitest';
import type { VerifiedClaims } from '../../../src/auth/oidc/claims.ts';
import type { IdentityStore } from '../../../src/identity/identity-store.ts';
import { OidcAccount } from '../../../src/identity/oidc-account.ts';
import { Sessions } from '../../../src/identity/sessions.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { limits } from '../../../src/limits/limits.ts';

const claimsOf = (subject: string): VerifiedClaims => ({
  subject,
  name: subject,
  roles: [],
  tenant: undefined,
  issuedAtMs: 0,
  expiresAtMs: 0,
});

function setup() {
  const empty = {
    revision: 1,
    oauthUser: () => undefined,
    role: () => undefined,
    grant: () => [],
    defaultRole: () => undefined,
  };
  const identityStore = empty as unknown as IdentityStore;
  const admit = (claims: VerifiedClaims) => new OidcAccount(claims, 'default', identityStore, systemClock);
  const sessions = new Sessions({ admit }, systemClock, 60_000);
  const begin = (subject: string) => sessions.begin({ claims: claimsOf(subject), idToken: subject }).id;
  const whoHas = (id: string) => sessions.verify({ scheme: 'session', id })?.principal?.name;
  return { sessions, begin, whoHas };
}

it('somebody who signs in over and over ends sessions of their own, the oldest first, and nobody else’s', () => {
  const { sessions, begin, whoHas } = setup();
  const other = begin('bob');
  const ids = Array.from({ length: limits.maxSessionsPerUser }, () => begin('alice'));
  expect(ids.map(whoHas)).toEqual(ids.map(() => 'alice'));
  ids.push(begin('alice'), begin('alice'));
  expect(ids.map(whoHas)).toEqual(ids.map((_, index) => (index < 2 ? undefined : 'alice')));
  // One that was ended makes room for one.
  expect(sessions.end(ids[5] ?? '')?.principal.name).toBe('alice');
  ids.push(begin('alice'));
  expect(ids.filter((id) => whoHas(id) === 'alice')).toHaveLength(limits.maxSessionsPerUser);
  expect(whoHas(ids[2] ?? '')).toBe('alice');
  expect(whoHas(other)).toBe('bob');
});
