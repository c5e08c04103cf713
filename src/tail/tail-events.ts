import type { AppError } from '../errors.ts';
import { eventId, type TailPosition } from './tail-position.ts';

/**
 * Server-sent events (WHATWG HTML, section 9.2). A row is one line of JSON, in which line feeds are escaped.
 */

/**
 * Tells the client that the tail is there, and where: an id without data is no event, but what a client that
 * loses the connection before the first row resumes behind. Proxies wait for a first byte.
 */
export const beginning = (position: TailPosition, mark: string): Uint8Array =>
  Buffer.from(`: live tail\n\nid: ${eventId(position, mark)}\n\n`);

/** Keeps the connection alive. */
export const heartbeat = (): Uint8Array => Buffer.from(':\n\n');

/** A row. @param position behind it */
export const rowEvent = (json: Uint8Array, position: TailPosition, mark: string): readonly Uint8Array[] => [
  Buffer.from(`id: ${eventId(position, mark)}\ndata: `),
  json,
  twoLineFeeds,
];

const twoLineFeeds = Buffer.from('\n\n');

/** How many rows were left out; `rows` is null where nobody has counted them. */
export interface Skipped {
  readonly rows: number | null;
  readonly reason: SkipReason;
}

/**
 * `rate`: more rows came than are sent. `slow`: the client did not read. `query`: the store could not read
 * them in time. `position`: the id was of another selection, so that the tail begins anew.
 */
export type SkipReason = 'rate' | 'slow' | 'query' | 'position';

/** @param position behind the rows that were left out */
export const skippedEvent = (skipped: Skipped, position: TailPosition, mark: string): Uint8Array =>
  Buffer.from(`event: skipped\nid: ${eventId(position, mark)}\ndata: ${JSON.stringify(skipped)}\n\n`);

/** The last event: why the service ends the tail. */
export const endEvent = ({ code, message }: AppError): Uint8Array =>
  Buffer.from(`event: end\ndata: ${JSON.stringify({ code, detail: message })}\n\n`);
