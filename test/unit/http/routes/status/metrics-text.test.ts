import { expect, it } from 'vitest';
import { MetricsText } from '../../../../../src/http/routes/status/metrics-route.ts';
import { limits } from '../../../../../src/limits/limits.ts';
import { ManualClock } from '../../../../support/lib/manual-clock.ts';

it('is written once for all who wait, and for nobody before he asked', async () => {
  const clock = new ManualClock();
  const waits: Array<{ readonly ms: number; end(): void }> = [];
  const timers = {
    monotonicMs: () => clock.monotonicMs(),
    after: (ms: number, end: () => void) => {
      waits.push({ ms, end });
      return () => {};
    },
  };
  let written = 0;
  const text = new MetricsText(async () => {
    written += 1;
    return String(written);
  }, timers);
  const ask = async () => Buffer.from(await text.next()).toString();

  const first = [ask(), ask(), ask()];
  expect(waits.map(({ ms }) => ms)).toEqual([0]);
  waits[0]?.end();
  expect(await Promise.all(first)).toEqual(['1', '1', '1']);

  clock.advance(limits.metricsIntervalMs - 1);
  const second = Array.from({ length: 1000 }, ask);
  expect(waits.map(({ ms }) => ms)).toEqual([0, 1]);
  waits[1]?.end();
  expect(new Set(await Promise.all(second))).toEqual(new Set(['2']));
  expect(written).toBe(2);

  clock.advance(limits.metricsIntervalMs);
  const third = ask();
  expect(waits.map(({ ms }) => ms)).toEqual([0, 1, 0]);
  waits[2]?.end();
  expect(await third).toBe('3');
});
