import { describe, expect, it } from 'vitest';
import { StoreError, toStoreError } from '../../../src/clickhouse/store-error.ts';

const withCode = (message: string, code: string) => Object.assign(new Error(message), { code });

describe('what the client throws', () => {
  it.each([
    ['the number of a ClickHouse error', withCode('Table is gone.', '60'), 60, false],
    ['the number of one that passes', withCode('Too many parts.', '252'), 252, true],
    ['a closed door that an operator can open', withCode('Not enough privileges.', '497'), 497, true],
    [
      'the number in front, when the message was cut at a zero byte',
      new Error('Code: 62. DB::Exception: Unrecognized token: \u0001x'),
      62,
      false,
    ],
    [
      'no number for a word of the network',
      withCode('connect ECONNREFUSED', 'ECONNREFUSED'),
      undefined,
      true,
    ],
    [
      'no number for one that is only quoted',
      new Error('proxy said: Code: 62. DB::Exception: x'),
      undefined,
      true,
    ],
    ['no number for a text', 'broken', undefined, true],
  ])('has %s', (_, thrown, clickHouseCode, retryable) => {
    expect(toStoreError(thrown)).toMatchObject({ clickHouseCode, retryable });
  });

  it.each([
    'DB::Exception: ',
    'DB::NetException: ',
    'DB::Coordination::Exception: ',
    'DB::Exception: Code: 469. DB::Exception: ',
  ])('has a message without what ClickHouse puts before it: %s', (prefix) => {
    expect(toStoreError(new Error(`Code: 469. ${prefix}Constraint \`small\` is violated`))).toMatchObject({
      message: 'Constraint `small` is violated',
      clickHouseCode: 469,
    });
  });

  it('stays what it is when it is one already', () => {
    const error = new StoreError('x', 1, undefined);
    expect(toStoreError(error)).toBe(error);
  });
});
