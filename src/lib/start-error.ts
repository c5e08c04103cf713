/**
 * The service cannot start, for a reason that its operator can mend. The message is one line: what is wrong,
 * and what to do. The process exits with 1.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}
