import { createHash } from 'node:crypto';
import { limits } from '../limits/limits.ts';

/**
 * A place in the order of arrival: all inserts before this one are behind it, and so many of the rows of this
 * one that the tail asks for.
 */
export interface TailPosition {
  readonly insert: number;
  readonly rows: number;
}

/** What a tail reads. Positions count the rows of one selection and mean nothing to another. */
export interface TailSelection {
  readonly tenant: string;
  /** The id of the dataset. */
  readonly dataset: string;
  readonly condition: string;
  /** What of the dataset may be read, as text: the same text, the same rows. */
  readonly readable: string;
}

/** Names a selection in the ids of events: those of another are not taken for its own. */
export const selectionMark = ({ tenant, dataset, condition, readable }: TailSelection): string =>
  createHash('sha256')
    .update(JSON.stringify([tenant, dataset, condition, readable]))
    .digest('base64url')
    .slice(0, markLength);

const markLength = 12;

/** The `id` of the event after which a tail is at this position. */
export const eventId = ({ insert, rows }: TailPosition, mark: string): string => `${insert}.${rows}.${mark}`;

/** The position of an event of this selection; undefined for any other text. */
export function parseEventId(text: string, mark: string): TailPosition | undefined {
  const [insert = '', rows = '', of, ...more] = text.split('.');
  if (of !== mark || more.length > 0) return undefined;
  if (!wholeNumber.test(insert) || !wholeNumber.test(rows)) return undefined;
  const position = { insert: Number(insert), rows: Number(rows) };
  return position.rows <= limits.maxTailRows ? position : undefined;
}

/** As many digits as a double holds exactly. */
const wholeNumber = /^\d{1,15}$/;
