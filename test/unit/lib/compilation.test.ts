import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../support/package-root.ts';

const built = join(packageRoot(), 'dist/src/lib/compilation.js');

/** Calls a function until V8 has optimized it, in a process of its own. The bit says so: `src/runtime/runtime.h` of V8. */
const program = `
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

test('V8 optimizes sooner after so many requests', () => {
  const flags = ['--allow-natives-syntax', '--no-concurrent-recompilation', '--no-use-osr'];
  const run = spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', program]);
  expect(run.stderr.toString()).toBe('');
  const { late, lateStill, usual } = JSON.parse(run.stdout.toString()) as Record<string, number>;
  expect(usual).toBeGreaterThan(0);
  expect(late).toBeGreaterThan(3 * (usual ?? 0));
  expect(lateStill).toBeGreaterThan(3 * (usual ?? 0));
});
