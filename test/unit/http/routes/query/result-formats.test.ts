import { describe, expect, it } from 'vitest';
import { chooseFormat, resultParameters } from '../../../../../src/http/routes/query/result-formats.ts';
import { caughtCode } from '../../../../support/lib/caught.ts';

describe('chooseFormat', () => {
  it.each([
    ['', 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['text/csv', 'csv'],
    ['TEXT/CSV; charset=utf-8', 'csv'],
    ['text/*', 'csv'],
    ['application/x-ndjson', 'ndjson'],
    ['application/jsonl', 'ndjson'],
    ['application/vnd.apache.arrow.stream', 'arrow'],
    ['application/vnd.apache.parquet', 'parquet'],
    ['text/html, application/xhtml+xml, */*;q=0.8', 'json'],
    ['application/json;q=0.5, text/csv', 'csv'],
    ['text/csv;q=0, */*', 'json'],
    ['application/*;q=0.2, application/x-ndjson;q=0.3', 'ndjson'],
    ['application/json;q=0, application/*', 'ndjson'],
  ])('Accept %j is %s', (accept, format) => {
    expect(chooseFormat(undefined, accept)).toBe(format);
  });

  it.each(['text/html', 'application/xml, image/png', 'application/json;q=0', 'text/csv;q=x'])(
    'nothing for Accept %j',
    (accept) => {
      expect(caughtCode(() => chooseFormat(undefined, accept))).toBe('not_acceptable');
    },
  );

  it('the parameter wins over the header', () => {
    expect(chooseFormat('parquet', 'text/csv')).toBe('parquet');
    expect(caughtCode(() => resultParameters.read('format=xml'))).toBe('bad_request');
  });
});
