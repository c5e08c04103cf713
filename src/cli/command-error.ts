/** A command failed. Its user sees the message, and the process exits with the code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The exit code that shells use for a process that SIGINT ended. */
export const interruptedExitCode = 130;
