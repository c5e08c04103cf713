import { expect, it, vi } from 'vitest';
import { FairExecutor } from '../../../src/lib/fair-executor.ts';

const turn = () => new Promise(setImmediate);

it('works run one after another, of each party in turn, failures or not', async () => {
  const turns = new FairExecutor(10, 'too many');
  const order: string[] = [];
  let running = 0;
  const ask = (party: string, fails = false) =>
    turns.run(party, async () => {
      running += 1;
      expect(running).toBe(1);
      order.push(party);
      await turn();
      running -= 1;
      if (fails) throw new Error('it failed');
      return party;
    });
  const results = await Promise.allSettled([
    ...['a', 'a', 'a', 'a'].map((party) => ask(party)),
    ask('b', true),
    ask('c'),
    ask('b'),
  ]);
  expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  expect(results.map(({ status }) => status === 'fulfilled')).toEqual([
    true,
    true,
    true,
    true,
    false,
    true,
    true,
  ]);
  expect(await ask('a')).toBe('a');
});

it('works for which there is no room are refused, of the party that has most', async () => {
  const turns = new FairExecutor(2, 'too many');
  const outcomes = ['a', 'a', 'a', 'a', 'b'].map((party) =>
    turns.run(party, turn).then(
      () => 'done',
      ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
    ),
  );
  const refused = 'overloaded: too many';
  expect(await Promise.all(outcomes)).toEqual(['done', 'done', refused, refused, 'done']);
});

it('a work that has not begun in time is refused, and does not run later', async () => {
  vi.useFakeTimers();
  try {
    const turns = new FairExecutor(10, 'too many', 1000);
    const ran: string[] = [];
    let end = (): void => {};
    const first = turns.run('a', () => new Promise<void>((resolve) => (end = resolve)));
    const late = turns.run('b', async () => void ran.push('late'));
    const refused = expect(late).rejects.toMatchObject({ code: 'overloaded', message: 'too many' });
    await vi.advanceTimersByTimeAsync(999);
    const inTime = turns.run('b', async () => void ran.push('in time'));
    await vi.advanceTimersByTimeAsync(1);
    await refused;
    end();
    await Promise.all([first, inTime]);
    expect(ran).toEqual(['in time']);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
