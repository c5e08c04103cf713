import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCatalogQuery } from '../../../src/sql/catalog-query/is-catalog-query.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';
import { readCases } from '../../sql/cases.ts';
import { postgresBinaries } from '../../sql/postgres.ts';
import { connectPostgresPair, type PostgresPairClients } from '../../support/sql/postgres-pair.ts';

/**
 * Queries of the catalog by node-postgres to Millrace and to PostgreSQL, which has the same tables: the same
 * names of columns, rows in their text form and SQLSTATEs. `catalog/refused.sql` has what PostgreSQL answers
 * and Millrace refuses by name: nothing is answered otherwise than PostgreSQL does.
 */
const bin = postgresBinaries();

let pair: PostgresPairClients;

beforeAll(async () => {
  if (bin !== undefined) pair = await connectPostgresPair(bin);
});

afterAll(() => pair?.stop());

type Cell = string | null;

interface Answer {
  readonly names: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

interface Refusal {
  readonly error: string;
  readonly message: string;
}

/** What is said to a query: rows in PostgreSQL's text form, or an error. */
async function ask(client: pg.Client, text: string): Promise<Answer | Refusal> {
  const types = { getTypeParser: () => (value: string) => value };
  const config = { text, rowMode: 'array', types } as unknown as pg.QueryArrayConfig;
  try {
    const { fields, rows } = await client.query<Cell[]>(config);
    return { names: fields.map(({ name }) => name), rows };
  } catch (thrown) {
    if (thrown instanceof pg.DatabaseError) return { error: thrown.code ?? '', message: thrown.message };
    throw thrown;
  }
}

function comparable(answer: Awaited<ReturnType<typeof ask>>, ordered: boolean): unknown {
  if ('error' in answer) return { error: answer.error };
  const rows = answer.rows.map((row) => JSON.stringify(row));
  return { names: answer.names, rows: ordered ? rows : rows.toSorted() };
}

describe.skipIf(bin === undefined)('the same as PostgreSQL (skipped where it is not installed)', () => {
  test.each(readCases('catalog/same.sql'))('$place $query', async ({ query }) => {
    const tree = await parseQuery(query);
    expect(isCatalogQuery(tree)).toBe(true);
    const ordered = tree.orderBy.length > 0;
    const [own, other] = [await ask(pair.ours, query), await ask(pair.theirs, query)];
    expect(comparable(own, ordered)).toEqual(comparable(other, ordered));
  });

  test.each(readCases('catalog/refused.sql'))('refused: $comment', async ({ query, comment }) => {
    const [own, other] = [await ask(pair.ours, query), await ask(pair.theirs, query)];
    expect(other).not.toHaveProperty('error');
    expect(own).toMatchObject({ error: expect.stringMatching(/^0A000|42883$/) });
    expect('message' in own && own.message).toContain(comment);
  });
});
