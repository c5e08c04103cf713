import * as v from 'valibot';
import type { Owner, StoredDocument } from '../../../documents/document.ts';
import { AppError } from '../../../errors.ts';
import { isUlid } from '../../../lib/ulid.ts';
import { queryParameters } from '../../server/query-parameters.ts';
import { timestamp } from '../../server/reply-content.ts';
import type { HeaderReference, ParameterReference } from '../../server/route.ts';

/** The path parameter of routes about one document. */
export const documentId = (what: string): ParameterReference => ({
  description: `The id of the ${what}, a ULID.`,
  schema: v.pipe(v.string(), v.minLength(1)),
});

export const ifMatchHeader: HeaderReference = {
  name: 'If-Match',
  description:
    'The ETag of the revision that the change is about. If the document has changed since, the reply is 412. Without the header, the change is made to whatever revision there is.',
  schema: v.string(),
};

export const etag = { ETag: 'The revision, in quotes.' };

/**
 * An id as it is kept.
 * @throws AppError with this code if it is no ULID
 */
export function readDocumentId(parameter: string, what: string, code: 'bad_request' | 'not_found'): string {
  if (isUlid(parameter)) return parameter.toUpperCase();
  throw new AppError(code, `this is not the id of a ${what}, which is a ULID`);
}

/** `2026-01-02 03:04:05.678 UTC` */
export const listedTime = (iso: string): string => iso.replace('T', ' ').replace('Z', ' UTC');

export const revisionParameters = queryParameters({
  revision: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[1-9]\d{0,14}$/, 'must be the number of a revision'),
      v.description('The revision to show; without it, all that are kept are listed.'),
    ),
  ),
});

/** What a list of revisions tells of each. */
export const listedRevision = v.object({
  revision: v.number(),
  modified: timestamp,
  modifiedBy: v.pipe(v.string(), v.description('Who made it.')),
});

export const showRevision = ({ revision, modified, modifiedBy }: StoredDocument) => ({
  revision,
  modified,
  modifiedBy: authorOf(modifiedBy),
});

/** @throws AppError `not_found` */
export function revisionOf<Kept extends StoredDocument>(revisions: readonly Kept[], wanted: string): Kept {
  const found = revisions.find(({ revision }) => revision === Number(wanted));
  if (found !== undefined) return found;
  const kept = revisions.map(({ revision }) => revision).join(', ');
  throw new AppError('not_found', `this revision is not kept; those that are: ${kept}`);
}

/** Of a document, as people know them. */
export const authorOf = ({ name }: Owner): string => name;
