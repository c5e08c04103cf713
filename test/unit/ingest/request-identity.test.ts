import fc from 'fast-check';
import { expect, it } from 'vitest';
import xxhash from 'xxhash-wasm';
import type { IngestRequest } from '../../../src/ingest/ingest-request.ts';
import { RequestIdentifier } from '../../../src/ingest/request-identity.ts';

const hashes = await xxhash();
const identifier = new RequestIdentifier(hashes, 'node-1');

const request = (fields: Partial<IngestRequest>): IngestRequest => ({
  tenant: 'default',
  dataset: 'd',
  format: 'json',
  encoding: 'identity',
  body: Buffer.from('[{"a":1}]'),
  mustExist: false,
  ...fields,
});
const remoteWrite = (body: Uint8Array) => request({ format: 'remote-write-1', encoding: 'snappy', body });

it('knows remote write by its body alone', () => {
  const first = identifier.identify(remoteWrite(Buffer.from('samples')));
  expect(first).toEqual(identifier.identify(remoteWrite(Buffer.from('samples'))));
  expect(first).not.toEqual(identifier.identify(remoteWrite(Buffer.from('samplez'))));
  expect(first?.name).toMatch(/^remote-write-1:[0-9a-f]{16}-7$/);
});

it.each(['otlp-logs-json', 'otlp-logs-protobuf', 'otlp-traces-json', 'otlp-traces-protobuf'] as const)(
  'knows %s by its body alone',
  (format) => {
    const identify = (body: string) =>
      identifier.identify(request({ format, body: Buffer.from(body) }))?.name;
    expect(identify('records')).toBe(identify('records'));
    expect(identify('records')).not.toBe(identify('recordz'));
    expect(identify('records')).toMatch(new RegExp(`^${format}:`));
  },
);

it('knows JSON by its key, and remembers the body beside it', () => {
  const one = identifier.identify(request({ idempotencyKey: 'k' }));
  const two = identifier.identify(request({ idempotencyKey: 'k', body: Buffer.from('[{"a":2}]') }));
  expect(one?.name).toBe(two?.name);
  expect(one?.body).not.toBe(two?.body);
  expect(identifier.identify(request({ idempotencyKey: 'l' }))?.name).not.toBe(one?.name);
});

it('does not know JSON without a key, nor anything empty', () => {
  expect(identifier.identify(request({}))).toBeUndefined();
  expect(identifier.identify(remoteWrite(new Uint8Array(0)))).toBeUndefined();
  expect(identifier.identify(request({ idempotencyKey: 'k', body: new Uint8Array(0) }))).toBeUndefined();
});

it('gives the same names in the next process of this node, and others on another node', () => {
  const body = Buffer.from('samples');
  const name = identifier.identify(remoteWrite(body))?.name;
  expect(new RequestIdentifier(hashes, 'node-1').identify(remoteWrite(body))?.name).toBe(name);
  expect(new RequestIdentifier(hashes, 'node-2').identify(remoteWrite(body))?.name).not.toBe(name);
});

it('hashes a large body in pieces to what it would hash to as a whole', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1_048_570, max: 2_200_000 }), fc.nat(255), (length, fill) => {
      const body = Buffer.alloc(length, fill);
      const whole = hashes.h64Raw(body, hashes.h64('node-1')).toString(16).padStart(16, '0');
      expect(identifier.identify(remoteWrite(body))?.name).toBe(`remote-write-1:${whole}-${length}`);
    }),
    { numRuns: 20 },
  );
});
