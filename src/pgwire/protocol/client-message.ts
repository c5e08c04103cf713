import type { Frame } from './message-framer.ts';
import { protocolViolation } from './wire-error.ts';

/** A format of a value: 0 is text, 1 is binary. */
export type Format = 0 | 1;

/** What a client sends once a session has begun (PostgreSQL's documentation, "Message Formats"). */
export type ClientMessage =
  | { readonly kind: 'query'; readonly sql: string }
  | {
      readonly kind: 'parse';
      readonly name: string;
      readonly sql: string;
      readonly parameterTypes: readonly number[];
    }
  | {
      readonly kind: 'bind';
      readonly portal: string;
      readonly statement: string;
      readonly parameterFormats: readonly Format[];
      /** In memory of their own; null for NULL. */
      readonly values: ReadonlyArray<Buffer | null>;
      readonly resultFormats: readonly Format[];
    }
  | { readonly kind: 'describe' | 'close'; readonly of: 'statement' | 'portal'; readonly name: string }
  | {
      readonly kind: 'execute';
      readonly portal: string;
      /** 0: all. */
      readonly maxRows: number;
    }
  | { readonly kind: 'sync' | 'flush' | 'terminate' }
  /** What a client sends during COPY FROM, which there is not. */
  | { readonly kind: 'copyData' }
  | { readonly kind: 'functionCall' };

/** @throws WireError */
export function readClientMessage({ type, body }: Frame): ClientMessage {
  const reader = new BodyReader(body);
  const message = readMessage(type, reader);
  reader.end();
  return message;
}

function readMessage(type: string, reader: BodyReader): ClientMessage {
  switch (type) {
    case 'Q':
      return { kind: 'query', sql: reader.string() };
    case 'P':
      return {
        kind: 'parse',
        name: reader.string(),
        sql: reader.string(),
        parameterTypes: reader.list(4, () => reader.uint32()),
      };
    case 'B':
      return {
        kind: 'bind',
        portal: reader.string(),
        statement: reader.string(),
        parameterFormats: reader.list(2, () => reader.format()),
        values: reader.list(4, () => reader.value()),
        resultFormats: reader.list(2, () => reader.format()),
      };
    case 'D':
      return { kind: 'describe', of: reader.target(), name: reader.string() };
    case 'C':
      return { kind: 'close', of: reader.target(), name: reader.string() };
    case 'E':
      return { kind: 'execute', portal: reader.string(), maxRows: Math.max(0, reader.int32()) };
    case 'S':
      return { kind: 'sync' };
    case 'H':
      return { kind: 'flush' };
    case 'X':
      return { kind: 'terminate' };
    case 'F':
      reader.skip();
      return { kind: 'functionCall' };
    case 'd':
    case 'c':
    case 'f':
      reader.skip();
      return { kind: 'copyData' };
    default:
      throw protocolViolation(`invalid frontend message type ${type.charCodeAt(0)}`);
  }
}

/**
 * Reads the body of one message; everything that is not as it should be ends the session, as in PostgreSQL.
 */
class BodyReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  string(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end < 0) throw protocolViolation('invalid string in message');
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  int32(): number {
    this.#need(4);
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  uint32(): number {
    return this.int32() >>> 0;
  }

  format(): Format {
    const format = this.#uint16();
    if (format === 0 || format === 1) return format;
    throw protocolViolation(`unsupported format code: ${format}`);
  }

  /** A count and so many things of at least `minBytes` each. */
  list<T>(minBytes: number, read: () => T): T[] {
    const count = this.#uint16();
    this.#need(count * minBytes);
    return Array.from({ length: count }, read);
  }

  value(): Buffer | null {
    const length = this.int32();
    if (length === -1) return null;
    if (length < 0) throw protocolViolation('insufficient data left in message');
    this.#need(length);
    this.#at += length;
    return Buffer.from(this.#bytes.subarray(this.#at - length, this.#at));
  }

  target(): 'statement' | 'portal' {
    this.#need(1);
    const letter = this.#bytes[this.#at++];
    if (letter === 0x53) return 'statement';
    if (letter === 0x50) return 'portal';
    throw protocolViolation(`invalid message subtype ${letter}`);
  }

  skip(): void {
    this.#at = this.#bytes.length;
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw protocolViolation('invalid message format');
  }

  #uint16(): number {
    this.#need(2);
    this.#at += 2;
    return this.#bytes.readUInt16BE(this.#at - 2);
  }

  #need(bytes: number): void {
    if (this.#bytes.length - this.#at < bytes) throw protocolViolation('insufficient data left in message');
  }
}
