import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { ReplayWindow } from '../../../src/ingest/replay-window.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { noCounts } from '../../../src/model/counts.ts';
import type { RequestIdentity } from '../../../src/model/replay.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';

const windowMs = 60_000;
const nothingStored = { counts: noCounts, refused: undefined, replayed: false };

/** A window, and a store that counts how often each request went into it. */
function setUp(maxEntries = 100) {
  const clock = new ManualClock();
  const metrics = createMetrics();
  const window = new ReplayWindow({ clock, metrics, windowMs, maxEntries });
  const stored: string[] = [];
  const counts = { ...noCounts, samples: 7 };
  const send = (identity: RequestIdentity, before: () => Promise<void> = async () => {}, dataset = 'd') =>
    window.once('default', dataset, identity, async () => {
      await before();
      stored.push(identity.name);
      window.remember('default', dataset, { ...identity, receivedMicros: clock.nowMicros(), counts });
      return { counts, refused: undefined, replayed: false };
    });
  return { clock, metrics, window, stored, send };
}

const request = (name: string, body?: string): RequestIdentity =>
  body === undefined ? { name } : { name, body };

describe('a request that comes again', () => {
  it('is answered as before and not stored', async () => {
    const { send, stored, metrics } = setUp();
    expect(await send(request('a'))).toEqual({ counts: { ...noCounts, samples: 7 }, replayed: false });
    expect(await send(request('a'))).toEqual({ counts: { ...noCounts, samples: 7 }, replayed: true });
    expect(await send(request('b'))).toMatchObject({ replayed: false });
    expect(stored).toEqual(['a', 'b']);
    expect((await metrics.replayedRequests.get()).values[0]?.value).toBe(1);
  });

  it('is another request in another dataset', async () => {
    const { send, stored } = setUp();
    await send(request('a'));
    expect(await send(request('a'), undefined, 'e')).toMatchObject({ replayed: false });
    expect(stored).toEqual(['a', 'a']);
  });

  it('is a new one when the window has passed, to the millisecond', async () => {
    const { send, clock, window } = setUp();
    await send(request('a'));
    clock.advance(windowMs - 1);
    expect(await send(request('a'))).toMatchObject({ replayed: true });
    clock.advance(1);
    expect(await send(request('a'))).toMatchObject({ replayed: false });
    expect(window.size).toBe(1);
  });

  it('is known whatever the wall clock does', async () => {
    const { send, clock } = setUp();
    await send(request('a'));
    clock.jump(-3_600_000);
    expect(await send(request('a'))).toMatchObject({ replayed: true });
    clock.jump(7_200_000);
    expect(await send(request('a'))).toMatchObject({ replayed: true });
  });

  it('is refused when it brings another body under the same key', async () => {
    const { send, stored } = setUp();
    await send(request('key:k', 'one'));
    await expect(send(request('key:k', 'two'))).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    expect(await send(request('key:k', 'one'))).toMatchObject({ replayed: true });
    expect(stored).toEqual(['key:k']);
  });
});

