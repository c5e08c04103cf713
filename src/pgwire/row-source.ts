import type { ResultChunk } from '../clickhouse/store.ts';
import type { QueryResult } from '../query/request.ts';
import { tabSeparated, textCell } from '../sql/known-rows.ts';
import type { PostgresType } from '../sql/postgres-types.ts';
import type { ResultColumn } from '../sql/translate-query.ts';
import { TabSeparatedRows } from './values/tab-separated-rows.ts';

/** A column of what a statement gives. */
export interface OutputColumn {
  readonly name: string;
  readonly type: PostgresType;
}

/** Where rows go: told of one row after another, all in the same object. */
export interface RowSink {
  row(rows: TabSeparatedRows): void;
  /** Called after each row; resolves when there is room for more. Undefined: there is. */
  ready(): Promise<void> | undefined;
}

/** The rows of a statement, in order, as many at a time as are asked for. */
export interface RowSource {
  readonly columns: readonly OutputColumn[];
  /**
   * @param maxRows Infinity for all
   * @returns how many there were; fewer than asked for at the end
   * @throws AppError
   */
  fetch(maxRows: number, sink: RowSink): Promise<number>;
  /** Ends the query, if it is not over. Never rejects. */
  close(): Promise<void>;
}

/** The columns of a query, as PostgreSQL names them: the same object for each use of a translation. */
export function labelled(columns: readonly ResultColumn[]): readonly OutputColumn[] {
  const known = outputs.get(columns) ?? columns.map(({ label, type }) => ({ name: label, type }));
  outputs.set(columns, known);
  return known;
}

const outputs = new WeakMap<readonly ResultColumn[], readonly OutputColumn[]>();

/** The rows of a query in the store. */
export class QueryRows implements RowSource {
  readonly columns: readonly OutputColumn[];
  readonly #chunks: AsyncIterator<ResultChunk>;
  readonly #rows: TabSeparatedRows;
  #isOver = false;

  constructor({ columns, chunks }: Pick<QueryResult, 'columns' | 'chunks'>) {
    this.columns = labelled(columns);
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#rows = new TabSeparatedRows(columns.length);
  }

  async fetch(maxRows: number, sink: RowSink): Promise<number> {
    let count = 0;
    while (count < maxRows) {
      if (this.#rows.next()) {
        sink.row(this.#rows);
        count += 1;
        const ready = sink.ready();
        if (ready !== undefined) await ready;
      } else if (!(await this.#more())) break;
    }
    return count;
  }

  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    // What ends a query early is not worth an error to anybody.
    await this.#chunks.return?.().catch(() => undefined);
  }

  async #more(): Promise<boolean> {
    if (this.#isOver) return false;
    const { done, value } = await this.#chunks.next();
    if (done === true || value.isLast) this.#isOver = true;
    if (done === true) return false;
    for (const part of value.parts) this.#rows.push(part);
    return true;
  }
}

/** A few rows of text that the session makes itself. */
export class TextRows implements RowSource {
  readonly columns: readonly OutputColumn[];
  readonly #rows: TabSeparatedRows;

  constructor(columns: readonly OutputColumn[], rows: ReadonlyArray<readonly string[]>) {
    this.columns = columns;
    this.#rows = new TabSeparatedRows(columns.length);
    this.#rows.push(Buffer.from(tabSeparated(rows.map((row) => row.map(textCell))).text));
  }

  fetch(maxRows: number, sink: RowSink): Promise<number> {
    let count = 0;
    while (count < maxRows && this.#rows.next()) {
      sink.row(this.#rows);
      count += 1;
    }
    return Promise.resolve(count);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
