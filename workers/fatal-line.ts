import { workerData } from 'node:worker_threads';
import type { FatalLineTask } from '../src/lib/event-loop-watchdog.ts';
import { writeFatal } from '../src/lib/fatal.ts';

/**
 * The thread that writes the watchdog's last line. The watchdog does not wait for it long:
 * stderr may be blocked.
 */
const { stuckMs, written }: FatalLineTask = workerData;

writeFatal(
  'the event loop is stuck: the process is killed, to be started again; MILLRACE_WATCHDOG_MS sets how long it may be',
  { stuckMs },
);
Atomics.store(written, 0, 1);
Atomics.notify(written, 0);
