import { describe, expect, it } from 'vitest';
import { acceptEncoding, acceptMediaTypes } from '../../../../src/http/server/content-type.ts';

describe('acceptMediaTypes', () => {
  const rule = acceptMediaTypes(['application/json', 'application/x-ndjson']);

  it.each([
    ['', 'application/json'],
    ['application/json', 'application/json'],
    ['Application/JSON', 'application/json'],
    ['application/json;charset=utf-8', 'application/json'],
    ['application/x-ndjson ; charset=utf-8', 'application/x-ndjson'],
  ])('%j is %s', (header, mediaType) => {
    expect(rule(header)).toBe(mediaType);
  });

  it.each(['text/plain', 'application/jsonx', 'json', ';', 'text/plain;application/json'])(
    '%j is refused',
    (header) => {
      expect(() => rule(header)).toThrow(expect.objectContaining({ code: 'unsupported_media_type' }));
    },
  );
});

describe('acceptEncoding', () => {
  const accepted = ['identity', 'gzip'] as const;

  it.each([
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
  ])('%j is %s', (header, encoding) => {
    expect(acceptEncoding(header, accepted)).toBe(encoding);
  });

  it.each(['snappy', 'deflate', 'br', 'gzip, gzip', 'gzip,'])('%j is refused', (header) => {
    expect(() => acceptEncoding(header, accepted)).toThrow(
      expect.objectContaining({ code: 'unsupported_encoding', details: { supported: accepted } }),
    );
  });

  it('takes zstd where the route does, and nowhere else', () => {
    expect(acceptEncoding('Zstd', [...accepted, 'zstd'])).toBe('zstd');
    expect(() => acceptEncoding('zstd', accepted)).toThrow(
      'this route takes Content-Encoding identity, gzip',
    );
  });
});
