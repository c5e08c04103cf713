/** A client broke the protocol, or asked for what there is not; `fatal` ends the session. */
export class WireError extends Error {
  override readonly name = 'WireError';
  /** SQLSTATE. */
  readonly code: string;
  readonly fatal: boolean;
  readonly hint: string | undefined;
  /** Where in the query, in characters from 1. */
  readonly position: number | undefined;

  constructor(
    code: string,
    message: string,
    options: {
      readonly fatal?: boolean;
      readonly hint?: string;
      readonly position?: number | undefined;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.fatal = options.fatal ?? false;
    this.hint = options.hint;
    this.position = options.position;
  }
}

/** After this nobody knows where the next message begins. */
export const protocolViolation = (message: string): WireError =>
  new WireError('08P01', message, { fatal: true });
