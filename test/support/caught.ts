import { AppError, type ErrorCode } from '../../src/errors.ts';

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
