import { quoteString } from '../lib/quote.ts';
import { type DatasetKind, tablesOfKind } from '../model/dataset.ts';
import { metadataStatements } from './schema.ts';
import type { Store } from './store.ts';

/** An entry of the metadata log that says which kind a dataset has. */
export interface DatasetEntry {
  readonly tenant: string;
  readonly name: string;
  readonly kind: DatasetKind;
}

/**
 * The append-only log of what the service must remember, a table in the store. Entries are read in the order
 * of their time; the first one of a dataset decides its kind, since a kind never changes.
 */
export class MetadataLog {
  readonly #store: Store;
  readonly #node: string;

  constructor(store: Store, node: string) {
    this.#store = store;
    this.#node = node;
  }

  async prepare(): Promise<void> {
    for (const statement of metadataStatements()) await this.#store.command(statement);
  }

  async datasets(): Promise<DatasetEntry[]> {
    const bytes = await this.#store.select(
      "SELECT tenant, key, value FROM `millrace`.`metadata` WHERE kind = 'dataset' ORDER BY at, node",
      'JSONCompactEachRow',
    );
    const first = new Map<string, DatasetEntry>();
    for (const line of Buffer.from(bytes).toString('utf8').split('\n')) {
      if (line === '') continue;
      const [tenant, name, value] = JSON.parse(line) as [string, string, string];
      const { kind } = JSON.parse(value) as { kind: string };
      if (!isKind(kind)) throw new Error(`the metadata log has a dataset of the unknown kind ${kind}`);
      const key = `${tenant}/${name}`;
      if (!first.has(key)) first.set(key, { tenant, name, kind });
    }
    return [...first.values()];
  }

  async addDataset(entry: DatasetEntry): Promise<void> {
    const values = [this.#node, entry.tenant, 'dataset', entry.name, JSON.stringify({ kind: entry.kind })];
    await this.#store.command(
      `INSERT INTO \`millrace\`.\`metadata\` (node, tenant, kind, key, value) SELECT ${values.map(quoteString).join(', ')}`,
    );
  }
}

const isKind = (kind: string): kind is DatasetKind => Object.hasOwn(tablesOfKind, kind);
