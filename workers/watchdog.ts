import { Worker, workerData } from 'node:worker_threads';
import { type FatalLineTask, type WatchdogTask, watchdogCells } from '../src/lib/event-loop-watchdog.ts';

/**
 * The thread that watches the event loop (see `src/lib/event-loop-watchdog.ts`). It has no
 * event loop of its own.
 */
const { cells, tickMs, maxMissedTicks, maxFatalLineMs }: WatchdogTask = workerData;

let beats = Atomics.load(cells, watchdogCells.beats);
let missedTicks = 0;
while (Atomics.wait(cells, watchdogCells.stopped, 0, tickMs) === 'timed-out') {
  const now = Atomics.load(cells, watchdogCells.beats);
  const isAlive = now !== beats || Atomics.load(cells, watchdogCells.debugger) === 1;
  missedTicks = isAlive ? 0 : missedTicks + 1;
  beats = now;
  if (missedTicks >= maxMissedTicks) kill(missedTicks * tickMs);
}

function kill(stuckMs: number): void {
  const written = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const task: FatalLineTask = { stuckMs, written };
  new Worker(new URL('./fatal-line.js', import.meta.url), { workerData: task });
  Atomics.wait(written, 0, 0, maxFatalLineMs);
  process.kill(process.pid, 'SIGKILL');
}
