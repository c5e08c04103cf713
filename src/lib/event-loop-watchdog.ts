import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

/**
 * Kills a process whose event loop is stuck: it would never answer again, and no supervisor would notice.
 *
 *     watching ── no beat for so many ticks ──▶ the process is killed
 *         └── stop ──▶ stopped
 *
 * The event loop increments a counter in shared memory. `workers/watchdog.ts` checks it from a thread of its
 * own, which needs nothing of the event loop to count and to kill. Before that, a third thread writes a log
 * line, because stderr may be blocked (which may be why the event loop is stuck). The watchdog counts its own
 * ticks instead of time: while the machine sleeps or the process is stopped (SIGSTOP), it does not tick. It
 * uses SIGKILL, since the handler of another signal may be native code that waits. While a debugger is
 * attached, a stuck event loop may be a breakpoint, so nothing is killed.
 */
export interface Watchdog {
  stop(): Promise<void>;
}

/** The shared cells: indices into the array. */
export const watchdogCells = { beats: 0, debugger: 1, stopped: 2, count: 3 } as const;

/** What the watchdog thread is given. */
export interface WatchdogTask {
  readonly cells: Int32Array<SharedArrayBuffer>;
  readonly tickMs: number;
  /** Ticks without a beat after which the process is killed. */
  readonly maxMissedTicks: number;
  /** How long to wait for the thread that writes the log line. */
  readonly maxFatalLineMs: number;
}

/** What the thread that writes the log line is given. */
export interface FatalLineTask {
  readonly stuckMs: number;
  /** One cell, which becomes 1 when the line is written. */
  readonly written: Int32Array<SharedArrayBuffer>;
}

/** A thread starts and writes within some tens of milliseconds, if a core is free and stderr is read. */
const maxFatalLineMs = 1000;

/** How often the counter is checked within the limit. */
const ticksPerLimit = 10;

/** @param limitMs how long the event loop may be stuck, accurate to a tenth */
export function startWatchdog(worker: URL, limitMs: number): Watchdog {
  const tickMs = limitMs / ticksPerLimit;
  const cells = new Int32Array(new SharedArrayBuffer(watchdogCells.count * Int32Array.BYTES_PER_ELEMENT));
  const task: WatchdogTask = { cells, tickMs, maxMissedTicks: ticksPerLimit, maxFatalLineMs };
  const thread = new Worker(worker, {
    workerData: task,
    // It only keeps a few numbers.
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
