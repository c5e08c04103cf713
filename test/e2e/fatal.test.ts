import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { packageRoot } from '../support/lib/package-root.ts';
import { mainPath, Service } from '../support/service/service.ts';

const preload = join(packageRoot(), 'test/support/service/fatal-preload.mjs');
const watchdogMs = 2000;

let service: Service | undefined;
afterEach(() => service?.dispose());

/** Starts a service in which SIGUSR2 causes this failure. Heaps are small, so that they are full soon. */
async function startDoomed(deed: string, heapMiB = 512, stuckMs = watchdogMs): Promise<Service> {
  service = await Service.start({
    env: {
      NODE_OPTIONS: `--import ${preload} --max-old-space-size=${heapMiB}`,
      MILLRACE_TEST_FATAL: deed,
      MILLRACE_WATCHDOG_MS: String(stuckMs),
      // So that acknowledged rows are only in the log when the failure happens.
      MILLRACE_FLUSH_INTERVAL_MS: '60000',
    },
  });
  return service;
}

const events = Array.from({ length: 100 }, (_, index) => ({ index }));

describe('a fatal error', () => {
  it.each([
    ['an event loop that is stuck', 'stuck', { code: null, signal: 'SIGKILL' }, 'the event loop is stuck'],
    ['an exception that nobody catches', 'thrown', { code: 70, signal: null }, 'nobody foresaw this'],
    ['a rejection that nobody waits for', 'rejected', { code: 70, signal: null }, 'nobody foresaw this'],
  ] as const)('%s ends the process, which says so, and loses nothing', async (_, deed, exit, says) => {
    const doomed = await startDoomed(deed);
    expect(await doomed.ingest('app', events)).toBe(events.length);
    process.kill(doomed.child.pid, 'SIGUSR2');
    expect(await doomed.child.ended()).toEqual(exit);
    const line = doomed.child.stderr.split('\n').find((each) => each.includes('"level":"fatal"'));
    expect(JSON.parse(line ?? '')).toMatchObject({ level: 'fatal', pid: doomed.child.pid });
    expect(line).toContain(says);
    await doomed.restart();
    expect(await doomed.query('SELECT count(*) AS n, max(index) AS last FROM app')).toEqual([
      { n: events.length, last: events.length - 1 },
    ]);
  });

  it('a heap that is full ends the process, which says so, and loses nothing', async () => {
    const doomed = await startDoomed('memory', 128, 10_000);
    expect(await doomed.ingest('app', events)).toBe(events.length);
    process.kill(doomed.child.pid, 'SIGUSR2');
    const { signal } = await doomed.child.ended();
    expect(['SIGABRT', 'SIGKILL', 'SIGTRAP']).toContain(signal);
    expect(doomed.child.stderr).toContain('heap out of memory');
    await doomed.restart();
    expect(await doomed.query('SELECT count(*) AS n FROM app')).toEqual([{ n: events.length }]);
  });
});

it('a process that is stuck since nobody reads its log ends all the same', async () => {
  const dataDir = temporaryFolder('data');
  const child = spawn(process.execPath, ['--import', preload, mainPath], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      MILLRACE_HTTP_ADDR: '127.0.0.1:0',
      MILLRACE_DATA_DIR: dataDir,
      MILLRACE_TEST_FATAL: 'unread',
      MILLRACE_WATCHDOG_MS: String(watchdogMs),
    },
  });
  const exited = once(child, 'exit');
  try {
    // The banner shows that it is ready. stderr is not read.
    await once(child.stdout, 'data');
    child.kill('SIGUSR2');
    expect(await exited).toEqual([null, 'SIGKILL']);
  } finally {
    child.kill('SIGKILL');
    await exited;
    removeFolder(dataDir);
  }
});

it('a process that was stopped for longer, and goes on, is not taken for stuck', async () => {
  const { child, query } = await startDoomed('stuck').then((each) => ({
    child: each.child,
    query: () => each.query('SELECT 1 AS one'),
  }));
  for (let round = 0; round < 2; round += 1) {
    child.kill('SIGSTOP');
    await sleep(2 * watchdogMs);
    child.kill('SIGCONT');
    expect(await query()).toEqual([{ one: 1 }]);
  }
  await sleep(watchdogMs);
  expect(child.exit).toBeUndefined();
  expect(child.stderr).not.toContain('"level":"fatal"');
});
