/** How PostgreSQL's settings `DateStyle` and `IntervalStyle` have times written and read. */

export type DateOrder = 'MDY' | 'DMY' | 'YMD';

export interface DateStyle {
  readonly format: 'ISO' | 'SQL' | 'Postgres' | 'German';
  /** In which dates of three numbers are read, and in most formats written. */
  readonly order: DateOrder;
}

export const intervalStyles = ['postgres', 'postgres_verbose', 'sql_standard', 'iso_8601'] as const;
export type IntervalStyle = (typeof intervalStyles)[number];

export const isoStyle: DateStyle = { format: 'ISO', order: 'MDY' };

/** As PostgreSQL shows it: `ISO, MDY`. */
export const dateStyleText = ({ format, order }: DateStyle): string => `${format}, ${order}`;

/**
 * `ISO`, `SQL, DMY`, `German`: what the text does not say stays as it is (check_datestyle in
 * src/backend/commands/variable.c).
 * @returns undefined for other texts, and for those that say two things
 */
export function readDateStyle(text: string, current: DateStyle = isoStyle): DateStyle | undefined {
  let format: DateStyle['format'] | undefined;
  let order: DateOrder | undefined;
  let defaults: DateStyle | undefined;
  for (const part of text.split(',')) {
    const word = part.trim().toLowerCase();
    const [newFormat, newOrder] = [formatOf(word), orderOf(word)];
    if (word === 'default') defaults = isoStyle;
    else if (newFormat === undefined && newOrder === undefined) return undefined;
    if ((newFormat ?? format) !== (format ?? newFormat) || (newOrder ?? order) !== (order ?? newOrder))
      return undefined;
    format ??= newFormat;
    order ??= newOrder;
  }
  const isGerman = format === 'German' && order === undefined;
  return {
    format: format ?? (defaults ?? current).format,
    order: isGerman ? 'DMY' : (order ?? (defaults ?? current).order),
  };
}

function formatOf(word: string): DateStyle['format'] | undefined {
  if (word.startsWith('postgres')) return 'Postgres';
  return ({ iso: 'ISO', sql: 'SQL', german: 'German' } as const)[word];
}

function orderOf(word: string): DateOrder | undefined {
  if (word === 'ymd') return 'YMD';
  if (word === 'dmy' || word.startsWith('euro')) return 'DMY';
  return word === 'mdy' || word === 'us' || word.startsWith('noneuro') ? 'MDY' : undefined;
}
