import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonNumbers } from '../../../src/query/json-numbers.ts';

type Cell = number | string | null | readonly number[] | readonly string[];

/** As the store writes a value. */
function written(value: Cell): string {
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return '"nan"';
    return Number.isFinite(value) ? String(value) : value > 0 ? '"inf"' : '"-inf"';
  }
  return Array.isArray(value) ? `[${value.map(written).join(',')}]` : JSON.stringify(value);
}

/** As a client is to read it. */
function meant(value: Cell): unknown {
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return null;
    return Number.isFinite(value) ? JSON.parse(String(value)) : value > 0 ? 'Infinity' : '-Infinity';
  }
  return Array.isArray(value) ? value.map(meant) : value;
}

const tricky = fc.constantFrom(
  'inf',
  '-inf',
  'nan',
  '"inf"',
  ',"n":"inf"',
  '\\"nan"',
  '\\',
  '{"a":"nan"}',
  '[',
  '',
);
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 8 }), tricky);
const number = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Infinity, -Infinity));
const columns = fc.array(fc.tuple(text, fc.constantFrom('number', 'text', 'numbers', 'texts')), {
  minLength: 1,
  maxLength: 5,
});
const cell = (kind: string): fc.Arbitrary<Cell> => {
  const base: fc.Arbitrary<Cell> = kind.startsWith('number') ? number : text;
  const nullable = fc.option(base);
  return kind.endsWith('s') ? (fc.array(base, { maxLength: 4 }) as fc.Arbitrary<Cell>) : nullable;
};
const results = columns.chain((names) =>
  fc.record({
    names: fc.constant(names),
    rows: fc.array(fc.tuple(...names.map(([, kind]) => cell(kind))), { maxLength: 6 }),
    cuts: fc.array(fc.nat(400), { maxLength: 8 }),
    array: fc.boolean(),
  }),
);

function document(
  names: readonly (readonly [string, string])[],
  rows: readonly Cell[][],
  array: boolean,
): Buffer {
  const lines = rows.map(
    (row) =>
      `{${row.map((value, index) => `${JSON.stringify(names[index]?.[0])}:${written(value)}`).join(',')}}`,
  );
  const all = array ? `[\n${lines.join(',\n')}\n]\n` : lines.map((line) => `${line}\n`).join('');
  return Buffer.from(all);
}

function* pieces(bytes: Buffer, cuts: readonly number[]) {
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    yield bytes.subarray(from, cut);
    from = Math.max(from, Math.min(cut, bytes.length));
  }
  yield bytes.subarray(from);
}

function named(pieces: Iterable<Buffer>, isNumber: readonly boolean[]): Buffer {
  const numbers = new JsonNumbers(isNumber);
  const parts: Uint8Array[] = [];
  for (const piece of pieces) parts.push(...numbers.push(piece));
  return Buffer.concat([...parts, ...numbers.end()]);
}

describe('JsonNumbers', () => {
  it('names what JSON has no number for, in columns of numbers only, however the output is cut', async () => {
    const property = fc.property(results, ({ names, rows, cuts, array }) => {
      const isNumber = names.map(([, kind]) => kind.startsWith('number'));
      const output = named(pieces(document(names, rows, array), cuts), isNumber);
      const expected = rows.map((row) => row.map(meant));
      // By position: names may repeat here.
      const lines = output
        .toString('utf8')
        .split('\n')
        .filter((line) => line.startsWith('{'));
      const found = lines.map((line) => valuesOf(line.replace(/,$/, '')));
      expect(found).toEqual(expected);
      if (array) JSON.parse(output.toString('utf8'));
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('knows a NaN with a sign', async () => {
    const bytes = Buffer.from('{"a":"-nan","b":"-nan"}\n{"a":["nan","-nan"],"b":""}\n');
    const output = named(pieces(bytes, [7, 30]), [true, false]);
    expect(output.toString()).toBe('{"a":null,"b":"-nan"}\n{"a":[null,null],"b":""}\n');
  });

  it('leaves rows without them alone', async () => {
    const bytes = document([['a', 'number']], [[1], [2.5], [null]], false);
    expect(named(pieces(bytes, [3, 9]), [true])).toEqual(bytes);
  });
});

/** The values of an object in order, by a reviver that never drops a repeated name. */
function valuesOf(line: string): unknown[] {
  const values: unknown[] = [];
  let rest = line.slice(1, -1);
  while (rest !== '') {
    const key = /^"(?:[^"\\]|\\.)*":/s.exec(rest)?.[0] ?? '';
    const value =
      /^(?:"(?:[^"\\]|\\.)*"|\[(?:"(?:[^"\\]|\\.)*"|[^"\]])*\]|[^,"[]+)/s.exec(rest.slice(key.length))?.[0] ??
      '';
    if (key === '' || value === '') throw new Error(`not a row: ${line}`);
    values.push(JSON.parse(value));
    rest = rest.slice(key.length + value.length).replace(/^,/, '');
  }
  return values;
}
