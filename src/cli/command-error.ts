/** A command of the command line failed. The message is for its user; the process exits with the code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** As a shell has it for a process that SIGINT ended. */
export const interruptedExitCode = 130;
