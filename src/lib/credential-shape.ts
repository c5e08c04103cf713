const uuid = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;
const hexadecimal = /^[0-9A-Fa-f]{32,}$/;
/** Generated passwords have 24 characters, session ids 43. */
const minRandomLength = 20;

/**
 * Whether a text could be a key, password or token that was pasted where a name belongs: a UUID, like API
 * keys, a long hexadecimal number, or a long text with lower and upper case letters and digits, like base64.
 */
export const looksLikeCredential = (text: string): boolean =>
  uuid.test(text) ||
  hexadecimal.test(text) ||
  (text.length >= minRandomLength && /[a-z]/.test(text) && /[A-Z]/.test(text) && /[0-9]/.test(text));

/** The name for an error message, in quotes; a placeholder if it could be a credential. */
export const quotedName = (name: string): string =>
  looksLikeCredential(name)
    ? '(a name that looks like a credential, and is not repeated)'
    : JSON.stringify(name);
