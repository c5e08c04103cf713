import { AppError, type ErrorCode } from '../../../src/errors.ts';

/** The AppError that an action throws. Any other error, or none, fails the test. */
export function caughtError(action: () => unknown): AppError {
  try {
    action();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('expected an AppError, nothing was thrown');
}

export const caughtCode = (action: () => unknown): ErrorCode => caughtError(action).code;

/** The AppError with which a promise is rejected; anything else fails the test. */
export async function rejectedError(work: Promise<unknown>): Promise<AppError> {
  const thrown = await work.then(
    (value) => new Error(`no error, but ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (thrown instanceof AppError) return thrown;
  throw thrown;
}
