import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import type { ResultChunk } from '../../../src/clickhouse/store.ts';
import type { CancelSignal } from '../../../src/lib/cancellation.ts';
import { limits } from '../../../src/limits/limits.ts';
import { Connection } from '../../../src/pgwire/connection.ts';
import { MessageWriter } from '../../../src/pgwire/protocol/message-writer.ts';
import { Session } from '../../../src/pgwire/session.ts';
import { SessionSettings } from '../../../src/pgwire/session-settings.ts';
import { postgresType } from '../../../src/sql/postgres-types.ts';
import { int4 } from '../../../src/sql/types.ts';
import { sessionParts } from '../../support/sql/session-parts.ts';
import { client } from '../../support/sql/wire-client.ts';

/** A large result on its way to a client that takes its time, in memory and counted in bytes. */

/** The server's end of a connection: bytes count as delivered when the client takes them. */
class SlowSocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  deliveredBytes = 0;
  #taken: (() => void) | undefined;
  #hasWritten: (() => void) | undefined;

  override _read(): void {
    // Bytes are pushed by the test.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#taken = () => {
      this.deliveredBytes += chunk.length;
      done();
    };
    this.#hasWritten?.();
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  /** Waits until there are bytes, and takes what was written at once. */
  async deliver(): Promise<void> {
    if (this.#taken === undefined) {
      await new Promise<void>((resolve) => {
        this.#hasWritten = resolve;
      });
    }
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }
}

const rowsPerChunk = 10_000;
const chunkRows = Buffer.from('12345678\n'.repeat(rowsPerChunk));
/** DataRow: type, length, columns, length of the cell, cell. */
const sentBytesPerRow = 1 + 4 + 2 + 4 + 8;

class Source {
  madeRows = 0;
  hasEnded = false;

  async *chunks(total: number, signal: CancelSignal): AsyncGenerator<ResultChunk, void> {
    try {
      while (this.madeRows < total) {
        signal.throwIfAborted();
        this.madeRows += rowsPerChunk;
        yield { parts: [chunkRows], isLast: this.madeRows >= total };
        await Promise.resolve();
      }
    } finally {
      this.hasEnded = true;
    }
  }
}

function start(total: number) {
  const socket = new SlowSocket({ writableHighWaterMark: 16 * 1024 });
  const source = new Source();
  const signals: CancelSignal[] = [];
  const session = new Session(
    new Connection(socket as unknown as Socket),
    new SessionSettings(() => undefined),
    new MessageWriter(),
    sessionParts({
      query: (_sql, _values, _types, signal) => {
        signals.push(signal);
        return Promise.resolve({
          id: '',
          columns: [{ name: 'n', label: 'n', type: postgresType(int4) }],
          datasets: [],
          chunks: source.chunks(total, signal),
          statistics: () => ({ elapsedMs: 0, read: undefined }),
        });
      },
    }),
  );
  return { socket, source, signals, ended: session.run() };
}

/** What may be between the store and the client: a chunk of the store, and replies that fill the buffer. */
const mostPendingBytes = 2 * limits.pgWriteBufferBytes + 2 * rowsPerChunk * sentBytesPerRow;

test('10 million rows to a slow client: what waits for it is bounded', async () => {
  const total = 10_000_000;
  const { socket, source, ended } = start(total);
  socket.push(client.query('select'));
  let most = 0;
  while (socket.deliveredBytes < total * sentBytesPerRow) {
    await socket.deliver();
    // The session goes as far as it can.
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, source.madeRows * sentBytesPerRow - socket.deliveredBytes);
    expect(socket.writableLength).toBeLessThanOrEqual(2 * limits.pgWriteBufferBytes);
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(mostPendingBytes);
  expect(source.madeRows).toBe(total);
  socket.destroy();
  await ended;
}, 120_000);

test('a client that leaves ends its query, which reads no further', async () => {
  const { socket, source, signals, ended } = start(Number.POSITIVE_INFINITY);
  socket.push(client.query('select'));
  for (let index = 0; index < 10; index++) await socket.deliver();
  socket.destroy();
  await ended;
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(source.hasEnded).toBe(true);
});

test('what a client has sent ahead is not run when it has left', async () => {
  const { socket, signals, ended } = start(Number.POSITIVE_INFINITY);
  const ahead = Array.from({ length: 100 }, () => client.query('select; select'));
  socket.push(Buffer.concat(ahead));
  for (let index = 0; index < 10; index++) await socket.deliver();
  socket.destroy();
  await ended;
  expect(signals).toHaveLength(1);
});
