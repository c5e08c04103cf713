import { beforeAll, describe, expect, it } from 'vitest';
import { administratorAccount, PasswordIdentities } from '../../../src/auth/identities.ts';
import { hashPassword, PasswordVerifier } from '../../../src/auth/password.ts';

describe('passwords', () => {
  it('are kept as argon2id with its parameters and a salt of their own', async () => {
    const [first, second] = await Promise.all([hashPassword('x'), hashPassword('x')]);
    expect(first).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$/);
    expect(first).not.toBe(second);
  });

  it('are checked one after another, in order, and a failed check does not block the next', async () => {
    const verifier = new PasswordVerifier();
    const stored = await hashPassword('x');
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    await Promise.all([
      verifier.verify(stored, 'x').then(note('right')),
      expect(verifier.verify('not a hash', 'x')).rejects.toThrow().then(note('broken')),
      verifier.verify(stored, 'y').then(note('wrong')),
    ]);
    expect(order).toEqual(['right', 'broken', 'wrong']);
    expect(await verifier.verify(stored, 'x')).toBe(true);
    expect(await verifier.verify(stored, 'y')).toBe(false);
  });
});

describe('the administrator', () => {
  let identities: PasswordIdentities;
  beforeAll(async () => {
    const account = await administratorAccount('admin', 'sesame');
    identities = await PasswordIdentities.create((_, name) => (name === 'admin' ? account : undefined));
  });
  const verify = (username: string, password: string) =>
    identities.verify({ scheme: 'basic', tenant: 'default', username, password });

  it('is known by name and password, with every privilege', async () => {
    expect((await verify('admin', 'sesame'))?.principal).toEqual({
      kind: 'root',
      name: 'admin',
      tenant: 'default',
      privileges: [{ privilege: 'admin' }],
    });
  });

  it('is nobody with another password or another name', async () => {
    expect(await verify('admin', 'Sesame')).toBeUndefined();
    expect(await verify('admin', '')).toBeUndefined();
    expect(await verify('root', 'sesame')).toBeUndefined();
  });

  it('cannot be told from an unknown name by time', async () => {
    // Time of the processor and not of the clock: the machine may have other things to do. The two take turns.
    const spent = { known: 0, unknown: 0 };
    for (let round = 0; round < 12; round += 1) {
      for (const [which, name] of [
        ['known', 'admin'],
        ['unknown', 'nobody'],
      ] as const) {
        const before = process.cpuUsage();
        await verify(name, `wrong ${round}`);
        const { user, system } = process.cpuUsage(before);
        spent[which] += user + system;
      }
    }
    // Without the check for nobody the unknown name would take less than a hundredth.
    expect(spent.unknown / spent.known).toBeGreaterThan(0.75);
    expect(spent.unknown / spent.known).toBeLessThan(1.33);
  });

  it('does not answer for API keys', async () => {
    expect(await identities.verify({ scheme: 'apiKey', key: 'sesame' })).toBeUndefined();
  });
});
