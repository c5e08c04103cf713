import { describe, expect, it } from 'vitest';
import { Authorizer } from '../../../src/auth/authorizer.ts';
import type { Credentials, PresentedCredential } from '../../../src/auth/credentials.ts';
import type { Identity, IdentitySource } from '../../../src/auth/identity-sources.ts';
import { AppError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { Principal } from '../../../src/model/identity.ts';

const alice: Principal = { kind: 'apiKey', name: 'alice', tenant: 'default', privileges: [] };
const tenant = 'default';
const key = (value: string): PresentedCredential => ({ header: 'x-api-key', value, tenant });

/** Knows the key `good`; answers when the test lets it. */
class Source implements IdentitySource {
  asked = 0;
  answer: (credentials: Credentials) => Promise<Identity | undefined> = async (credentials) =>
    credentials.scheme === 'apiKey' && credentials.key === 'good' ? { principal: alice } : undefined;

  verify(credentials: Credentials): Promise<Identity | undefined> {
    this.asked += 1;
    return this.answer(credentials);
  }
}

function setup() {
  const source = new Source();
  const clock = { ms: 1_000_000, nowMicros: () => 0, monotonicMs: () => clock.ms };
  return { source, clock, authorizer: new Authorizer([source], clock) };
}

describe('Authorizer', () => {
  it('answers at once, without asking again, what it has checked before', async () => {
    const { source, authorizer } = setup();
    expect(await authorizer.authenticate(key('good'))).toBe(alice);
    expect(await authorizer.authenticate(key('bad'))).toBeUndefined();
    expect(source.asked).toBe(2);
    expect(authorizer.authenticate(key('good'))).toBe(alice);
    expect(authorizer.authenticate(key('bad'))).toBeUndefined();
    expect(source.asked).toBe(2);
  });

  it('checks a bad one again after a while; a good one is good until its identity says otherwise', async () => {
    const { source, clock, authorizer } = setup();
    await authorizer.authenticate(key('good'));
    await authorizer.authenticate(key('bad'));
    await new Promise((resolve) => setTimeout(resolve, 1100)); // the cache looks at the clock once a second
    clock.ms += limits.refusedCacheTtlMs + 1;
    source.answer = async (credentials) =>
      credentials.scheme === 'apiKey' && credentials.key === 'bad' ? { principal: alice } : undefined;
    expect(await authorizer.authenticate(key('bad'))).toBe(alice);
    expect(authorizer.authenticate(key('good'))).toBe(alice);
  });

  it('lets a flood of one kind of credentials take nothing from the other kinds', async () => {
    const { source, authorizer } = setup();
    const basic = (pair: string): PresentedCredential => ({
      tenant: 'default',
      header: 'authorization',
      value: `Basic ${Buffer.from(pair).toString('base64')}`,
    });
    let letGo = (): void => {};
    const gate = new Promise<undefined>((resolve) => {
      letGo = () => resolve(undefined);
    });
    source.answer = (credentials) =>
      credentials.scheme === 'basic' ? gate : Promise.resolve({ principal: alice });
    const flood = Array.from({ length: limits.maxPendingChecks }, (_, index) =>
      authorizer.authenticate(basic(`admin:${index}`), () => `192.0.2.${index}`),
    );
    expect(() => authorizer.authenticate(basic('admin:more'))).toThrow(
      expect.objectContaining({ code: 'overloaded' }),
    );
    expect(await authorizer.authenticate(key('never seen'))).toBe(alice);
    expect(
      await authorizer.authenticate({ header: 'authorization', value: 'Bearer a.b.c', tenant: 'default' }),
    ).toBe(alice);
    expect(await authorizer.authenticate({ header: 'cookie', value: 'session', tenant: 'default' })).toBe(
      alice,
    );
    letGo();
    await Promise.all(flood);
  });

  it('answers at once what takes no waiting to check, so that no number of such checks is too many', () => {
    const source: IdentitySource = {
      verify: (credentials) =>
        credentials.scheme === 'apiKey' && credentials.key === 'good' ? { principal: alice } : undefined,
    };
    const authorizer = new Authorizer([source]);
    for (let index = 0; index < 2 * limits.maxPendingChecks; index += 1) {
      expect(authorizer.authenticate(key(`bad ${index}`))).toBeUndefined();
    }
    expect(authorizer.authenticate(key('good'))).toBe(alice);
  });

  it('goes by the identity for what it remembers of the last moment, and by the digest after it', async () => {
    const { source, authorizer } = setup();
    const identity: { principal: Principal | undefined } = { principal: alice };
    source.answer = async () => identity;
    await authorizer.authenticate(key('good'));
    for (const waitMs of [0, 0, limits.recentCredentialMs + 200]) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      expect(authorizer.authenticate(key('good'))).toBe(alice);
    }
    expect(source.asked).toBe(1);
    source.answer = async () => undefined;
    expect(await authorizer.authenticate({ ...key('good'), tenant: 'acme' })).toBeUndefined();
    identity.principal = undefined;
    expect(await authorizer.authenticate(key('good'))).toBeUndefined();
    expect(source.asked).toBe(3);
  });

  it('shares one check among all who wait for it', async () => {
    const { source, authorizer } = setup();
    const all = await Promise.all(Array.from({ length: 100 }, () => authorizer.authenticate(key('good'))));
    expect(all.every((principal) => principal === alice)).toBe(true);
    expect(source.asked).toBe(1);
  });

  it('does not remember a check that failed', async () => {
    const { source, authorizer } = setup();
    const { answer } = source;
    source.answer = () => Promise.reject(new Error('the source is down'));
    await expect(authorizer.authenticate(key('good'))).rejects.toThrow('the source is down');
    source.answer = answer;
    expect(await authorizer.authenticate(key('good'))).toBe(alice);
  });

  it('bounds the checks under way, and still answers what it knows', async () => {
    const { source, authorizer } = setup();
    await authorizer.authenticate(key('good'));
    let letGo = (): void => {};
    const gate = new Promise<undefined>((resolve) => {
      letGo = () => resolve(undefined);
    });
    source.answer = () => gate;
    const flood = Array.from({ length: limits.maxPendingChecks }, (_, index) =>
      authorizer.authenticate(key(`flood ${index}`), () => `192.0.2.${index % 3}`),
    );
    expect(() => authorizer.authenticate(key('one more'))).toThrow(AppError);
    expect(authorizer.authenticate(key('good'))).toBe(alice);
    expect(authorizer.authenticate(key('flood 0'))).toBe(flood[0]);
    letGo();
    await Promise.all(flood);
    expect(await authorizer.authenticate(key('one more'))).toBeUndefined();
  });

  it('lets one client have some of the checks under way, and not all', async () => {
    const { source, authorizer } = setup();
    const { answer } = source;
    let letGo = (): void => {};
    const gate = new Promise<undefined>((resolve) => {
      letGo = () => resolve(undefined);
    });
    source.answer = () => gate;
    const from = (address: string, value: string) => authorizer.authenticate(key(value), () => address);
    const flood = Array.from({ length: limits.maxPendingChecksPerClient }, (_, index) =>
      from(`2001:db8::${(index + 1).toString(16)}`, `flood ${index}`),
    );
    expect(() => from('2001:db8::ffff', 'one more')).toThrow(expect.objectContaining({ code: 'overloaded' }));
    source.answer = answer;
    expect(await from('192.0.2.1', 'good')).toBe(alice);
    letGo();
    await Promise.all(flood);
    expect(await from('2001:db8::ffff', 'one more')).toBeUndefined();
  });

  it('keeps a good credential through more bad ones than it remembers', async () => {
    const { source, authorizer } = setup();
    await authorizer.authenticate(key('good'));
    for (let index = 0; index < limits.authCacheEntries + 10; index += 1) {
      await authorizer.authenticate(key(`bad ${index}`));
    }
    const { asked } = source;
    expect(authorizer.authenticate(key('good'))).toBe(alice);
    expect(await authorizer.authenticate(key('bad 0'))).toBeUndefined();
    expect(source.asked).toBe(asked + 1); // the oldest bad one was forgotten
  });

  it('tells the headers apart: a key sent as a password is not the key', async () => {
    const { authorizer } = setup();
    await authorizer.authenticate(key('good'));
    expect(await authorizer.authenticate({ header: 'authorization', value: 'good', tenant })).toBeUndefined();
  });

  it('tells the tenants apart: what was checked in one says nothing about another', async () => {
    const { authorizer, source } = setup();
    const basic = `Basic ${Buffer.from('alice:sesame').toString('base64')}`;
    source.answer = async (credentials) =>
      credentials.scheme === 'basic' && credentials.tenant === 'acme' ? { principal: alice } : undefined;
    const present = (where: string) =>
      authorizer.authenticate({ header: 'authorization', value: basic, tenant: where });
    expect(await present('acme')).toBe(alice);
    expect(await present('globex')).toBeUndefined();
    // From the caches.
    expect(present('acme')).toBe(alice);
    expect(present('globex')).toBeUndefined();
    expect(source.asked).toBe(2);
  });

  describe('when what an identity may do changes', () => {
    it('says so at once', async () => {
      const { source, authorizer } = setup();
      const identity: { principal: Principal | undefined } = { principal: alice };
      source.answer = async () => identity;
      await authorizer.authenticate(key('good'));
      const promoted: Principal = { ...alice, privileges: [{ privilege: 'admin' }] };
      identity.principal = promoted;
      expect(authorizer.authenticate(key('good'))).toBe(promoted);
      expect(source.asked).toBe(1);
    });

    it('lets nobody in any more whose credentials have ended, not even those who wait for a check', async () => {
      const { source, authorizer } = setup();
      const identity: { principal: Principal | undefined } = { principal: alice };
      source.answer = async () => identity;
      await authorizer.authenticate(key('good'));
      identity.principal = undefined;
      expect(await authorizer.authenticate(key('good'))).toBeUndefined();

      let letGo = (): void => {};
      const gate = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const other: { principal: Principal | undefined } = { principal: alice };
      source.answer = () => gate.then(() => other);
      const waiting = authorizer.authenticate(key('other'));
      other.principal = undefined;
      letGo();
      expect(await waiting).toBeUndefined();
    });

    it('takes no notice of so many changes that nobody was refused between', () => {
      const { authorizer } = setup();
      const before = process.cpuUsage();
      for (let change = 0; change < 100_000; change += 1) authorizer.forgetRefused();
      // Seconds, if each of them cleared caches that are empty.
      expect(process.cpuUsage(before).user).toBeLessThan(500_000);
    });

    it('forgets whom it refused, also those whose check began before', async () => {
      const { source, authorizer } = setup();
      await authorizer.authenticate(key('new'));
      let letGo = (): void => {};
      const gate = new Promise<undefined>((resolve) => {
        letGo = () => resolve(undefined);
      });
      source.answer = () => gate;
      const early = authorizer.authenticate(key('newer'));
      authorizer.forgetRefused();
      letGo();
      expect(await early).toBeUndefined();
      source.answer = async () => ({ principal: alice });
      expect(await authorizer.authenticate(key('new'))).toBe(alice);
      expect(await authorizer.authenticate(key('newer'))).toBe(alice);
    });
  });

  it('asks its sources in order and stops at the first that knows', async () => {
    const first = new Source();
    const second = new Source();
    second.answer = async () => ({ principal: { ...alice, name: 'second' } });
    const authorizer = new Authorizer([first, second]);
    expect((await authorizer.authenticate(key('good')))?.name).toBe('alice');
    expect((await authorizer.authenticate(key('other')))?.name).toBe('second');
    expect(second.asked).toBe(1);
  });

  it('does not ask anybody about malformed credentials', async () => {
    const { source, authorizer } = setup();
    expect(
      await authorizer.authenticate({ header: 'authorization', value: 'Basic !', tenant }),
    ).toBeUndefined();
    expect(source.asked).toBe(0);
  });
});
