import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../support/lib/package-root.ts';

const built = join(packageRoot(), 'dist/src/lib/v8-tuning.js');

/**
 * Calls a function until V8 has optimized it, in a process of its own. The bit says so:
 * `src/runtime/runtime.h` of V8.
 */
const optimization = `
  const { compileLate, compileLateUntil } = await import(${JSON.stringify(built)});
  const optimizedBit = 1 << 4;
  const callsUntilOptimized = () => {
    const work = new Function('n', 'let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum;');
    let calls = 0;
    while (!(%GetOptimizationStatus(work) & optimizedBit) && calls < 1e7) {
      work(10);
      calls++;
    }
    return calls;
  };
  compileLate();
  const onRequest = compileLateUntil(3);
  const late = callsUntilOptimized();
  onRequest(); onRequest();
  const lateStill = callsUntilOptimized();
  onRequest();
  console.log(JSON.stringify({ late, lateStill, usual: callsUntilOptimized() }));
`;

// The flag went with V8 12.
test.skipIf(Number.parseInt(process.versions.v8, 10) >= 12)(
  'V8 optimizes sooner after so many requests',
  () => {
    const flags = ['--allow-natives-syntax', '--no-concurrent-recompilation', '--no-use-osr'];
    const run = spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', optimization]);
    expect(run.stderr.toString()).toBe('');
    const { late, lateStill, usual } = JSON.parse(run.stdout.toString()) as Record<string, number>;
    expect(usual).toBeGreaterThan(0);
    expect(late).toBeGreaterThan(3 * (usual ?? 0));
    expect(lateStill).toBeGreaterThan(3 * (usual ?? 0));
  },
);

/**
 * How often V8 marks a heap of some megabytes while 1 GB of buffers come and go, in a process of its own. It
 * marks in the main thread: on a busy machine the helper threads get no turn, and one collection then goes on
 * for as long as five take otherwise.
 */
const allocation = (before: string) => `
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
  const flags = ['--single-threaded-gc', '--input-type=module'];
  const run = spawnSync(process.execPath, [...flags, '--eval', allocation(before)]);
  expect(run.stderr.toString()).toBe('');
  return (JSON.parse(run.stdout.toString()) as { collections: number }).collections;
}

// V8 13 marks it once, with the setting or without.
test.skipIf(Number.parseInt(process.versions.v8, 10) >= 13)(
  'V8 marks its heap half as often, or less',
  () => {
    const late = collections('collectLate();');
    expect(late).toBeGreaterThan(0);
    expect(collections('')).toBeGreaterThan(2 * late);
  },
);
