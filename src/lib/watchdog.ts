import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

/**
 * Ends a process whose event loop is stuck: it would answer nothing for ever, and no supervisor would notice.
 *
 *     watching ── no beat for so many ticks ──▶ the process is killed
 *         └── stop ──▶ stopped
 *
 * The event loop adds to a counter in shared memory; `workers/watchdog.ts` looks at it from a thread of its own, which needs
 * nothing of the event loop to count and to kill. Yet another one writes a line before, since nobody may be reading stderr (which
 * may be why the event loop is stuck). It counts its own ticks and not time: while the machine
 * sleeps or the process is stopped (SIGSTOP), it does neither. SIGKILL, since a handler of another signal
 * may be native code that waits. While a debugger listens, a stuck event loop may be a breakpoint.
 */
export interface Watchdog {
  stop(): Promise<void>;
}

/** What both threads share; indices into the cells. */
export const watchdogCells = { beats: 0, debugger: 1, stopped: 2, count: 3 } as const;

/** What the thread is told. */
export interface WatchdogTask {
  readonly cells: Int32Array<SharedArrayBuffer>;
  readonly tickMs: number;
  /** Ticks without a beat after which the process is killed. */
  readonly maxMissedTicks: number;
  /** How long the thread that writes the line is waited for. */
  readonly maxFatalLineMs: number;
}

/** What the thread that writes the line is told. */
export interface FatalLineTask {
  readonly stuckMs: number;
  /** One cell, which becomes 1. */
  readonly written: Int32Array<SharedArrayBuffer>;
}

/** A thread starts and writes in some tens of milliseconds, where there is a core for it and somebody who reads. */
const maxFatalLineMs = 1000;

/** How many times within its limit the event loop is looked at. */
const ticksPerLimit = 10;

/** @param limitMs how long the event loop may be stuck, give or take a tenth */
export function startWatchdog(worker: URL, limitMs: number): Watchdog {
  const tickMs = limitMs / ticksPerLimit;
  const cells = new Int32Array(new SharedArrayBuffer(watchdogCells.count * Int32Array.BYTES_PER_ELEMENT));
  const task: WatchdogTask = { cells, tickMs, maxMissedTicks: ticksPerLimit, maxFatalLineMs };
  const thread = new Worker(worker, {
    workerData: task,
    // It keeps nothing but a few numbers.
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
  });
  thread.unref();
  const beat = () => {
    Atomics.add(cells, watchdogCells.beats, 1);
    Atomics.store(cells, watchdogCells.debugger, inspectorUrl() === undefined ? 0 : 1);
  };
  beat();
  const timer = setInterval(beat, tickMs / 2);
  timer.unref();
  const ended = new Promise<void>((resolve) => {
    thread.once('exit', () => resolve());
  });
  return {
    stop: async () => {
      clearInterval(timer);
      Atomics.store(cells, watchdogCells.stopped, 1);
      Atomics.notify(cells, watchdogCells.stopped);
      thread.ref();
      await ended;
    },
  };
}
