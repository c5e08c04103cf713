import { beforeAll, describe, expect, it } from 'vitest';
import { Passwords } from '../../../src/auth/password.ts';
import { PasswordChecks } from '../../../src/auth/password-checks.ts';
import type { AppError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits/limits.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';

let stored: string;
beforeAll(async () => {
  stored = await new Passwords().hash('default', 'right');
});

/** Notes what becomes of each sign-in, in the order in which they are answered. */
function setup(maxWaiting = 4) {
  const clock = new ManualClock();
  const checks = new PasswordChecks(maxWaiting, clock);
  const order: string[] = [];
  const signIn = async (username: string, address: string, password: string, tenant = 'default') => {
    const outcome = await checks
      .verify({ tenant, username, address }, stored, password)
      .catch(({ code }: AppError) => code);
    order.push(`${username}@${address} ${outcome}`);
    return outcome;
  };
  return { clock, signIn, order };
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('checks of passwords', () => {
  it('come one after another, in order, and one that fails does not block the next', async () => {
    const checks = new PasswordChecks();
    const verify = (hash: string, password: string) =>
      checks.verify({ tenant: 'default', username: 'alice', address: '192.0.2.1' }, hash, password);
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    await Promise.all([
      verify(stored, 'right').then(note('right')),
      expect(verify('not a hash', 'x')).rejects.toThrow().then(note('broken')),
      verify(stored, 'y').then(note('wrong')),
    ]);
    expect(order).toEqual(['right', 'broken', 'wrong']);
    expect(await verify(stored, 'right')).toBe(true);
  });

  it('for one name under attack hold up no other name, not even from the same address', async () => {
    const { signIn, order } = setup();
    const flood = times(20, (index) => signIn('admin', '192.0.2.1', `wrong ${index}`));
    const others = times(3, (index) => signIn(`user${index}`, '192.0.2.1', 'right'));
    expect(await Promise.all(others)).toEqual([true, true, true]);
    expect(new Set(await Promise.all(flood))).toEqual(new Set([false, 'overloaded']));
    const last = order.findLastIndex((each) => each.endsWith('true'));
    expect(order.slice(0, last).filter((each) => each.endsWith('false')).length).toBeLessThanOrEqual(4);
  });

  it('for the name under attack let its user in from elsewhere', async () => {
    const { signIn } = setup();
    const flood = times(20, (index) => signIn('admin', '192.0.2.1', `wrong ${index}`));
    expect(await signIn('admin', '192.0.2.2', 'right')).toBe(true);
    await Promise.all(flood);
  });

  it('hold up no other client, with however many names it is flooded', async () => {
    const { signIn } = setup();
    const flood = times(20, (index) => signIn(`name${index}`, '192.0.2.1', 'wrong'));
    expect(await signIn('alice', '192.0.2.2', 'right')).toBe(true);
    await Promise.all(flood);
  });

  it('let in whoever has sent no wrong password, through a flood of many who have', async () => {
    const { signIn, order } = setup();
    const attackers = times(12, (index) => `198.51.100.${index}`);
    // By now each has sent one.
    for (const address of attackers) await signIn('admin', address, 'wrong');
    const flood = attackers.map((address, index) => signIn('admin', address, `worse ${index}`));
    const before = order.length;
    expect(await signIn('admin', '192.0.2.2', 'right')).toBe(true);
    const checked = order.slice(before).filter((each) => !each.endsWith('overloaded'));
    // After the one under way, and one of the others at most.
    expect(checked.indexOf('admin@192.0.2.2 true')).toBeLessThanOrEqual(2);
    await Promise.all(flood);
  });

  it('of a client that is suspected go on, in turn with the others', async () => {
    const { signIn, order } = setup();
    await signIn('alice', '192.0.2.1', 'mistyped');
    order.length = 0;
    await Promise.all([
      signIn('a', '192.0.2.2', 'right'),
      signIn('b', '192.0.2.3', 'right'),
      signIn('c', '192.0.2.4', 'right'),
      signIn('alice', '192.0.2.1', 'right'),
    ]);
    expect(order.indexOf('alice@192.0.2.1 true')).toBeLessThanOrEqual(2);
  });

  it('of a network of IPv6 are those of one client', async () => {
    const { signIn } = setup();
    const flood = times(20, (index) => signIn(`name${index}`, `2001:db8:0:1::${index + 1}`, 'wrong'));
    expect(await signIn('alice', '2001:db8:0:2::1', 'right')).toBe(true);
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((outcome) => outcome === 'overloaded').length).toBeGreaterThanOrEqual(15);
  });

  it('forget after a while who sent a wrong one', async () => {
    const { clock, signIn, order } = setup();
    await signIn('alice', '192.0.2.1', 'mistyped');
    clock.advance(limits.suspectedClientMs + 1);
    order.length = 0;
    await Promise.all([
      signIn('bob', '192.0.2.2', 'right'),
      signIn('alice', '192.0.2.1', 'right'),
      signIn('carol', '192.0.2.3', 'right'),
    ]);
    expect(order).toEqual(['bob@192.0.2.2 true', 'alice@192.0.2.1 true', 'carol@192.0.2.3 true']);
  });
});
