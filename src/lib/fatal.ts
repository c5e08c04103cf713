import { constants, openSync, writeSync } from 'node:fs';

/** Exit code of a process that ended itself over an error nobody had foreseen (`EX_SOFTWARE` of sysexits.h). */
export const softwareErrorExitCode = 70;

/**
 * The last words of a process, as a line of the log. They are written at once, by whichever thread: `process.stderr` of a worker
 * waits for the main thread, and a logger may hold lines back. What does not fit a full pipe is lost; a full socket blocks.
 */
export function writeFatal(message: string, fields: Readonly<Record<string, unknown>>): void {
  const entry = { level: 'fatal', time: new Date().toISOString(), pid: process.pid, ...fields, msg: message };
  const line = `${JSON.stringify(entry)}\n`;
  try {
    writeSync(unblockedStderr(), line);
  } catch {
    // Nobody is left who could be told.
  }
}

function unblockedStderr(): number {
  try {
    return openSync('/dev/fd/2', constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  } catch {
    // A socket, as of systemd's journal, cannot be opened again.
    return 2;
  }
}

/**
 * From now on an exception that nobody catches, or a promise that nobody waits for and that fails, ends the process at once:
 * what it left half-done is not known, and whoever supervises the process starts it again.
 */
export function endOnUncaughtErrors(): void {
  process.on('uncaughtException', (error: unknown, origin) => {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    writeFatal('an error that nobody foresaw: the process ends, to be started again', { origin, stack });
    process.exit(softwareErrorExitCode);
  });
}
