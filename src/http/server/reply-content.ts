import * as v from 'valibot';
import type { Schema } from '../../lib/validation.ts';
import type { ReplyReference } from './route.ts';

/** A body of JSON, for the reference of the API. */
export const jsonContent = (schema: Schema<unknown>): NonNullable<ReplyReference['content']> => ({
  'application/json': schema,
});

/** A body of plain text. */
export const textContent: NonNullable<ReplyReference['content']> = { 'text/plain': v.string() };

/** Bytes of a format of its own. */
export const bytes = v.unknown();

/** ISO 8601, UTC. */
export const timestamp = v.pipe(v.string(), v.isoTimestamp());
