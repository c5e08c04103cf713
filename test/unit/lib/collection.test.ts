import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../support/package-root.ts';

const built = join(packageRoot(), 'dist/src/lib/collection.js');

/** How often V8 marks a heap of some megabytes while 1 GB of buffers come and go, in a process of its own. */
const program = (before: string) => `
  import { PerformanceObserver, constants } from 'node:perf_hooks';
  const { collectLate } = await import(${JSON.stringify(built)});
  ${before}
  let collections = 0;
  const count = ({ detail }) => { if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections++; };
  new PerformanceObserver((list) => list.getEntries().forEach(count)).observe({ entryTypes: ['gc'] });
  const live = Array.from({ length: 200_000 }, (_, index) => ({ index, list: [index] }));
  const buffers = [];
  let garbage;
  for (let i = 0; i < 10_000; i++) {
    buffers[i % 100] = Buffer.allocUnsafeSlow(100_000);
    for (let k = 0; k < 200; k++) garbage = new Array(100).fill(k);
    if (i % 10 === 0) await new Promise((done) => setImmediate(done));
  }
  await new Promise((done) => setTimeout(done, 20));
  console.log(JSON.stringify({ collections, live: live.length, garbage: garbage.length }));
`;

function collections(before: string): number {
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program(before)]);
  expect(run.stderr.toString()).toBe('');
  return (JSON.parse(run.stdout.toString()) as { collections: number }).collections;
}

test('V8 marks its heap half as often, or less', () => {
  const late = collections('collectLate();');
  expect(late).toBeGreaterThan(0);
  expect(collections('')).toBeGreaterThan(2 * late);
});
