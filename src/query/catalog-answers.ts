import type { CatalogView } from '../catalog/dataset-entry.ts';
import { AppError } from '../errors.ts';
import type { Timers } from '../lib/clock.ts';
import { limits } from '../limits/limits.ts';
import { auditDataset } from '../model/dataset.ts';
import type { Principal, ReadableRows } from '../model/identity.ts';
import { refusalOf } from '../sql/translation/refusal.ts';
import type {
  CatalogAnswer,
  CatalogQuestion,
  DatasetAnswer,
} from '../sql/translation/translation-messages.ts';
import { ColumnStates } from './column-states.ts';
import type { StoredSizes } from './dataset-sizes.ts';

export interface CatalogAnswersParts {
  readonly catalog: CatalogView;
  /** Which rows of a dataset of its tenant the principal may read. */
  readableRows(principal: Principal, dataset: string): ReadableRows;
  /** What is stored of the datasets of a tenant; undefined if it is not known. */
  storedSizes(tenant: string): Promise<StoredSizes | undefined>;
  readonly timers: Pick<Timers, 'turn'>;
}

/** The principal that asks, and the tenant whose datasets it asks about. */
export interface Reader {
  readonly principal: Principal;
  readonly tenant: string;
}

type Asked<About> = Extract<CatalogQuestion, { about: About }>;
type NameAnswer = CatalogAnswer['names'][number];
type SizeAnswer = CatalogAnswer['sizes'][number];

/** What one step adds to an answer: a dataset, a name, a size, or nothing. */
interface Piece {
  readonly size?: SizeAnswer;
  readonly dataset?: DatasetAnswer;
  readonly name?: NameAnswer;
}

const emptyPart = () => ({
  datasets: [] as DatasetAnswer[],
  names: [] as NameAnswer[],
  sizes: [] as SizeAnswer[],
});

/** @returns how many columns were added */
function addTo(part: ReturnType<typeof emptyPart>, { dataset, name, size }: Piece): number {
  if (name !== undefined) part.names.push(name);
  if (size !== undefined) part.sizes.push(size);
  if (dataset === undefined) return 0;
  part.datasets.push(dataset);
  return dataset.kind === 'readable' ? (dataset.columns?.length ?? 0) : 0;
}

/**
 * Answers the questions of translation threads about the catalog. An answer holds only what the principal may
 * see. A tenant may have 2,000 datasets of 1,000 columns, so an answer is sent in parts, and other work of
 * the event loop runs between them.
 */
export class CatalogAnswers {
  readonly #parts: CatalogAnswersParts;
  readonly #states = new ColumnStates();

  constructor(parts: CatalogAnswersParts) {
    this.#parts = parts;
  }

  /**
   * Answers a question; the first part is sent at once. An error is sent as the last part.
   * @param post sends a part; returns false if the thread no longer waits for it
   */
  async answer(
    question: CatalogQuestion,
    reader: Reader,
    post: (part: CatalogAnswer) => boolean,
  ): Promise<void> {
    const pieces = await this.#pieces(question, reader);
    try {
      let part = emptyPart();
      let startedMs = performance.now();
      let columns = 0;
      for (const piece of pieces) {
        columns += addTo(part, piece);
        const isFull = columns >= limits.maxColumnsPerMessage;
        if (!isFull && performance.now() - startedMs < limits.translationSliceMs) continue;
        if (!post({ ...part, error: undefined, isLast: false })) return;
        await this.#parts.timers.turn();
        part = emptyPart();
        columns = 0;
        startedMs = performance.now();
      }
      post({ ...part, error: undefined, isLast: true });
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      post({ ...emptyPart(), error: refusalOf(thrown), isLast: true });
    }
  }

  async #pieces(question: CatalogQuestion, reader: Reader): Promise<Generator<Piece>> {
    switch (question.about) {
      case 'names':
        return this.#names(reader);
      case 'datasets':
        return this.#datasets(question, reader);
      case 'sizes':
        return this.#sizes(reader, await this.#parts.storedSizes(reader.tenant));
    }
  }

  *#datasets({ datasets }: Asked<'datasets'>, reader: Reader): Generator<Piece> {
    let length = 0;
    for (const { name, state } of datasets) {
      const answer = this.#describe(name, state, reader);
      if (answer.kind === 'readable') for (const column of answer.columns ?? []) length += column.length;
      if (length > limits.maxCatalogSqlLength) {
        throw new AppError(
          'sql_too_large',
          'There are too many columns in the datasets that the query reads',
        );
      }
      yield { dataset: answer };
    }
  }

  *#names({ principal, tenant }: Reader): Generator<Piece> {
    const { catalog, readableRows } = this.#parts;
    for (const { name, kind } of catalog.list(tenant)) {
      yield readableRows(principal, name) === 'none' ? {} : { name: { name, kind } };
    }
  }

  /** A reader of some rows alone must not learn how many there are. */
  *#sizes({ principal, tenant }: Reader, sizes: StoredSizes | undefined): Generator<Piece> {
    const { catalog, readableRows } = this.#parts;
    if (sizes === undefined) return;
    for (const { name, id } of catalog.list(tenant)) {
      const { rows, diskBytes } = sizes.get(id) ?? nothingStored;
      yield readableRows(principal, name) === 'all' ? { size: { name, rows, diskBytes } } : {};
    }
  }

  /**
   * A dataset of which the principal may read no row is `forbidden`. The audit trail is `absent` instead, so
   * that those who may not read it do not learn whether it exists.
   */
  #describe(name: string, remembered: number | undefined, { principal, tenant }: Reader): DatasetAnswer {
    const { catalog, readableRows } = this.#parts;
    const info = catalog.get(tenant, name);
    if (info === undefined) return { name, kind: 'absent' };
    const rows = readableRows(principal, name);
    if (rows === 'none') return { name, kind: name === auditDataset ? 'absent' : 'forbidden' };
    const state = this.#states.of(info, catalog.version(tenant));
    return {
      name,
      kind: 'readable',
      id: info.id,
      holds: info.kind,
      ready: info.ready && info.arriving?.tables !== true,
      state: state.number,
      columns: state.number === remembered ? undefined : state.names,
      searchFields: catalog.optionsOf?.(tenant, info.id)?.searchFields,
      rows,
    };
  }
}

const nothingStored = { rows: 0, diskBytes: 0 };
