import type { Random } from '../support/lib/random.ts';
import type { ModelTable } from './model-table.ts';
import type { Row } from './simulated-rows.ts';

/** `<database>`.`<table>` of ClickHouse, each in backquotes. */
const table = '`(.+?)`\\.`(.+?)`';
const made = new RegExp(`^CREATE TABLE ${table} AS ${table} ENGINE = MergeTree`);
const dropped = new RegExp(`^DROP TABLE IF EXISTS ${table}$`);
const compared = new RegExp(`^SELECT sum\\(wanted\\), .*? FROM ${table}\\s+WHERE (.+?) GROUP BY`, 's');
const inserted = new RegExp(
  `^INSERT INTO ${table} \\(.*? AS place\\s+FROM ${table} WHERE (.+?)\\) AS a.*?insert_deduplication_token = '(.+?)'`,
  's',
);

/** An insert of those of the rows that their table does not have. */
export interface MissingInsert {
  readonly table: string;
  readonly token: string;
  readonly rows: readonly Row[];
}

/** Rows that were loaded beside a table to be compared with it, and the statements about them. */
export class ModelComparisons {
  readonly #tables: ReadonlyMap<string, ModelTable>;
  readonly #loaded = new Map<string, { readonly target: string; rows: Row[] }>();

  constructor(tables: ReadonlyMap<string, ModelTable>) {
    this.#tables = tables;
  }

  /** @returns the table to be compared with, undefined if the statement is another one */
  make(statement: string): string | undefined {
    const [, database, name, targetDatabase, targetName] = made.exec(statement) ?? [];
    if (name === undefined) return undefined;
    const target = `${targetDatabase}.${targetName}`;
    this.#loaded.set(`${database}.${name}`, { target, rows: [] });
    return target;
  }

  drop(statement: string): boolean {
    const [, database, name] = dropped.exec(statement) ?? [];
    if (name !== undefined) this.#loaded.delete(`${database}.${name}`);
    return name !== undefined;
  }

  /** @returns false if rows of that table are not compared */
  load(name: string, rows: readonly Row[]): boolean {
    const loaded = this.#loaded.get(name);
    loaded?.rows.push(...rows);
    return loaded !== undefined;
  }

  /** What was loaded was not synced, and the power went. */
  forget(random: Random): void {
    for (const loaded of this.#loaded.values()) {
      if (random.chance(0.5)) loaded.rows = loaded.rows.filter(() => random.chance(0.5));
    }
  }

  /** @returns the row that is asked for, undefined if it is another query */
  select(query: string): readonly unknown[] | undefined {
    if (query.startsWith('SELECT groupArray(name) FROM system.tables')) {
      return [[...this.#loaded.keys()].map((name) => name.slice(name.indexOf('.') + 1))];
    }
    const [, database, name, part = ''] = compared.exec(query) ?? [];
    if (name === undefined) return undefined;
    const table = `${database}.${name}`;
    return [this.#part(table, part).length, this.#missing(table, part).length];
  }

  insert(statement: string): MissingInsert | undefined {
    const [, database, name, ofDatabase, of, part = '', token = ''] = inserted.exec(statement) ?? [];
    if (name === undefined) return undefined;
    return { table: `${database}.${name}`, token, rows: this.#missing(`${ofDatabase}.${of}`, part) };
  }

  /** Those of the rows that are loaded of which the condition speaks. */
  #part(name: string, condition: string): Row[] {
    const [, of = '1', part = '0'] = /% (\d+) = (\d+)$/.exec(condition) ?? [];
    return this.#of(name).rows.filter(({ id }) => id % Number(of) === Number(part));
  }

  #missing(name: string, condition: string): Row[] {
    const stored = this.#tables.get(this.#of(name).target)?.rows;
    return this.#part(name, condition).filter(({ id }) => (stored?.get(id) ?? 0) === 0);
  }

  #of(name: string) {
    const loaded = this.#loaded.get(name);
    if (loaded === undefined) throw new Error(`nothing was loaded into ${name}`);
    return loaded;
  }
}
