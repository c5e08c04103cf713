import { describe, expect, it } from 'vitest';
import { EngineLease } from '../../../src/alerts/engine-lease.ts';
import { limits } from '../../../src/limits/limits.ts';
import { MemoryLog } from '../../support/alerts/memory-log.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';

function setUp() {
  const log = new MemoryLog();
  const clock = new ManualClock();
  const lease = (node: string, isShared = true) => new EngineLease({ log: log.asLog, node, isShared, clock });
  return { log, clock, lease };
}
const term = limits.alertEngineTermMs;

describe('the lease on evaluating alerts', () => {
  it('has one holder, of however many take it at once', async () => {
    const { lease } = setUp();
    const all = ['a', 'b', 'c'].map((node) => lease(node));
    const taken = await Promise.all(all.map((each) => each.keep()));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(all.filter(({ isHeld }) => isHeld)).toHaveLength(1);
  });

  it('stays with a holder that renews it', async () => {
    const { lease, clock } = setUp();
    const [one, two] = [lease('a'), lease('b')];
    await one.keep();
    for (let count = 0; count < 100; count += 1) {
      clock.advance(1000);
      expect([await one.keep(), await two.keep()]).toEqual([true, false]);
    }
  });

  it('goes to another node a term after the last renewal, when the holder has stopped', async () => {
    const { lease, clock } = setUp();
    const [one, two] = [lease('a'), lease('b')];
    await one.keep();
    await two.keep();
    for (let waitedMs = 0; ; waitedMs += 1000) {
      const isTaken = await two.keep();
      expect([one.isHeld, two.isHeld]).not.toEqual([true, true]);
      if (isTaken) {
        expect(waitedMs).toBeGreaterThanOrEqual(term);
        expect(waitedMs).toBeLessThanOrEqual(term * 1.05 + 1000);
        break;
      }
      clock.advance(1000);
    }
    // The old holder finds out that another one has it.
    expect(await one.keep()).toBe(false);
  });

  it('ends without the store, and comes back with it', async () => {
    const { lease, clock, log } = setUp();
    const one = lease('a');
    await one.keep();
    log.isDown = true;
    clock.advance(limits.alertEngineRenewalMs);
    await expect(one.keep()).rejects.toThrow('is away');
    expect(one.isHeld).toBe(true);
    clock.advance(term);
    expect(one.isHeld).toBe(false);
    log.isDown = false;
    expect(await one.keep()).toBe(true);
  });

  it('is there at once for others if it is given back, and for a new process of the same node', async () => {
    const { lease, clock } = setUp();
    const one = lease('a');
    await one.keep();
    const givenBackMs = clock.nowMicros() / 1000;
    await one.giveBack();
    clock.advance(60_000);
    const two = lease('b');
    expect(await two.keep()).toBe(true);
    expect(two.earlierHolderMs).toBe(givenBackMs);
    const again = lease('b');
    expect(await again.keep()).toBe(true);
    expect(again.earlierHolderMs).toBe(givenBackMs + 60_000);
  });

  it('does not end where no other node can take it', async () => {
    const { lease, clock, log } = setUp();
    const one = lease('a', false);
    await one.keep();
    log.isDown = true;
    clock.advance(24 * 3_600_000);
    expect(one.isHeld).toBe(true);
  });
});
