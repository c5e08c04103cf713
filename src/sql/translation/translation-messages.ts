import type { DatasetKind } from '../../model/dataset.ts';
import type { Tag } from '../../model/identity.ts';
import type { ArrivalQuestion } from '../arrival-query.ts';
import type { CatalogSession } from '../catalog-session.ts';
import type { RangeShape } from '../ir.ts';
import type { GivenParameters } from '../parameters.ts';
import type { TimeSettings } from '../session-times.ts';
import type { DatasetSize } from '../sql-catalog.ts';
import type { Translation } from '../translate-query.ts';
import type { Refusal } from './refusal.ts';

/** What the main thread and the threads that translate tell each other: data only. */

/** To a thread, once. */
export interface TranslatorStart<Port> {
  /** For questions about the catalog and their answers. */
  readonly port: Port;
  /** Of this program, for `version()`. */
  readonly version: string;
}

/** From a thread, once it can translate. */
export interface TranslatorReady {
  /** Its id in the system, by which its CPU time is read; undefined where that cannot be done. */
  readonly threadId: number | undefined;
}

/** To a thread: one query to translate. */
export interface TranslationTask {
  /** Of the query; of a question about arrivals, the condition. */
  readonly text: string;
  readonly arrivals?: ArrivalQuestion | undefined;
  /** Whose datasets the thread may have described already. */
  readonly tenant: string;
  /** Numbers which datasets whoever asks may read: as long as these are the same, so is the number. */
  readonly readable: number;
  /** Which ends the time range has. */
  readonly range: RangeShape;
  readonly parameters: GivenParameters;
  readonly session?: CatalogSession;
  /** Whether the statement is needed where the rows are known; true if it is not said. */
  readonly needsSql?: boolean;
  /** Settings of the session. */
  readonly times?: TimeSettings;
}

/** The end of a task. */
export type TranslationReply = TranslationOutcome & {
  /** What the thread holds outside of its heap. */
  readonly externalBytes: number;
};

export type TranslationOutcome =
  | { readonly kind: 'translated'; readonly translation: Translation }
  /** The query reads this dataset, whose tables are not there yet. */
  | { readonly kind: 'unready'; readonly dataset: string; readonly relations: readonly string[] }
  | {
      readonly kind: 'refused';
      readonly error: Refusal;
      /** Datasets that the query may mean; empty if it could not be parsed or is about the catalog. */
      readonly relations: readonly string[];
    }
  /** The query was too much for the thread, which must not be used again. */
  | { readonly kind: 'broken'; readonly reason: string }
  /** The translator has a bug. */
  | { readonly kind: 'failed'; readonly reason: string };

/** From a thread while it is at work on a task: what it needs to know of the catalog to go on. */
export type CatalogQuestion =
  | {
      readonly about: 'datasets';
      /** Each with the state in which the thread remembers its columns. */
      readonly datasets: readonly { readonly name: string; readonly state: number | undefined }[];
    }
  /** Which datasets may be read, for suggestions and `information_schema`. */
  | { readonly about: 'names' }
  /** What is stored of the datasets all of whose rows may be read. */
  | { readonly about: 'sizes' };

/** The answer comes in parts, so that the main thread is never busy with one for long. */
export interface CatalogAnswer {
  readonly datasets: readonly DatasetAnswer[];
  readonly names: readonly { readonly name: string; readonly kind: DatasetKind }[];
  readonly sizes: readonly (DatasetSize & { readonly name: string })[];
  /** Instead of all that has not come yet. */
  readonly error: Refusal | undefined;
  readonly isLast: boolean;
}

export type DatasetAnswer = { readonly name: string } & (
  | { readonly kind: 'absent' }
  | { readonly kind: 'forbidden' }
  | {
      readonly kind: 'readable';
      readonly id: string;
      readonly holds: DatasetKind;
      /** Whether its tables are there. */
      readonly ready: boolean;
      /** Stands for these columns of this dataset and no others. */
      readonly state: number;
      /** Names of the physical columns; undefined where the thread remembers this state. */
      readonly columns: readonly string[] | undefined;
      /** Fields of events whose texts have an index. */
      readonly searchFields?: readonly string[] | undefined;
      /** Of whoever asks. */
      readonly rows: 'all' | readonly Tag[];
    }
);
