import { StoreError } from '../../src/store/errors.ts';
import { ModelComparisons } from './comparison.ts';
import { ModelTable } from './table.ts';

const unknownTable = 60;
const noSuchColumn = 16;
const syntaxError = 62;

/** A name, and a type with at most two levels of parentheses. */
const addedColumn = /ADD COLUMN IF NOT EXISTS `(.+?)` (\w+(?:\((?:[^()]|\([^()]*\))*\))?)/g;

/** Tables, and the few statements by which the catalog makes and reads them. */
export class ModelEngine {
  readonly #chunkRows: number;
  readonly #tables = new Map<string, ModelTable>();
  /** Entries of the metadata log, in order: tenant, kind, key, id, base, value. */
  readonly #metadata: string[][] = [];
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
      !statement.startsWith('INSERT INTO `millrace`.`metadata` (node, tenant, kind, key, value, id, base) ')
    ) {
      throw new StoreError(`the model does not know ${statement}`, syntaxError, undefined);
    }
    const [, tenant = '', kind = '', key = '', value = '', id = '', base = ''] = [
      ...statement.matchAll(/'(.*?)'/g),
    ].map((literal) => literal[1] ?? '');
    this.#metadata.push([tenant, kind, key, id, base, value]);
  }

  /** @returns rows as JSONCompactEachRow */
  select(query: string): string {
    const lines = (rows: Iterable<readonly unknown[]>) =>
      [...rows].map((row) => `${JSON.stringify(row)}\n`).join('');
    if (query === 'SELECT version()') return lines([['26.7.1.1']]);
    if (query.includes('FROM `millrace`.`metadata`')) {
      const from = Number(/_block_number >= (\d+)/.exec(query)?.[1] ?? 0);
      return lines(this.#metadata.map((entry, position) => [...entry, position]).slice(from));
    }
    const compared = this.comparisons.select(query);
    if (compared !== undefined) return lines([compared]);
    const columnsOf = /FROM system\.columns WHERE database = '(.+?)' AND table = '(.+?)'/.exec(query);
    if (columnsOf === null) throw new StoreError(`the model does not know ${query}`, syntaxError, undefined);
    return lines(this.#tables.get(`${columnsOf[1]}.${columnsOf[2]}`)?.columns ?? []);
  }
}
