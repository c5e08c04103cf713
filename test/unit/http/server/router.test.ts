import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/errors.ts';
import { textReply } from '../../../../src/http/server/reply.ts';
import type { Method, Route } from '../../../../src/http/server/route.ts';
import { Router } from '../../../../src/http/server/router.ts';
import { noReference } from '../../../support/http/no-reference.ts';

const route = (method: Method, path: string): Route => ({
  method,
  path,
  permission: 'public',
  reference: noReference,
  handler: () => textReply(''),
});

const list = route('GET', '/api/v1/logstream');
const put = route('PUT', '/api/v1/logstream/{dataset}');
const post = route('POST', '/api/v1/logstream/{dataset}');
const schema = route('GET', '/api/v1/logstream/{dataset}/schema');
const fixed = route('POST', '/api/v1/logstream/detect');
const router = new Router([list, put, post, schema, fixed]);

function refusal(method: string, path: string): AppError {
  try {
    router.match(method, path);
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('it matched');
}

describe('Router', () => {
  it('finds rows by method and path', () => {
    expect(router.match('GET', '/api/v1/logstream')).toEqual({ route: list, parameter: undefined });
    expect(router.match('PUT', '/api/v1/logstream/app').route).toBe(put);
    expect(router.match('GET', '/api/v1/logstream/app/schema')).toEqual({
      route: schema,
      parameter: 'app',
    });
  });

  it('prefers a path without parameters', () => {
    expect(router.match('POST', '/api/v1/logstream/detect').route).toBe(fixed);
    expect(router.match('POST', '/api/v1/logstream/other').route).toBe(post);
  });

  it('answers HEAD where GET is', () => {
    expect(router.match('HEAD', '/api/v1/logstream').route).toBe(list);
    expect(refusal('HEAD', '/api/v1/logstream/app').code).toBe('method_not_allowed');
  });

  it('hands a segment over as it came, and an encoded slash makes no segment', () => {
    expect(router.match('PUT', '/api/v1/logstream/a%2Fb').parameter).toBe('a%2Fb');
    expect(router.match('PUT', '/api/v1/logstream/..').parameter).toBe('..');
  });

  it.each([
    '/api/v1/logstream/',
    '/api/v1/logstream//schema',
    '/api/v1/logstream/a/b',
    '/api/v1/LOGSTREAM',
    '/api/v1/logstream?x',
    '/',
    '',
  ])('knows nothing at %j', (path) => {
    expect(refusal('GET', path).code).toBe('not_found');
  });

  it('names the methods that a path takes', () => {
    expect(refusal('DELETE', '/api/v1/logstream/app').details).toEqual({ allow: ['PUT', 'POST'] });
    expect(refusal('POST', '/api/v1/logstream').details).toEqual({ allow: ['GET', 'HEAD'] });
    expect(refusal('get', '/api/v1/logstream').code).toBe('method_not_allowed');
  });

  it('refuses a table with the same row twice', () => {
    expect(() => new Router([list, list])).toThrow('twice');
  });
});
