import { expect, it } from 'vitest';
import { parseResult } from '../../../src/console/query/parse-result.ts';

const columns = '{"columns":[{"name":"n","type":"bigint"},{"name":"n","type":"text"}]}';
const end = '{"statistics":{"elapsedMs":1}}';

it('a result keeps columns of one name, and what no number of JavaScript holds', () => {
  const { rows } = parseResult(
    `${columns}\n[1,"a"]\n[9007199254740993,"9007199254740993"]\n[1.25,null]\n${end}\n`,
  );
  expect(rows[0]).toEqual([1, 'a']);
  // Newer engines tell the source of a number; Node.js 20 does not, and keeps the number.
  expect(['9007199254740993', 9007199254740992]).toContain(rows[1]?.[0]);
  expect(rows[1]?.[1]).toBe('9007199254740993');
  expect(rows[2]).toEqual([1.25, null]);
});

it('a result without its end is an error', () => {
  expect(() => parseResult(`${columns}\n[1,"a"]\n`)).toThrow('broke off');
  const failed = '{"error":{"code":"query_timeout","detail":"it took too long"}}';
  expect(() => parseResult(`${columns}\n[1,"a"]\n\n${failed}\n`)).toThrow('it took too long');
});
