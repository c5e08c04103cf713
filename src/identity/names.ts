import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';

const identifier = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,${limits.identityNameMaxLength - 1}}$`);
const keyName = /^(?! )[^\p{C}\p{Zl}\p{Zp}]+(?<! )$/u;

/**
 * Checks the name of a role or user. It must be safe in paths, in Basic authentication and in logs.
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
 * Checks the name of an API key, which may be any printable text.
 * @throws AppError `bad_name`
 */
export function checkKeyName(name: string): string {
  if (name.length <= limits.identityNameMaxLength && keyName.test(name)) return name;
  throw new AppError(
    'bad_name',
    `this is not the name of a key: use 1 to ${limits.identityNameMaxLength} printable characters, with no space at either end`,
  );
}

/** Begins the ids of users of the identity provider. No other name has a colon, so ids cannot collide. */
const oauthPrefix = 'oauth:';

export const oauthId = (subject: string): string => oauthPrefix + subject;

/** The subject in the id of a user of the identity provider; undefined for other users. */
export const subjectOf = (id: string): string | undefined =>
  id.startsWith(oauthPrefix) ? id.slice(oauthPrefix.length) : undefined;

/**
 * The message does not repeat the name: a client may have sent a secret in its place. For the same reason,
 * messages do not repeat names of roles or ids of keys that do not exist.
 */
export const noUser = (): AppError => new AppError('not_found', 'there is no user of this name');
