import * as v from 'valibot';
import type { Schema } from '../../lib/validation.ts';
import type { ReplyReference } from './route.ts';

/** A JSON body, for the reference of the API. */
export const jsonContent = (schema: Schema<unknown>): NonNullable<ReplyReference['content']> => ({
  'application/json': schema,
});

/** A body of plain text. */
export const textContent: NonNullable<ReplyReference['content']> = { 'text/plain': v.string() };

/** A body in a binary or line-based format that has no JSON schema. */
export const bytes = v.unknown();

/** ISO 8601, UTC. */
export const timestamp = v.pipe(v.string(), v.isoTimestamp());
