import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { readClientMessage } from '../../../src/pgwire/protocol/client-message.ts';
import { MessageFramer } from '../../../src/pgwire/protocol/message-framer.ts';
import { MessageWriter } from '../../../src/pgwire/protocol/message-writer.ts';

const messages = new MessageWriter()
  .begin('Q')
  .string('select 1')
  .end()
  .begin('S')
  .end()
  .begin('E')
  .string('portal')
  .int32(5)
  .end()
  .take();

test('messages are the same wherever the bytes are cut', () => {
  for (let cut = 0; cut <= messages.length; cut++) {
    const framer = new MessageFramer();
    const seen: unknown[] = [];
    for (const piece of [messages.subarray(0, cut), messages.subarray(cut)]) {
      framer.push(piece);
      for (let frame = framer.next(100); frame !== undefined; frame = framer.next(100)) {
        seen.push(readClientMessage(frame));
      }
    }
    expect(seen).toEqual([
      { kind: 'query', sql: 'select 1' },
      { kind: 'sync' },
      { kind: 'execute', portal: 'portal', maxRows: 5 },
    ]);
    expect(framer.size).toBe(0);
  }
});

test('one byte at a time, no more is copied than arrives', () => {
  const framer = new MessageFramer();
  let seen = 0;
  for (const byte of messages) {
    framer.push(Buffer.from([byte]));
    if (framer.next(100) !== undefined) seen += 1;
  }
  expect(seen).toBe(3);
});

test.each([
  ['too long', [0x51, 0, 0, 0, 101]],
  ['negative', [0x51, 0xff, 0xff, 0xff, 0xff]],
  ['shorter than itself', [0x51, 0, 0, 0, 3]],
])('a length that is %s is refused before its body has come', (_, bytes) => {
  const framer = new MessageFramer();
  framer.push(Buffer.from(bytes));
  expect(() => framer.next(100)).toThrowError(
    expect.objectContaining({ code: '08P01', fatal: true }) as Error,
  );
});

test.each([
  ['Q', [0x61]],
  ['P', [0, 0x61, 0, 0xff, 0xff]],
  ['B', [0, 0, 0, 1, 0, 2, 0, 0, 0, 0]],
  ['B', [0, 0, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff, 0, 0]],
  ['D', [0x58, 0]],
  ['S', [1]],
  ['\u0001', []],
])('a message %s that is not well formed ends the session', (type, body) => {
  const read = () => readClientMessage({ type, body: Buffer.from(body) });
  expect(read).toThrowError(expect.objectContaining({ code: '08P01', fatal: true }) as Error);
});

test('a long message is told of once, while it is incomplete', () => {
  const framer = new MessageFramer();
  const told: number[] = [];
  const length = limits.pgLongMessageBytes + 4;
  const message = Buffer.alloc(length + 1, 0x20);
  message.write('Q');
  message.writeInt32BE(length, 1);
  const next = () => framer.next(length, (bytes) => told.push(bytes));
  for (let at = 0; at < message.length; at += 1000) {
    framer.push(message.subarray(at, at + 1000));
    const frame = next();
    expect(frame === undefined).toBe(at + 1000 < message.length);
  }
  expect(told).toEqual([length]);
  framer.push(message);
  expect(next()?.type).toBe('Q');
  expect(told).toEqual([length]);
  framer.push(message.subarray(0, 100));
  expect(next()).toBe(undefined);
  expect(told).toEqual([length, length]);
});

test('pieces of one byte are put together in no more steps than their number grows', () => {
  const framer = new MessageFramer();
  const message = Buffer.alloc(20_001, 0x20);
  message.write('Q');
  message.writeInt32BE(20_000, 1);
  const { concat } = Buffer;
  let copied = 0;
  Buffer.concat = (list, total) => {
    const all = concat(list, total);
    copied += all.length;
    return all;
  };
  try {
    for (const byte of message) {
      expect(framer.next(20_000)).toBe(undefined);
      framer.push(Buffer.of(byte));
    }
    expect(framer.next(20_000)?.body.length).toBe(19_996);
  } finally {
    Buffer.concat = concat;
  }
  // Each byte as often as their number has binary digits, and once for the message.
  expect(copied).toBeLessThan(message.length * 17);
});
