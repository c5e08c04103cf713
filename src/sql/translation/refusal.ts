import { AppError, type AppErrorOptions, type ErrorCode } from '../../errors.ts';

/** An `AppError` as data, which is all that threads can exchange. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: AppErrorOptions['details'];
}

export const refusalOf = ({ code, message, details }: AppError): Refusal => ({ code, message, details });

/** The error again, on the other side. */
export const errorOf = ({ code, message, details }: Refusal): AppError =>
  new AppError(code, message, details && { details });
