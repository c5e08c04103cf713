/**
 * PostgreSQL cuts identifiers to this many bytes (NAMEDATALEN - 1), at a character. Its parser
 * has done so already.
 */
const maxIdentifierBytes = 63;
/** What is left of a longer name has at least this many characters, of up to 4 bytes each. */
const minClippedCharacters = Math.floor((maxIdentifierBytes - 3) / 4);

/** Whether an identifier of a query means a name, which may be longer than identifiers can be. */
export const isNamed = (name: string, identifier: string): boolean =>
  name === identifier || (identifier.length >= minClippedCharacters && clipped(name) === identifier);

/** The identifiers that mean a name. */
export const identifiersOf = (name: string): readonly string[] => {
  const short = clipped(name);
  return short === name || short.length < minClippedCharacters ? [name] : [name, short];
};

function clipped(name: string): string {
  if (name.length * 3 <= maxIdentifierBytes) return name;
  const bytes = Buffer.from(name);
  if (bytes.length <= maxIdentifierBytes) return name;
  let end = maxIdentifierBytes;
  // Not in the middle of a character: its later bytes are 10xxxxxx.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}
