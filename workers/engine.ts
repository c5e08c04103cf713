/**
 * The engine process: ClickHouse (chDB) on one directory, used only by the service that started it.
 *
 *     lock the directory ── open ──▶ run statements ── close ──▶ exit
 *
 * Only the parent controls it. Signals that a terminal or a supervisor sends to the whole process group are
 * ignored: the parent handles them, and still needs the engine to stop cleanly. If the parent is gone,
 * `engine-guard.ts` ends this process at once. Any failure ends the process, and the parent starts another
 * one (`src/clickhouse/embedded/embedded-engine.ts`).
 */
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Session } from 'chdb';
import type { EngineArguments, FromEngine, ToEngine } from '../src/clickhouse/embedded/engine-messages.ts';
import { errorText } from '../src/errors.ts';
import { LockHeld, takeLock } from '../src/lib/process-lock.ts';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('disconnect', end);
process.on('uncaughtException', (error) => {
  writeSync(process.stderr.fd, `${error.stack ?? error.message}\n`);
  end();
});
new Worker(new URL('./engine-guard.js', import.meta.url));

const connections = new Map<number, Session>();

/** An orderly exit would wait for the thread that waits for the end of the service. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

const say = (message: FromEngine): void => {
  process.send?.(message);
};

let connect = (): Session => {
  throw new Error('BUG: the engine is not open');
};

const connectTo = ({ directory, settings }: EngineArguments): Session =>
  new Session(directory, {
    connectionArgs: Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
  });

/** The lock of a killed process is free once the kernel has ended that process. */
async function lock(options: EngineArguments): Promise<void> {
  connect = () => connectTo(options);
  const endMs = performance.now() + options.lockWaitMs;
  for (;;) {
    try {
      await takeLock(options.lockFile);
      return;
    } catch (error) {
      if (!(error instanceof LockHeld) || performance.now() > endMs) throw error;
    }
    await sleep(50);
  }
}

/** The engine stays open as long as one connection does. */
function open(): void {
  connections.set(-1, connect());
  endAtFaults();
}

/**
 * Restores the default action of fault signals, which ends the process. The engine's own handlers wait 300
 * seconds for a thread to write a report that the library does not have, and V8's fatal errors end in such a
 * handler too. Node.js restores the default when the last listener is removed.
 */
function endAtFaults(): void {
  for (const signal of ['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP', 'SIGSYS'] as const) {
    const listener = (): void => {};
    process.on(signal, listener);
    process.off(signal, listener);
  }
}

async function run(id: number, connection: number, text: string): Promise<void> {
  try {
    let session = connections.get(connection);
    if (session === undefined) {
      session = connect();
      connections.set(connection, session);
    }
    const result = await session.queryAsync(text);
    say({ kind: 'output', id, bytes: result.bytes() });
  } catch (error) {
    say({ kind: 'error', id, message: errorText(error) });
  }
}

function disconnect(connection: number): void {
  connections.get(connection)?.close();
  connections.delete(connection);
}

process.on('message', (message: ToEngine) => {
  if (message.kind === 'run') void run(message.id, message.connection, message.text);
  else if (message.kind === 'disconnect') disconnect(message.connection);
  else if (message.kind === 'ping') say({ kind: 'pong' });
  else if (message.kind === 'lock') void attempt(() => lock(message.arguments), 'locked');
  else if (message.kind === 'open') void attempt(open, 'opened');
  else {
    for (const connection of connections.keys()) disconnect(connection);
    end();
  }
});

/** Runs a step of the start, or reports why it failed. */
async function attempt(step: () => void | Promise<void>, done: 'locked' | 'opened'): Promise<void> {
  try {
    await step();
    say({ kind: done });
  } catch (error) {
    process.send?.({ kind: 'failed', message: errorText(error) } satisfies FromEngine, end);
  }
}
