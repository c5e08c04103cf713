/**
 * How many characters the beginning of a text has, up to an offset: PostgreSQL counts those, and not halves.
 */
export function characters(text: string, end: number): number {
  let count = end;
  for (let at = 1; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0xdc00 && code <= 0xdfff && isHighHalf(text.charCodeAt(at - 1))) count -= 1;
  }
  return count;
}

const isHighHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
