import { Duplex } from 'node:stream';
import type { Frame } from '../../../src/pgwire/protocol/message-framer.ts';
import { MessageFramer } from '../../../src/pgwire/protocol/message-framer.ts';
import { MessageWriter } from '../../../src/pgwire/protocol/message-writer.ts';

/** Messages of a client, as bytes. */
export const client = {
  startup: (parameters: Readonly<Record<string, string>>): Buffer => {
    const body = Object.entries(parameters).flat();
    const bytes = Buffer.concat([Buffer.from([0, 3, 0, 0]), Buffer.from(`${body.join('\0')}\0\0`)]);
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes.length + 4);
    return Buffer.concat([length, bytes]);
  },
  query: (sql: string): Buffer => new MessageWriter().begin('Q').string(sql).end().take(),
  parse: (name: string, sql: string): Buffer =>
    new MessageWriter().begin('P').string(name).string(sql).int16(0).end().take(),
  bind: (portal: string, statement: string, values: readonly string[] = []): Buffer => {
    const writer = new MessageWriter()
      .begin('B')
      .string(portal)
      .string(statement)
      .int16(0)
      .int16(values.length);
    for (const value of values) writer.int32(Buffer.byteLength(value)).text(value);
    return writer.int16(0).end().take();
  },
  describe: (of: 'S' | 'P', name: string): Buffer =>
    new MessageWriter().begin('D').byte(of.charCodeAt(0)).string(name).end().take(),
  close: (of: 'S' | 'P', name: string): Buffer =>
    new MessageWriter().begin('C').byte(of.charCodeAt(0)).string(name).end().take(),
  execute: (portal: string, maxRows: number): Buffer =>
    new MessageWriter().begin('E').string(portal).int32(maxRows).end().take(),
  sync: (): Buffer => new MessageWriter().begin('S').end().take(),
  flush: (): Buffer => new MessageWriter().begin('H').end().take(),
  terminate: (): Buffer => new MessageWriter().begin('X').end().take(),
};

/** The messages in what a server has sent. @throws Error for what is none */
export function serverMessages(bytes: Buffer): readonly Frame[] {
  const framer = new MessageFramer();
  framer.push(bytes);
  const frames: Frame[] = [];
  for (let frame = framer.next(1 << 30); frame !== undefined; frame = framer.next(1 << 30))
    frames.push(frame);
  if (framer.size > 0) throw new Error(`${framer.size} bytes are no message`);
  return frames;
}

/** What a message is, without what may differ between servers: an error is its SQLSTATE. */
export function shortForm({ type, body }: Frame): string {
  if (type === 'E' || type === 'N') {
    const fields = body.toString('utf8').split('\0');
    return `${type} ${fields.find((field) => field.startsWith('C'))?.slice(1)}`;
  }
  if (type === 'C') return `C ${body.toString('utf8', 0, body.length - 1)}`;
  if (type === 'Z') return `Z ${body.toString('latin1')}`;
  if (type === 'T' || type === 'D') return `${type} ${body.readInt16BE(0)}`;
  return type;
}

/** The server's end of a connection in memory: what is pushed arrives, and what is written is kept. */
export class MemorySocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  readonly written: Buffer[] = [];
  #onWrite: (() => void) | undefined;

  override _read(): void {
    // Bytes are pushed by `arrive`.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(chunk);
    this.#onWrite?.();
    done();
  }

  override _final(done: () => void): void {
    this.#onWrite?.();
    done();
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  /** The client sends this; null: it is gone. */
  arrive(bytes: Buffer | null): void {
    this.push(bytes);
  }

  /** Waits until so many messages ReadyForQuery have been written, or the server has closed its side. */
  async ready(count: number): Promise<readonly Frame[]> {
    for (;;) {
      const frames = serverMessages(Buffer.concat(this.written));
      if (frames.filter(({ type }) => type === 'Z').length >= count || this.writableEnded) return frames;
      await new Promise<void>((resolve) => {
        this.#onWrite = resolve;
      });
    }
  }
}
