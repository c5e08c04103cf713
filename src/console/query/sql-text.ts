/**
 * The only place where names and texts become SQL. Whatever they hold, they stay one identifier or one
 * literal.
 */

/** A name as an identifier: in double quotes, which are doubled inside. */
export const identifier = (name: string): string => `"${withoutNul(name).replaceAll('"', '""')}"`;

/** A text as a literal: in single quotes, which are doubled inside. Backslashes mean themselves. */
export const literal = (text: string): string => `'${withoutNul(text).replaceAll("'", "''")}'`;

/** A pattern of LIKE that a text matches if it holds these pieces, with anything between them. */
export const likePattern = (pieces: readonly string[]): string => literal(pieces.map(escapeLike).join('%'));

/** Characters that mean something in a pattern. */
const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** PostgreSQL has no texts with this character, so nothing can be equal to one. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\u{fffd}');
