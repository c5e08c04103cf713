import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** The embedded engine of this process, opened. */
export interface OpenEngine {
  /** To be called when all other connections are closed. */
  close(): Promise<void>;
}

/**
 * Opens the embedded engine on a thread of its own, so that this one goes on meanwhile: the call that opens it returns
 * when all tables are read, 5 ms for each. The thread stays for as long as the process lives, doing nothing: connections of
 * other threads never answer again once one that had any ends. It does not keep the process from ending.
 * @param engine the directory of the engine
 * @throws whatever the engine says
 */
export async function openEngineAside(engine: string): Promise<OpenEngine> {
  const thread = new Worker(new URL('../../workers/open-engine.js', import.meta.url), { workerData: engine });
  // Rejects when the thread throws.
  await once(thread, 'message');
  thread.unref();
  return {
    close: async () => {
      const closed = once(thread, 'message');
      thread.postMessage('close');
      await closed;
    },
  };
}
