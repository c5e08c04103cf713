import { AppError } from '../../errors.ts';
import { jsonReply, type Reply } from './reply.ts';

/** As many tags as a client can know of one document. */
const maxTags = 20;
/**
 * A tag of a revision. A weak one counts too: proxies that compress a reply make its tag weak, and the
 * revision is still the same.
 */
const tag = /^(?:W\/)?"(\d{1,15})"$/;

/** The header `ETag` of a document. */
export const entityTag = (revision: number): string => `"${revision}"`;

/** A reply with a document and its revision. */
export const documentReply = (revision: number, value: unknown): Reply => ({
  ...jsonReply(value),
  headers: [['ETag', entityTag(revision)]],
});

/**
 * The revisions that a change may replace.
 * @param ifMatch the header If-Match; empty when absent
 * @returns undefined for any: without the header, and with `*`
 * @throws AppError `bad_header`
 */
export function allowedRevisions(ifMatch: string): readonly number[] | undefined {
  const text = ifMatch.trim();
  if (text === '' || text === '*') return undefined;
  const tags = text.split(',', maxTags + 1).map((each) => tag.exec(each.trim())?.[1]);
  if (tags.length > maxTags || tags.includes(undefined)) {
    throw new AppError(
      'bad_header',
      'If-Match must be the ETag of the document, such as "3", or several with commas between them, or *',
    );
  }
  return tags.map(Number);
}
