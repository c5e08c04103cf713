import { describe, expect, it } from 'vitest';
import { claimedRoles, readClaims } from '../../../src/auth/oidc/claims.ts';
import { limits } from '../../../src/limits/limits.ts';

describe('roles in claims', () => {
  it.each<[string, object, string, readonly string[] | undefined]>([
    ['an array', { roles: ['a', 'b'] }, 'roles', ['a', 'b']],
    ['one text', { roles: 'a b' }, 'roles', ['a b']],
    ['what is no text is left out', { roles: ['a', 1, null, ['b'], {}] }, 'roles', ['a']],
    ['inside objects', { realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
    ['the whole name goes first', { 'https://x.y/roles': ['a'] }, 'https://x.y/roles', ['a']],
    ['even where a path would lead somewhere', { 'a.b': ['x'], a: { b: ['y'] } }, 'a.b', ['x']],
    ['nothing', {}, 'roles', undefined],
    ['null', { roles: null }, 'roles', undefined],
    ['a path that leads nowhere', { a: 'text' }, 'a.length', undefined],
    ['what every object inherits', {}, 'constructor.name', undefined],
  ])('%s', (_, claims, name, roles) => {
    expect(claimedRoles({ ...claims }, name)).toEqual(roles);
  });

  it('are bounded', () => {
    const many = Array.from({ length: limits.maxRolesPerToken + 5 }, (_, index) => `r${index}`);
    expect(claimedRoles({ roles: many }, 'roles')).toHaveLength(limits.maxRolesPerToken);
  });
});

describe('names in claims', () => {
  const read = (claims: object, tenantClaim?: string) =>
    readClaims({ exp: 1, ...claims }, { rolesClaim: 'roles', tenantClaim });
  const name = (claims: object) => read({ sub: '7', ...claims })?.name;

  it('are those that people use, without what a terminal or a log would take for something else', () => {
    expect(name({ sub: '7', email: 'a@b', preferred_username: 'alice' })).toBe('alice');
    expect(name({ sub: '7', email: 'a@b', preferred_username: 5 })).toBe('a@b');
    expect(name({ sub: '7', email: '' })).toBe('7');
    expect(name({ email: 'a\u001b[31m\n\u202eb' })).toBe('a[31mb');
    expect(name({ email: 'x'.repeat(1000) })).toHaveLength(limits.identityNameMaxLength);
  });

  it('are of somebody: a subject that can be written down', () => {
    expect(read({ sub: 'auth0|7' })).toMatchObject({ subject: 'auth0|7', issuedAtMs: 0, tenant: undefined });
    expect(read({ sub: 'x'.repeat(255) })).toBeDefined();
    for (const sub of ['', 7, null, undefined, ['7'], 'a\nb', '\u0000', 'x'.repeat(256)]) {
      expect(read({ sub, email: 'a@b' })).toBeUndefined();
    }
  });

  it('name one tenant, in the claim that is for it', () => {
    const tenant = (claims: object, claim?: string) => read({ sub: '7', ...claims }, claim)?.tenant;
    expect(tenant({ org: 'acme' }, 'org')).toBe('acme');
    expect(tenant({ app: { org: 'acme' } }, 'app.org')).toBe('acme');
    expect(tenant({ org: 'acme' })).toBeUndefined();
    for (const org of [undefined, null, 7, ['acme'], ['acme', 'globex'], { name: 'acme' }]) {
      expect(tenant({ org }, 'org')).toBeUndefined();
    }
  });
});