describe('requests at the same time', () => {
  it('are stored once: the others wait for the first and get its answer', async () => {
    const { send, stored } = setUp();
    let open: () => void = () => {};
    const gate = new Promise<void>((done) => {
      open = done;
    });
    const all = Array.from({ length: 20 }, () => send(request('a'), () => gate));
    let answered = 0;
    for (const one of all) void one.then(() => answered++);
    await new Promise(setImmediate);
    expect(answered).toBe(0);
    open();
    const replies = await Promise.all(all);
    expect(replies.map(({ replayed }) => replayed)).toEqual([false, ...Array(19).fill(true)]);
    expect(stored).toEqual(['a']);
  });

  it('are tried one by one while the first ones fail', async () => {
    const { send, stored } = setUp();
    let tries = 0;
    let atOnce = 0;
    let mostAtOnce = 0;
    const attempt = async () => {
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      await new Promise(setImmediate);
      atOnce -= 1;
      tries += 1;
      if (tries < 3) throw new AppError('log_full', 'full');
    };
    const replies = await Promise.allSettled(Array.from({ length: 5 }, () => send(request('a'), attempt)));
    expect(
      replies.map((reply) => (reply.status === 'fulfilled' ? reply.value.replayed : reply.reason.code)),
    ).toEqual(['log_full', 'log_full', false, true, true]);
    expect(mostAtOnce).toBe(1);
    expect(stored).toEqual(['a']);
  });

  it('wait also when the bodies under one key differ, and then the later is refused', async () => {
    const { send } = setUp();
    const replies = await Promise.allSettled([
      send(request('key:k', 'one'), () => new Promise(setImmediate)),
      send(request('key:k', 'two')),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('of which the first held nothing to store are all tried', async () => {
    const { window } = setUp();
    const nothing = () => window.once('default', 'd', request('a'), async () => nothingStored);
    const replies = await Promise.all([nothing(), nothing()]);
    expect(replies.map(({ replayed }) => replayed)).toEqual([false, false]);
    expect(window.size).toBe(0);
  });
});

describe('the memory of the window', () => {
  it('holds a bounded number of requests and forgets the oldest', async () => {
    const { send, window } = setUp(3);
    for (const name of ['a', 'b', 'c', 'd']) await send(request(name));
    expect(window.size).toBe(3);
    expect(await send(request('b'))).toMatchObject({ replayed: true });
    expect(await send(request('a'))).toMatchObject({ replayed: false });
  });

  it('gives back what has expired, without being asked about it', async () => {
    const { send, window, clock } = setUp();
    for (const name of ['a', 'b', 'c']) await send(request(name));
    clock.advance(windowMs);
    await send(request('d'));
    expect(window.size).toBe(1);
  });

  it('takes over what an earlier process stored, for what is left of its time', async () => {
    const { send, window, clock } = setUp();
    const counts = { ...noCounts, events: 2 };
    const at = (agoMs: number) => clock.nowMicros() - agoMs * 1000;
    window.recover('default', 'd', { name: 'old', receivedMicros: at(windowMs), counts });
    window.recover('default', 'd', { name: 'young', receivedMicros: at(windowMs - 1000), counts });
    // Its wall clock was ahead of the one now.
    window.recover('default', 'd', { name: 'future', receivedMicros: at(-3_600_000), counts });
    expect(window.size).toBe(2);
    expect(await send(request('young'))).toEqual({ counts, replayed: true });
    clock.advance(1000);
    expect(await send(request('young'))).toMatchObject({ replayed: false });
    expect(await send(request('future'))).toMatchObject({ replayed: true });
    clock.advance(windowMs);
    expect(await send(request('future'))).toMatchObject({ replayed: false });
  });
});

it('stores whatever is sent once in each window, in any order of requests, failures and pauses', async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ send: fc.integer({ min: 0, max: 4 }), fails: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ pauseMs: fc.integer({ min: 1, max: windowMs }) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { send, clock } = setUp();
      const storedAtMs = new Map<string, number>();
      for (const one of steps) {
        if ('pauseMs' in one) {
          clock.advance(one.pauseMs);
          continue;
        }
        const name = String(one.send);
        const previousMs = storedAtMs.get(name);
        const isKnown = previousMs !== undefined && clock.monotonicMs() - previousMs < windowMs;
        const attempt = async () => {
          if (one.fails) throw new AppError('log_failed', 'fails');
        };
        const reply = await send(request(name), attempt).then(
          ({ replayed }) => replayed,
          () => 'failed',
        );
        expect(reply).toBe(isKnown ? true : one.fails ? 'failed' : false);
        if (reply === false) storedAtMs.set(name, clock.monotonicMs());
      }
    }),
  );
});

describe('the end of a tenant', () => {
  it('forgets its requests and no others', async () => {
    const { window } = setUp();
    const stored = { name: 'a', receivedMicros: 0, counts: noCounts };
    for (const tenant of ['acme', 'acme.2', 'default']) window.remember(tenant, 'd', stored);
    window.forgetEnded((tenant) => tenant === 'acme');
    expect(window.size).toBe(2);
    const again = (tenant: string) => window.once(tenant, 'd', request('a'), async () => nothingStored);
    expect(await again('acme')).toMatchObject({ replayed: false });
    expect(await again('acme.2')).toMatchObject({ replayed: true });
    expect(await again('default')).toMatchObject({ replayed: true });
  });
});
