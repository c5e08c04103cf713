import { readdirSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readNumeric } from '../../../src/pgwire/values/numeric-binary.ts';
import { readArrayText } from '../../../src/sql/syntax/literals.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';
import { readCases } from '../../sql/cases.ts';
import { postgresBinaries } from '../../sql/postgres.ts';
import { connectPostgresPair, type PostgresPairClients } from '../../support/sql/postgres-pair.ts';

/**
 * The queries of `test/sql/same` by node-postgres to Millrace and to PostgreSQL: the same names, types and
 * values, in text and in binary. Doubles and decimals, whose last digits differ by the order of sums and by
 * scale, are compared as numbers.
 */
const bin = postgresBinaries();
const cases = readdirSync(new URL('../../sql/same/', import.meta.url))
  .filter((file) => file.endsWith('.sql'))
  .flatMap((file) => readCases(`same/${file}`));

let pair: PostgresPairClients;

beforeAll(async () => {
  if (bin !== undefined) pair = await connectPostgresPair(bin);
});

afterAll(() => pair?.stop());

type Cell = string | Buffer | null;

async function ask(client: pg.Client, text: string, binary: boolean) {
  const types = { getTypeParser: () => (value: string) => value };
  // The declared types leave `binary` out. Values make it an extended query.
  const config = { text, values: [], rowMode: 'array', types, binary } as unknown as pg.QueryArrayConfig;
  const { fields, rows } = await client.query<Cell[]>(config);
  return { fields: fields.map(({ name, dataTypeID }) => ({ name, oid: dataTypeID })), rows };
}

const tolerance = 1e-12;
const isClose = (a: number, b: number): boolean =>
  Object.is(a, b) || a === b || Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));

const oids = { float: 701, numeric: 1700, floats: 1022, numerics: 1231 } as const;

function isSame(a: Cell, b: Cell, oid: number): boolean {
  if (a === null || b === null) return a === b;
  if (typeof a === 'string' || typeof b === 'string') return isSameText(String(a), String(b), oid);
  if (a.equals(b)) return true;
  if (oid === oids.float) return isClose(a.readDoubleBE(0), b.readDoubleBE(0));
  if (oid === oids.numeric) return isClose(Number(readNumeric(a)), Number(readNumeric(b)));
  return oid === oids.floats && isSameFloats(a, b);
}

function isSameText(a: string, b: string, oid: number): boolean {
  if (a === b) return true;
  if (oid === oids.float || oid === oids.numeric) return isClose(Number(a), Number(b));
  if (oid !== oids.floats && oid !== oids.numerics) return false;
  const [left = [], right = []] = [readArrayText(a), readArrayText(b)];
  return (
    left.length === right.length &&
    left.every((each, index) => isSameText(String(each), String(right[index]), oids.float))
  );
}

/** Elements of 12 bytes each behind the dimensions, none of them NULL. */
const isSameFloats = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length &&
  Array.from({ length: (a.length - 20) / 12 }, (_, index) => 24 + 12 * index).every((at) =>
    isClose(a.readDoubleBE(at), b.readDoubleBE(at)),
  );

const record = 2249;

/** Types that differ for a reason: `character varying` is text here. */
const typesHere: ReadonlyMap<number, number> = new Map([
  [1043, 25],
  // Names, and names of types, beside datasets.
  [19, 25],
  [2206, 25],
  // A row is its text here.
  [record, 25],
]);

/** Numbers of which PostgreSQL makes a decimal and Millrace a double, so far. */
const isNumberEither = (a: number, b: number): boolean => a === oids.float && b === oids.numeric;

function difference(
  a: Awaited<ReturnType<typeof ask>>,
  b: Awaited<ReturnType<typeof ask>>,
  ordered: boolean,
  binary: boolean,
): string | undefined {
  for (const [index, { name, oid }] of b.fields.entries()) {
    const own = a.fields[index];
    if (own?.name !== name) return `column ${index + 1} is ${own?.name}, PostgreSQL has ${name}`;
    const isOfType = own.oid === oid || own.oid === typesHere.get(oid);
    if (!isOfType && !isNumberEither(own.oid, oid))
      return `${name} is of type ${own.oid}, PostgreSQL has ${oid}`;
    if ((!isOfType || oid === record) && binary) return undefined; // two encodings of one value
  }
  const rest = [...b.rows];
  for (const row of a.rows) {
    const isEqual = (other: Cell[]) =>
      row.length === other.length &&
      row.every((cell, index) => isSame(cell, other[index] ?? null, a.fields[index]?.oid ?? 0));
    const found = ordered ? (rest[0] !== undefined && isEqual(rest[0]) ? 0 : -1) : rest.findIndex(isEqual);
    if (found < 0) return `${JSON.stringify(row)}, PostgreSQL has ${JSON.stringify(rest.slice(0, 3))}`;
    rest.splice(found, 1);
  }
  return rest.length === 0 ? undefined : `${rest.length} rows are missing`;
}

describe.skipIf(bin === undefined)(
  'over the wire, the same as PostgreSQL (skipped where it is not installed)',
  () => {
    test.each(cases)('$place $query', async ({ query }) => {
      const ordered = (await parseQuery(query)).orderBy.length > 0;
      for (const binary of [false, true]) {
        const [own, other] = [await ask(pair.ours, query, binary), await ask(pair.theirs, query, binary)];
        expect(difference(own, other, ordered, binary)).toBeUndefined();
      }
    });
  },
);
