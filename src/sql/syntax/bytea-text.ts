/**
 * Bytes as PostgreSQL writes them: `\x` with two digits for each byte, or as text, in which a backslash
 * stands before another one or before three octal digits (byteain in src/backend/utils/adt/varlena.c).
 * @returns digits of base 16; undefined for a text that is neither
 */
export function readBytes(text: string): string | undefined {
  if (text.startsWith('\\x')) {
    const digits = text.slice(2).replace(/\s/g, '');
    return /^(?:[0-9a-fA-F]{2})*$/.test(digits) ? digits.toUpperCase() : undefined;
  }
  if (/\\(?!\\|[0-3][0-7]{2})/.test(text.replaceAll('\\\\', ''))) return undefined;
  const pieces = text.split(/(\\\\|\\[0-3][0-7]{2})/);
  const bytes = pieces.map((piece) => {
    if (piece === '\\\\') return Buffer.from('\\');
    return /^\\[0-3][0-7]{2}$/.test(piece)
      ? Buffer.of(Number.parseInt(piece.slice(1), 8))
      : Buffer.from(piece);
  });
  return Buffer.concat(bytes).toString('hex').toUpperCase();
}
