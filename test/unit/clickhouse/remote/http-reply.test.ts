import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { streamReply } from '../../../../src/clickhouse/remote/http-reply.ts';
import { StoreError } from '../../../../src/clickhouse/store-error.ts';
import { limits } from '../../../../src/limits/limits.ts';

const tag = 'abcdefgh12345678';
const opening = `\r\n__exception__\r\n${tag}\r\n`;
const exception = (text: string) => `${opening}${text}\n${text.length + 1} ${tag}\r\n__exception__\r\n`;

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [
    0,
    ...[...cuts].sort((a, b) => a - b).filter((place) => place < bytes.length),
    bytes.length,
  ];
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
}

async function read(pieces: readonly Buffer[], failure?: Error) {
  async function* source() {
    yield* pieces.filter((piece) => piece.length > 0);
    if (failure !== undefined) throw failure;
  }
  const headers = {
    'x-clickhouse-exception-tag': tag,
    'x-clickhouse-summary': '{"read_rows":"3","read_bytes":"24"}',
  };
  const reply = { stream: Readable.from(source()), response_headers: headers, http_status_code: 200 };
  const chunks: Uint8Array[] = [];
  const iterator = streamReply(reply, new AbortController().signal);
  try {
    for (;;) {
      const { value, done } = await iterator.next();
      if (done === true) return { output: Buffer.concat(chunks), progress: value, error: undefined };
      chunks.push(...value.parts);
    }
  } catch (error) {
    return { output: Buffer.concat(chunks), progress: undefined, error };
  }
}

/** Bytes that are like the opening of an exception again and again. */
const likely = fc
  .array(fc.constantFrom('\r', '\n', '\r\n__exc', opening.slice(0, -2), '__exception__', tag, 'row'), {
    maxLength: 12,
  })
  .map((parts) => Buffer.from(parts.join('').replaceAll(opening, '')));
const cuts = fc.array(fc.nat(120), { maxLength: 10 });

describe('streamReply', () => {
  it('gives all of an output, however it is cut', async () => {
    const property = fc.asyncProperty(likely, cuts, async (output, places) => {
      fc.pre(!output.includes(opening));
      const result = await read(cut(output, places));
      expect(result).toEqual({ output, progress: { rows: 3, bytes: 24 }, error: undefined });
    });
    await fc.assert(property, { numRuns: 500 });
  });

  it('tells what was read only where the headers could know it', async () => {
    const piece = Buffer.alloc(limits.storeSummaryBytes);
    expect((await read([piece])).progress).toEqual({ rows: 3, bytes: 24 });
    expect((await read([piece, Buffer.from('1')])).progress).toBeUndefined();
  });

  it('gives nothing of an exception, and tells its code', async () => {
    const property = fc.asyncProperty(likely, cuts, fc.boolean(), async (output, places, broken) => {
      fc.pre(!output.includes(opening));
      const text = 'Code: 395. DB::Exception: it failed on `secret`. (FUNCTION_THROW_IF)';
      const bytes = Buffer.concat([output, Buffer.from(exception(text))]);
      const result = await read(cut(bytes, places), broken ? new Error('aborted') : undefined);
      expect(output.subarray(0, result.output.length)).toEqual(result.output);
      expect(result.error).toBeInstanceOf(StoreError);
      expect((result.error as StoreError).clickHouseCode).toBe(395);
    });
    await fc.assert(property, { numRuns: 500 });
  });

  it('throws what broke an answer', async () => {
    const failure = new Error('socket hang up');
    expect((await read([Buffer.from('1\n')], failure)).error).toBe(failure);
  });
});
