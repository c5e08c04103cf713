import { readSync } from 'node:fs';
import { guardDescriptor } from '../src/clickhouse/embedded/engine-messages.ts';

/**
 * A thread of the engine process. It ends the process when the service has ended, for whatever reason: the
 * pipe from the service is then at its end. The main thread can be busy with the engine for a long time, so
 * it cannot watch the pipe. Nothing is lost: what was acknowledged is in the service's log.
 */
readSync(guardDescriptor, new Uint8Array(1));
process.kill(process.pid, 'SIGKILL');
