import { randomUUID } from 'node:crypto';
import type { ResultChunk } from '../clickhouse/store.ts';
import { limits } from '../limits/limits.ts';
import type { SessionEffect } from '../sql/catalog-session.ts';
import type { KnownRows } from '../sql/known-rows.ts';
import type { ResultColumn } from '../sql/translate-query.ts';
import type { Statement } from './execution.ts';
import type { QueryResult, QueryStatistics } from './request.ts';

/** A result that was known when the query was translated: the store is not asked. */
export class KnownResult implements QueryResult {
  readonly columns: readonly ResultColumn[];
  readonly datasets: readonly string[];
  readonly effects: readonly SessionEffect[];
  readonly #text: string;
  #id: string | undefined;

  constructor({ columns, datasets, effects }: Statement, { text }: KnownRows) {
    this.columns = columns;
    this.datasets = datasets;
    this.effects = effects ?? [];
    this.#text = text;
  }

  get id(): string {
    this.#id ??= `millrace-${randomUUID()}`;
    return this.#id;
  }

  get chunks(): AsyncIterable<ResultChunk> {
    return inChunks(this.#text);
  }

  statistics(): QueryStatistics {
    return { elapsedMs: 0, read: undefined };
  }
}

/** In pieces of whole lines: what is encoded at once holds the event loop. */
async function* inChunks(text: string): AsyncGenerator<ResultChunk, void> {
  let start = 0;
  do {
    // Only the end of a row is a line break that is written as one.
    const found = text.indexOf('\n', start + limits.knownRowsChunkLength);
    const end = found < 0 ? text.length : found + 1;
    yield { parts: [Buffer.from(text.slice(start, end))], isLast: end === text.length };
    start = end;
  } while (start < text.length);
}
