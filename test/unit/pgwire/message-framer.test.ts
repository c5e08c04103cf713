import { expect, test } from 'vitest';
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
