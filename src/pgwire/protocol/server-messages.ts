import type { Format } from './client-message.ts';
import type { MessageWriter } from './message-writer.ts';

/** The messages that a server sends, each of one function: PostgreSQL's documentation, "Message Formats". */

/** I: idle; T: in a transaction block; E: in one that has failed. */
export type TransactionStatus = 'I' | 'T' | 'E';

/** A column of a RowDescription. */
export interface WireColumn {
  readonly name: string;
  readonly oid: number;
  /** Of its type; undefined: it has none. */
  readonly modifier: number | undefined;
  readonly format: Format;
}

export interface ErrorFields {
  readonly severity: 'ERROR' | 'FATAL' | 'NOTICE' | 'WARNING';
  /** SQLSTATE. */
  readonly code: string;
  readonly message: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  /** In characters from 1. */
  readonly position?: number | undefined;
}

const authentication = { ok: 0, cleartext: 3, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;

export const authenticationOk = (to: MessageWriter): void => {
  to.begin('R').int32(authentication.ok).end();
};

export const authenticationCleartextPassword = (to: MessageWriter): void => {
  to.begin('R').int32(authentication.cleartext).end();
};

export const authenticationSasl = (to: MessageWriter, mechanism: string): void => {
  to.begin('R').int32(authentication.sasl).string(mechanism).byte(0).end();
};

export const authenticationSaslData = (
  to: MessageWriter,
  step: 'saslContinue' | 'saslFinal',
  data: string,
): void => {
  to.begin('R').int32(authentication[step]).text(data).end();
};

/** The newest minor version that there is, and the options of the protocol that there are not. */
export function negotiateProtocolVersion(to: MessageWriter, minor: number, unknown: readonly string[]): void {
  to.begin('v')
    .int32((3 << 16) | minor)
    .int32(unknown.length);
  for (const option of unknown) to.string(option);
  to.end();
}

export const parameterStatus = (to: MessageWriter, name: string, value: string): void => {
  to.begin('S').string(name).string(value).end();
};

export const backendKeyData = (to: MessageWriter, processId: number, secret: Buffer): void => {
  to.begin('K').int32(processId).bytes(secret).end();
};

export const readyForQuery = (to: MessageWriter, status: TransactionStatus): void => {
  to.begin('Z').byte(status.charCodeAt(0)).end();
};

/** Messages that are nothing but their type. */
const bare =
  (type: string) =>
  (to: MessageWriter): void => {
    to.begin(type).end();
  };
export const parseComplete = bare('1');
export const bindComplete = bare('2');
export const closeComplete = bare('3');
export const noData = bare('n');
export const portalSuspended = bare('s');
export const emptyQueryResponse = bare('I');
export const copyDone = bare('c');

export const commandComplete = (to: MessageWriter, tag: string): void => {
  to.begin('C').string(tag).end();
};

export function parameterDescription(to: MessageWriter, oids: readonly number[]): void {
  to.begin('t').uint16(oids.length);
  for (const oid of oids) to.int32(oid | 0);
  to.end();
}

export function rowDescription(to: MessageWriter, columns: readonly WireColumn[]): void {
  to.begin('T').uint16(columns.length);
  for (const { name, oid, modifier = -1, format } of columns) {
    // No table and no column of it; the size of the type, -1 where it varies.
    to.string(name)
      .int32(0)
      .int16(0)
      .int32(oid)
      .int16(typeBytes.get(oid) ?? -1)
      .int32(modifier)
      .int16(format);
  }
  to.end();
}

/** `typlen` of PostgreSQL's `pg_type`. */
const typeBytes: ReadonlyMap<number, number> = new Map([
  [16, 1],
  [20, 8],
  [21, 2],
  [23, 4],
  [26, 4],
  [701, 8],
  [1082, 4],
  [1114, 8],
  [1184, 8],
  [1186, 16],
]);

export function copyOutResponse(to: MessageWriter, format: Format, columns: number): void {
  to.begin('H').byte(format).uint16(columns);
  for (let index = 0; index < columns; index++) to.int16(format);
  to.end();
}

/** ErrorResponse, which ends a statement or the session, or NoticeResponse. */
export function errorResponse(to: MessageWriter, fields: ErrorFields): void {
  const { severity, code, message, detail, hint, position } = fields;
  const isNotice = severity === 'NOTICE' || severity === 'WARNING';
  to.begin(isNotice ? 'N' : 'E');
  const field = (letter: string, value: string | undefined): void => {
    if (value !== undefined) to.byte(letter.charCodeAt(0)).string(value);
  };
  field('S', severity);
  field('V', severity);
  field('C', code);
  field('M', message);
  field('D', detail);
  field('H', hint);
  field('P', position?.toString());
  to.byte(0).end();
}
