import type { Store } from './store.ts';

/**
 * What a small SELECT of the service itself finds.
 * @typeParam Row the values of a row in the order of the SELECT, as JSON has them: integers of 64 bits must be made
 *   doubles or strings by the query
 * @param party the tenant that asks, if one does
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
 * As `selectRows`, of a query that always finds one row, such as an aggregate without GROUP BY.
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
