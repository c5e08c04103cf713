import type { Cell } from '../query/parse-result.ts';

/** A browser lays out 2,000 characters in a millisecond, and a million in a fifth of a second. */
export const maxCellLength = 2000;

/** A value as text. */
export function cellText(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A value as text for one line, no longer than a cell shows. */
export function shortCellText(value: Cell): string {
  const text = cellText(value);
  return text.length > maxCellLength ? `${text.slice(0, maxCellLength)}…` : text;
}

/** A link that may be followed; undefined for any other text, whatever scheme it has. */
export function webLink(text: string): string | undefined {
  if (!/^https?:\/\/[^\s]+$/i.test(text) || text.length > maxCellLength) return undefined;
  return URL.parse(text)?.href;
}
