import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../../src/errors.ts';
import { queryBody } from '../../../../../src/http/routes/query/query-body.ts';

const parse = (text: string) => queryBody.read(Buffer.from(text));

describe('queryBody', () => {
  it('reads the query alone', () => {
    expect(parse('{"query":"SELECT 1"}')).toEqual({ query: 'SELECT 1' });
  });

  it('reads every member', () => {
    const body = { query: 'SELECT 1', startTime: '10m', endTime: 'now', streamName: 'app' };
    expect(parse(JSON.stringify(body))).toEqual(body);
  });

  it('reads values of parameters, and loses no digit of a number', () => {
    const params =
      '[500, 9007199254740993, -1.50, 1e3, "a\\"\\u00e9,]", true, null, [1, "x", 12345678901234567890], {"a": [1.10]}, [] ]';
    expect(
      parse(`{"par\\u0061ms": ["of no use"], "query": "SELECT \\"params\\": [1]", "params": ${params}}`),
    ).toEqual({
      query: 'SELECT "params": [1]',
      params: [
        '500',
        '9007199254740993',
        '-1.50',
        '1e3',
        'a"é,]',
        'true',
        null,
        { json: '[1, "x", 12345678901234567890]' },
        { json: '{"a": [1.10]}' },
        { json: '[]' },
      ],
    });
    expect(parse('{"params":[],"query":"SELECT 1"}')).toEqual({ query: 'SELECT 1', params: [] });
  });

  it('reads any JSON as the values that JSON.parse finds', () => {
    const property = fc.property(fc.array(fc.jsonValue()), fc.string(), (params, query) => {
      fc.pre(query.trim() !== '');
      const read = parse(JSON.stringify({ query, params }, undefined, 1)).params ?? [];
      const values = read.map((value, index) => {
        if (value === null || typeof params[index] === 'string') return value;
        return JSON.parse(typeof value === 'string' ? value : value.json) as unknown;
      });
      expect(values).toEqual(JSON.parse(JSON.stringify(params)));
    });
    fc.assert(property, { numRuns: 300 });
  });

  it.each([
    [
      'params that are no array',
      '{"query":"SELECT $1","params":{"1":2}}',
      'bad_request',
      'params must be an array',
    ],
    [
      'too many values of parameters',
      `{"query":"SELECT $1","params":[${'1,'.repeat(1000)}1]}`,
      'bad_request',
      'at most 1000',
    ],
    [
      'arrays of many elements',
      `{"query":"SELECT $1","params":[[${'1,'.repeat(9000)}1]]}`,
      'bad_request',
      'values',
    ],
    ['not JSON', '{"query":', 'bad_json', ''],
    ['nothing', '', 'bad_json', ''],
    ['an array', '[]', 'bad_request', 'must be an object'],
    ['null', 'null', 'bad_request', 'must be an object'],
    ['a string', '"SELECT 1"', 'bad_request', 'must be an object'],
    ['no query', '{}', 'bad_request', 'query must hold SQL'],
    ['a blank query', '{"query":"  "}', 'bad_request', 'query must hold SQL'],
    ['a query that is no string', '{"query":1}', 'bad_request', 'query must be a string'],
    ['a null', '{"query":"SELECT 1","endTime":null}', 'bad_request', 'endTime must be a string'],
    ['a misspelled member', '{"query":"SELECT 1","starttime":"1h"}', 'bad_request', '"starttime"'],
    ['deep arrays', '['.repeat(500_000), 'bad_request', 'a few texts'],
    ['many members', `{${'"query":"",'.repeat(50_000)}"query":"SELECT 1"}`, 'bad_request', 'a few texts'],
    [
      'a time that is none',
      `{"query":"SELECT 1","endTime":"${'1'.repeat(300)}"}`,
      'bad_request',
      'longer than 256',
    ],
    ['the prototype', '{"query":"SELECT 1","__proto__":"x"}', 'bad_request', '"__proto__"'],
  ])('refuses %s', (_, text, code, words) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    );
  });

  it('reads whatever is in a text', () => {
    const query = `SELECT '${'{[,"\\'.repeat(1000)}'`;
    expect(parse(JSON.stringify({ query, endTime: 'now' }))).toEqual({ query, endTime: 'now' });
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(() => queryBody.read(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(
      expect.objectContaining({ code: 'bad_json' }),
    );
  });

  it('answers any JSON with a query or an AppError', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        try {
          expect(parse(text).query).not.toBe('');
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }),
    );
  });
});
