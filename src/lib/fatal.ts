import { constants, openSync, writeSync } from 'node:fs';

/** The exit code of a process that ended itself after an unexpected error (`EX_SOFTWARE` of sysexits.h). */
export const softwareErrorExitCode = 70;

/**
 * Writes the last log line of a process, synchronously and from any thread: `process.stderr` of a
 * worker waits for the main thread, and a logger may buffer. What does not fit into a full pipe is
 * lost; a full socket blocks.
 */
export function writeFatal(message: string, fields: Readonly<Record<string, unknown>>): void {
  const entry = { level: 'fatal', time: new Date().toISOString(), pid: process.pid, ...fields, msg: message };
  const line = `${JSON.stringify(entry)}\n`;
  try {
    writeSync(unblockedStderr(), line);
  } catch {
    // There is nobody left to report this to.
  }
}

function unblockedStderr(): number {
  try {
    return openSync('/dev/fd/2', constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  } catch {
    // A socket, such as systemd's journal, cannot be opened again.
    return 2;
  }
}

/**
 * Makes uncaught exceptions and unhandled rejections end the process at once. The state that they leave
 * behind is unknown, and the supervisor restarts the process.
 */
export function endOnUncaughtErrors(): void {
  process.on('uncaughtException', (error: unknown, origin) => {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    writeFatal('unexpected error: the process ends and should be restarted', { origin, stack });
    process.exit(softwareErrorExitCode);
  });
}
