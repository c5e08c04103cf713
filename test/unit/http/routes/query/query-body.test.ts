import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../../src/errors.ts';
import { parseQueryBody } from '../../../../../src/http/routes/query/query-body.ts';

const parse = (text: string) => parseQueryBody(Buffer.from(text));

describe('parseQueryBody', () => {
  it('reads the query alone', () => {
    expect(parse('{"query":"SELECT 1"}')).toEqual({ query: 'SELECT 1' });
  });

  it('reads every member', () => {
    const body = { query: 'SELECT 1', startTime: '10m', endTime: 'now', streamName: 'app' };
    expect(parse(JSON.stringify(body))).toEqual(body);
  });

  it.each([
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
    expect(() => parseQueryBody(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(
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
