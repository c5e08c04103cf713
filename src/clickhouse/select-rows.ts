import type { Store } from './store.ts';

/**
 * Runs a small SELECT of the service itself.
 * @typeParam Row the values of a row in the order of the SELECT, as in JSON: the query must convert 64-bit
 *   integers to doubles or strings
 * @param party the tenant on whose behalf it runs, if there is one
 * @throws StoreError
 */
export async function selectRows<Row extends readonly unknown[]>(
  store: Pick<Store, 'select'>,
  query: string,
  party?: string,
): Promise<Row[]> {
  const bytes = await store.select(query, 'JSONCompactEachRow', party);
  return Buffer.from(bytes)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}

/**
 * Like `selectRows`, for a query that always returns one row, such as an aggregate without GROUP BY.
 * @throws StoreError
 */
export async function selectRow<Row extends readonly unknown[]>(
  store: Pick<Store, 'select'>,
  query: string,
  party?: string,
): Promise<Row> {
  const [row] = await selectRows<Row>(store, query, party);
  if (row === undefined) throw new Error(`no row: ${query}`);
  return row;
}
