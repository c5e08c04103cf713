import fc from 'fast-check';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import {
  FastCounters,
  FastHistograms,
  fastCounter,
  fastGauge,
  fastHistogram,
} from '../../../src/lib/fast-metrics.ts';

const buckets = [0.5, 1, 2.5, 10];
const routes = ['a', 'b', 'c'] as const;
const values = fc.array(
  fc.tuple(fc.constantFrom(...routes), fc.constantFrom(0, 0.5, 0.75, 1, 2.5, 3, 10, 11)),
);
const sorted = async (registry: Registry) => (await registry.metrics()).split('\n').sort();

describe('fast metrics', () => {
  it('tell the registry what the counters and histograms of prom-client tell it', async () => {
    const run = fc.asyncProperty(values, async (observed) => {
      const ours = new Registry();
      const theirs = new Registry();
      const named = (name: string, registry: Registry) => ({
        name,
        help: `of ${name}`,
        registers: [registry],
      });
      const labelled = (name: string, registry: Registry) => ({
        ...named(name, registry),
        labelNames: ['route'],
      });
      const ourTotal = fastCounter(named('total', ours));
      const ourLevel = fastGauge(named('level', ours));
      const ourAll = fastHistogram({ ...named('all', ours), buckets });
      const ourRequests = new FastCounters(labelled('requests', ours));
      const ourDurations = new FastHistograms({ ...labelled('durations', ours), buckets });
      const theirTotal = new Counter(named('total', theirs));
      const theirLevel = new Gauge(named('level', theirs));
      const theirAll = new Histogram({ ...named('all', theirs), buckets });
      const theirRequests = new Counter(labelled('requests', theirs));
      const theirDurations = new Histogram({ ...labelled('durations', theirs), buckets });
      for (const route of routes) ourDurations.series({ route });
      for (const [index, [route, value]] of observed.entries()) {
        ourTotal.inc(value);
        theirTotal.inc(value);
        ourLevel.set(value);
        theirLevel.set(value);
        ourAll.observe(value);
        theirAll.observe(value);
        ourRequests.series({ route }).inc();
        theirRequests.labels({ route }).inc();
        ourDurations.series({ route }).observe(value);
        theirDurations.labels({ route }).observe(value);
        // What was read stays counted.
        if (index % 3 === 0) expect(await sorted(ours)).toEqual(await sorted(theirs));
      }
      expect(await sorted(ours)).toEqual(await sorted(theirs));
      const durations = await ours.getSingleMetric('durations')?.get();
      expect(durations).toMatchObject({ name: 'durations', type: 'histogram', aggregator: 'sum' });
    });
    await fc.assert(run, { numRuns: 30 });
  });
});
