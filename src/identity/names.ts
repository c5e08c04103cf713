import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';

const identifier = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,${limits.identityNameMaxLength - 1}}$`);
const keyName = /^(?! )[^\p{C}\p{Zl}\p{Zp}]+(?<! )$/u;

/**
 * A role's or user's name: it stands in paths, in Basic authentication and in logs.
 * @throws AppError `bad_name`
 */
export function checkIdentifier(name: string, what: 'role' | 'user'): string {
  if (identifier.test(name)) return name;
  throw new AppError(
    'bad_name',
    `this is not a ${what} name: use letters, digits and . _ @ + -, starting with a letter or digit, at most ${limits.identityNameMaxLength}`,
  );
}

/**
 * The name of an API key: any text that people can read.
 * @throws AppError `bad_name`
 */
export function checkKeyName(name: string): string {
  if (name.length <= limits.identityNameMaxLength && keyName.test(name)) return name;
  throw new AppError(
    'bad_name',
    `this is not the name of a key: use 1 to ${limits.identityNameMaxLength} printable characters, with no space at either end`,
  );
}

/** Users that an identity provider vouches for: no name of another user has a colon. */
const oauthPrefix = 'oauth:';

export const oauthId = (subject: string): string => oauthPrefix + subject;

/** The subject in the id of such a user; undefined for the name of another one. */
export const subjectOf = (id: string): string | undefined =>
  id.startsWith(oauthPrefix) ? id.slice(oauthPrefix.length) : undefined;

/**
 * The name is not repeated, nor is that of a role or the id of a key: somebody may have put a secret in its
 * place.
 */
export const noUser = (): AppError => new AppError('not_found', 'there is no user of this name');
