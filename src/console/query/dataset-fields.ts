/** A column of a dataset, as `information_schema` describes it. */
export interface Field {
  readonly name: string;
  /** As PostgreSQL names it. */
  readonly type: string;
}

/** What Explore must know of a dataset. */
export interface DatasetFields {
  readonly dataset: string;
  readonly fields: readonly Field[];
  /** The column with the time of a row. */
  readonly time: string;
  /** The column with the text that people read; undefined if no name says which it is. */
  readonly message: string | undefined;
  /** The column with the severity; undefined if there is none. */
  readonly level: string | undefined;
}

const messageNames = ['body', 'message', 'msg', 'log', 'event'];
const levelNames = ['severity_text', 'level', 'severity', 'lvl', 'loglevel', 'log_level'];
const timeNames = ['p_timestamp', 'timestamp'];

/** @returns undefined if it has no column of times: then it is not what Explore shows */
export function describeFields(dataset: string, fields: readonly Field[]): DatasetFields | undefined {
  const find = (names: readonly string[], accepts: (field: Field) => boolean): string | undefined =>
    names.find((name) => fields.some((field) => field.name === name && accepts(field)));
  const time = find(timeNames, isTime);
  if (time === undefined) return undefined;
  return { dataset, fields, time, message: find(messageNames, isText), level: find(levelNames, isText) };
}

export const isText = ({ type }: Field): boolean => type === 'text' || type.startsWith('character');
export const isTime = ({ type }: Field): boolean => type.startsWith('timestamp') || type === 'date';
export const isBoolean = ({ type }: Field): boolean => type === 'boolean';
export const isNumeric = ({ type }: Field): boolean => numericTypes.has(type);

const numericTypes: ReadonlySet<string> = new Set([
  'smallint',
  'integer',
  'bigint',
  'real',
  'double precision',
  'numeric',
]);

/** The levels that colours and letters stand for, most severe first. */
export const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'none'] as const;
export type Level = (typeof levels)[number];

const levelOfPrefix: ReadonlyArray<readonly [prefix: string, level: Level]> = [
  ['fatal', 'fatal'],
  ['crit', 'fatal'],
  ['alert', 'fatal'],
  ['emerg', 'fatal'],
  ['panic', 'fatal'],
  ['err', 'error'],
  ['sev', 'error'],
  ['warn', 'warn'],
  ['info', 'info'],
  ['notice', 'info'],
  ['debug', 'debug'],
  ['dbg', 'debug'],
  ['verbose', 'debug'],
  ['trace', 'trace'],
];

/** The level that a text means, as agents write it: `ERROR`, `warning`, `err`. */
export function levelOf(value: unknown): Level {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return levelOfPrefix.find(([prefix]) => text.startsWith(prefix))?.[1] ?? 'none';
}
