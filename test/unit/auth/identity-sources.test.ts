import { describe, expect, it } from 'vitest';
import { administratorAccount, PasswordIdentities } from '../../../src/auth/identity-sources.ts';
import { Passwords } from '../../../src/auth/password.ts';
import type { AppError } from '../../../src/errors.ts';
import { median } from '../../support/lib/median.ts';

describe('passwords', () => {
  it('are kept as argon2id with its parameters and a salt of their own', async () => {
    const passwords = new Passwords();
    const [first, second] = await Promise.all(['x', 'x'].map((each) => passwords.hash('default', each)));
    expect(first).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$/);
    expect(first).not.toBe(second);
  });

  it('of a tenant that is flooded with new ones hold up no other tenant', async () => {
    const passwords = new Passwords();
    const order: string[] = [];
    const make = async (tenant: string) => {
      const outcome = await passwords.hash(tenant, 'x').then(
        () => 'made',
        ({ code }: AppError) => code,
      );
      order.push(`${tenant} ${outcome}`);
    };
    const flood = Array.from({ length: 3 }, () => make('flooded'));
    await Promise.all([...flood, make('quiet')]);
    expect(order).toEqual(['flooded made', 'flooded made', 'quiet made', 'flooded made']);
  });
});

describe('the administrator', () => {
  const withAdministrator = () => {
    const account = administratorAccount('admin', 'sesame');
    return new PasswordIdentities((_, name) => (name === 'admin' ? account : undefined));
  };
  const identities = withAdministrator();
  const verify = (username: string, password: string, whose = identities) =>
    whose.verify({ scheme: 'basic', tenant: 'default', username, password });

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

  it('is known from the first check on, right or wrong, and in several at the same time', async () => {
    const fresh = withAdministrator();
    const known = async (...passwords: string[]) =>
      (await Promise.all(passwords.map((each) => verify('admin', each, fresh)))).map(
        (found) => found !== undefined,
      );
    expect(await known('Sesame')).toEqual([false]);
    expect(await known('sesame', 'Sesame', 'sesame')).toEqual([true, false, true]);
    expect(await known('Sesame', 'sesame')).toEqual([false, true]);
  });

  it.each([
    ['first', false],
    ['later', true],
  ])('cannot be told from an unknown name by the time of its %s checks', async (_, checked) => {
    const asked = withAdministrator();
    if (checked) await verify('admin', 'sesame', asked);
    // Time of the processor and not of the clock: the machine may have other things to do. It depends on them
    // all the same, on what they leave of caches and memory, so two checks are compared that come right after
    // each other. The median counts: threads of this process may work for themselves meanwhile, on code or
    // garbage of other tests.
    const spent = async (name: string, password: string): Promise<number> => {
      const before = process.cpuUsage();
      await verify(name, password, asked);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const ratios: number[] = [];
    for (let round = 0; round < 9; round += 1) {
      const known = await spent('admin', `wrong ${round}`);
      ratios.push((await spent('nobody', `wrong ${round}`)) / known);
    }
    const ratio = median(ratios);
    // Without the check for nobody the unknown name would take less than a hundredth, and with two checks
    // twice the time. On a busy machine, pairs that do the same have differed by a third.
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(1.9);
  });

  it('does not answer for API keys', async () => {
    expect(await identities.verify({ scheme: 'apiKey', key: 'sesame' })).toBeUndefined();
  });
});
