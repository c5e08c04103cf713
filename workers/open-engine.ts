import { parentPort, workerData } from 'node:worker_threads';
import { createChdbConnection } from 'chdb/connection';

/**
 * The thread that opens the embedded engine, which takes as long as it takes to read all tables. The engine belongs to the
 * process, so that the others then get their connections at once; `src/store/engine-thread.ts` starts this one.
 */
const port = parentPort;
if (port === null) throw new Error('BUG: workers/open-engine.ts runs as a worker thread only');

const connection = createChdbConnection({ path: workerData as string });
port.once('message', async () => {
  await connection.close();
  port.postMessage('closed');
});
port.postMessage('open');
