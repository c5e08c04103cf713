import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { treePeakBytes, treeResidentBytes } from '../../../bench/hostile/process-tree.ts';
import { processTree, residentBytes } from '../../../bench/proc.ts';

const MiB = 2 ** 20;
/** Holds 200 MiB, and says so. */
const child =
  "const held = Buffer.alloc(200 * 2 ** 20, 1); console.log('ready'); setInterval(() => held, 1e6)";
const parent = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' })`;

it.runIf(process.platform === 'linux')('counts each process of a service once', async () => {
  const started = spawn(process.execPath, ['-e', parent], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { pid } = started;
  if (pid === undefined) throw new Error('no process was started');
  onTestFinished(() => {
    for (const each of processTree(pid)) process.kill(each, 'SIGKILL');
  });
  await once(started.stdout, 'data');
  expect(processTree(pid)).toHaveLength(2);
  const held = residentBytes(pid).now;
  expect(held).toBeGreaterThan(200 * MiB);
  for (const bytes of [treeResidentBytes(pid), treePeakBytes(pid)]) {
    expect(bytes).toBeGreaterThan(held - 50 * MiB);
    expect(bytes).toBeLessThan(held + 100 * MiB);
  }
});
