import { describe, expect, it } from 'vitest';
import { UserAccount } from '../../../src/identity/accounts.ts';
import { Grants } from '../../../src/identity/grants.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { Privilege } from '../../../src/model/identity.ts';

const reader = (dataset: string): Privilege => ({ privilege: 'reader', dataset });
const account = (grants: Grants, ...roles: string[]) =>
  new UserAccount('default', 'alice', { passwordHash: 'x', roles }, grants);

describe('what roles grant', () => {
  it('is each privilege once, and nothing for a role that does not exist', () => {
    const grants = new Grants();
    grants.set('one', [reader('a'), reader('b'), { ...reader('a'), tag: { field: 'f', value: '1' } }]);
    grants.set('two', [reader('b'), reader('c'), reader('a')]);
    expect(grants.of(['one', 'none', 'two'])).toEqual([
      reader('a'),
      reader('b'),
      { ...reader('a'), tag: { field: 'f', value: '1' } },
      reader('c'),
    ]);
  });

  it('is one array for all who have the same roles, until one of these changes', () => {
    const grants = new Grants();
    grants.set('one', [reader('a')]);
    grants.set('other', []);
    const alice = account(grants, 'one');
    const bob = account(grants, 'one');
    const { principal } = alice;
    expect(bob.principal?.privileges).toBe(principal?.privileges);
    expect(alice.principal).toBe(principal);
    grants.set('other', [reader('b')]);
    expect(alice.principal).toBe(principal);
    grants.set('one', [reader('c')]);
    expect(alice.principal?.privileges).toEqual([reader('c')]);
    expect(bob.principal?.privileges).toBe(alice.principal?.privileges);
    alice.update({ passwordHash: 'x', roles: ['other'] });
    expect(alice.principal?.privileges).toEqual([reader('b')]);
    grants.set('other', undefined);
    expect(alice.principal?.privileges).toEqual([]);
    alice.end();
    expect(alice.principal).toBeUndefined();
  });

  it('is refused where it is more than anybody may have', () => {
    const grants = new Grants();
    const many = Array.from({ length: limits.maxPrivilegesPerIdentity }, (_, index) => reader(`d${index}`));
    grants.set('most', many);
    grants.set('one', [reader('a')]);
    expect(account(grants, 'most').principal?.privileges).toHaveLength(many.length);
    expect(() => account(grants, 'most', 'one').principal).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
  });

  it('stays right for more sets of roles than are remembered', () => {
    const grants = new Grants();
    const sets = Array.from({ length: 300 }, (_, index) => `role${index}`);
    for (const role of sets) {
      grants.set(
        role,
        Array.from({ length: 1000 }, (_, index) => reader(`${role}-${index}`)),
      );
    }
    for (const role of [...sets, ...sets]) expect(grants.of([role])[0]).toEqual(reader(`${role}-0`));
  });
});
