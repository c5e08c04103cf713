import { readSync } from 'node:fs';
import { guardDescriptor } from '../src/clickhouse/embedded/engine-messages.ts';

/**
 * The thread of the engine process that ends it when the service is gone, however it went: the pipe from it is at its end
 * then. The main thread may be busy with the engine for long, so it cannot be the one who notices. Nothing is worth keeping:
 * what was acknowledged is in the service's log.
 */
readSync(guardDescriptor, new Uint8Array(1));
process.kill(process.pid, 'SIGKILL');
