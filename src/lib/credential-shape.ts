const uuid = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;
const hexadecimal = /^[0-9A-Fa-f]{32,}$/;
/** Passwords that are made here have 24 characters, ids of sessions 43. */
const minRandomLength = 20;

/**
 * Whether a text could be a key, a password or a token that somebody has put where a name belongs: a UUID, as
 * API keys are, a long hexadecimal number, or a long text with small and capital letters and digits, as
 * base64 has them.
 */
export const looksLikeCredential = (text: string): boolean =>
  uuid.test(text) ||
  hexadecimal.test(text) ||
  (text.length >= minRandomLength && /[a-z]/.test(text) && /[A-Z]/.test(text) && /[0-9]/.test(text));

/** A name for an error about what it names, or does not: in quotes, unless it could be a credential. */
export const quotedName = (name: string): string =>
  looksLikeCredential(name)
    ? '(a name that looks like a credential, and is not repeated)'
    : JSON.stringify(name);
