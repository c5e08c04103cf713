import { expect, it } from 'vitest';
import { maxTailLength, maxTailRows, TailRows } from '../../../src/console/query/tail-rows.ts';

const fields = [
  { name: 'p_timestamp', type: 'timestamp with time zone' },
  { name: 'message', type: 'text' },
];

it('rows of a tail have the columns that are known, and those that come later at the end', () => {
  const rows = new TailRows(fields);
  expect(rows.rowOf('{"message":"a","p_timestamp":"t"}')).toEqual(['t', 'a']);
  expect(rows.rowOf('{"message":"b","1":2,"__proto__":true,"constructor":"x"}')).toEqual([
    null,
    'b',
    2,
    true,
    'x',
  ]);
  expect(rows.rowOf('{"constructor":"y"}')).toEqual([null, null, null, null, 'y']);
  expect(rows.columns).toEqual([
    ...fields,
    { name: '1', type: 'double precision' },
    { name: '__proto__', type: 'boolean' },
    { name: 'constructor', type: 'text' },
  ]);
});

it('a tail keeps a bounded number of rows, of bounded length, and one at least', () => {
  const rows = new TailRows(fields);
  const many = Array.from({ length: maxTailRows + 10 }, (_, n) => rows.rowOf(`{"message":"${n}"}`));
  expect(rows.keep(many)).toEqual(many.slice(0, maxTailRows));
  expect(rows.keep(many.slice(0, 5))).toEqual(many.slice(0, 5));
  const half = rows.rowOf(`{"message":"${'x'.repeat(maxTailLength / 2 - 100)}"}`);
  const whole = rows.rowOf(`{"message":"${'x'.repeat(maxTailLength)}"}`);
  expect(rows.keep([half, half, half])).toHaveLength(2);
  expect(rows.keep([whole, half])).toHaveLength(1);
});
