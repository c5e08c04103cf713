import { StoreError } from '../../src/clickhouse/store-error.ts';
import { ModelComparisons } from './comparison.ts';
import { ModelTable } from './model-table.ts';

const unknownTable = 60;
const noSuchColumn = 16;
const syntaxError = 62;
/** By the clock of the store. Every table has always just changed. */
const nowSeconds = 1_700_000_000;

/** A name, and a type with at most two levels of parentheses. */
const addedColumn = /ADD COLUMN IF NOT EXISTS `(.+?)` (\w+(?:\((?:[^()]|\([^()]*\))*\))?)/g;

const numbered = (columns: ReadonlyMap<string, string>) =>
  [...columns].map(([name, type], index) => [index + 1, name, type]);

/** Tables, and the few statements by which the catalog makes and reads them. */
export class ModelEngine {
  readonly #chunkRows: number;
  readonly #tables = new Map<string, ModelTable>();
  /** Entries of the metadata log, in order: tenant, kind, key, id, base, value, position. */
  readonly #metadata: Array<readonly [...string[], boolean, number]> = [];
  #appended = 0;
  readonly comparisons = new ModelComparisons(this.#tables);

  constructor(chunkRows: number) {
    this.#chunkRows = chunkRows;
  }

  /** Tables by name, `<database>.<table>` without quotes. */
  get tables(): ReadonlyMap<string, ModelTable> {
    return this.#tables;
  }

  /** @throws StoreError as the engine does */
  table(name: string, columns: readonly string[]): ModelTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new StoreError(`UNKNOWN_TABLE ${name}`, unknownTable, undefined);
    const missing = columns.find((column) => !table.columns.has(column));
    if (missing === undefined) return table;
    throw new StoreError(`NO_SUCH_COLUMN_IN_TABLE ${name} ${missing}`, noSuchColumn, undefined);
  }

  command(statement: string): void {
    if (statement === 'SELECT 1' || statement.startsWith('CREATE DATABASE IF NOT EXISTS ')) return;
    const compared = this.comparisons.make(statement);
    if (compared !== undefined) {
      this.table(compared, []);
      return;
    }
    if (this.comparisons.drop(statement)) return;
    const create = /^CREATE TABLE IF NOT EXISTS `(.+?)`\.`(.+?)`\n\(\n([\s\S]*?)\n\)/.exec(statement);
    if (create !== null) {
      const name = `${create[1]}.${create[2]}`;
      const columns = [...(create[3] ?? '').matchAll(/^ +`(.+?)` (.+?)(?: CODEC.*| DEFAULT.*)?,?$/gm)];
      if (this.#tables.has(name)) return;
      const types = new Map(columns.map(([, column = '', type = '']) => [column, type]));
      this.#tables.set(name, new ModelTable(types, this.#chunkRows));
      return;
    }
    const alter = /^ALTER TABLE `(.+?)`\.`(.+?)`\s+([\s\S]*)$/.exec(statement);
    if (alter !== null) {
      const { columns } = this.table(`${alter[1]}.${alter[2]}`, []);
      const added = [...(alter[3] ?? '').matchAll(addedColumn)];
      for (const [, column = '', type = ''] of added) columns.set(column, type);
      return;
    }
    if (
      !statement.startsWith('INSERT INTO `millrace`.`metadata` (node, tenant, kind, key, value, id, base)')
    ) {
      throw new StoreError(`the model does not know ${statement}`, syntaxError, undefined);
    }
    const entries = [...statement.matchAll(/\(('[^']*'(?:, '[^']*'){6})\)/g)].map(([, values = '']) => {
      const [, tenant = '', kind = '', key = '', value = '', id = '', base = ''] = [
        ...values.matchAll(/'(.*?)'/g),
      ].map((literal) => literal[1] ?? '');
      return [tenant, kind, key, id, base, value, false, this.#appended] as const;
    });
    this.#metadata.push(...entries.sort((a, b) => (a[3] < b[3] ? -1 : 1)));
    this.#appended += 1;
  }

  /** @returns rows as JSONCompactEachRow */
  select(query: string): string {
    const lines = (rows: Iterable<readonly unknown[]>) =>
      [...rows].map((row) => `${JSON.stringify(row)}\n`).join('');
    if (query === 'SELECT version()') return lines([['26.7.1.1']]);
    if (query.includes('FROM `millrace`.`metadata`')) {
      const from = Number(/_block_number >= (\d+)/.exec(query)?.[1] ?? 0);
      return lines(this.#metadata.filter((entry) => Number(entry.at(-1)) >= from));
    }
    const compared = this.comparisons.select(query);
    if (compared !== undefined) return lines([compared]);
    if (query.startsWith('SELECT toUnixTimestamp(now()), groupArray(')) {
      const events = [...this.#tables.keys()].filter((name) => name.endsWith('.events'));
      return lines([[nowSeconds, events.map((name) => name.replace('.', '/'))]]);
    }
    const described = /^DESCRIBE TABLE `(.+?)`\.`(.+?)`$/.exec(query);
    if (described !== null) {
      const { columns } = this.table(`${described[1]}.${described[2]}`, []);
      return lines([...columns].map(([name, type]) => [name, type, '', '', '']));
    }
    const columnsOf = /FROM system\.columns\s+WHERE database IN \((.+?)\) AND table IN \((.+?)\) AND/.exec(
      query,
    );
    if (columnsOf === null) throw new StoreError(`the model does not know ${query}`, syntaxError, undefined);
    const named = (list = '') => [...list.matchAll(/'(.+?)'/g)].map((literal) => literal[1] ?? '');
    const found = named(columnsOf[1]).flatMap((database) =>
      named(columnsOf[2]).flatMap((table) => {
        const columns = this.#tables.get(`${database}.${table}`)?.columns;
        return columns === undefined ? [] : [[`${database}/${table}`, numbered(columns)]];
      }),
    );
    return lines(found);
  }
}
