import { isUnitName } from './datetime.ts';
import { isMonthsUnit } from './interval-spellings.ts';
import { isDateWord } from './timestamp-spellings.ts';
import { abbreviationSeconds } from './zone-offset.ts';

/** No spelling is longer. */
const maxLength = 200;

/**
 * Julian days, years before Christ, a leap second, days of the year, clocks without colons, and seconds of
 * an offset.
 */
const beyond =
  /(?:^|\s)j\d|(?:^|\s)(?:bc|ad|allballs)(?:\s|$)|:60|\d{6}[-+]\d|\d{4}[.-]?\d{3}(?!\d)|\dt\d|\s\d{4}(?:\d{2})?(?:\D|$)|[-+]\d{2}:\d{2}:\d{2}$|(?:utc|gmt)[-+]\d|(?:today|tomorrow|yesterday)[\s+-]/i;

/**
 * True for a text of numbers and words as dates and times have them, with one that PostgreSQL reads and
 * that is not supported.
 */
export function mayBeTimestamp(text: string): boolean {
  return (
    text.length <= maxLength &&
    beyond.test(text) &&
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .every(isTimestampWord)
  );
}

/** By area and city, or like `EST5EDT`. */
const zoneName = /^[a-z_]+(\/[a-z0-9_+-]+)+$|^[a-z]{3}\d[a-z]{3}$/i;

const isTimestampWord = (word: string): boolean =>
  /^j?[\d+\-./:,tz]*$/.test(word) ||
  isDateWord(word) ||
  abbreviationSeconds(word) !== undefined ||
  zoneName.test(word) ||
  // A name or zone directly at a number: `31-Mar-2024`, `3:30pm`, `2024-W13-7`.
  (word.match(/[a-z_/]+/g) ?? []).every(
    (name) => /^[tzwj]$/.test(name) || isDateWord(name) || abbreviationSeconds(name) !== undefined,
  );

/** Likewise for intervals. */
export function mayBeInterval(text: string): boolean {
  if (text.length > maxLength || !/\d/.test(text)) return false;
  const names = text.toLowerCase().match(/[a-z]+/g) ?? [];
  const rest = text.replaceAll(/[a-z]+/gi, '');
  return (
    /^[\d\s+\-.:,@]*$/.test(rest) &&
    new Set(names).size === names.length &&
    names.every((name) => isUnitName(name) || isMonthsUnit(name) || /^[pt]$|^ago$/.test(name))
  );
}
