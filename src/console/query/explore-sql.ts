import type { Bounds } from './chosen-range.ts';
import type { DatasetFields } from './dataset-fields.ts';
import { identifier, literal } from './sql-text.ts';

/** What Explore asks about: a dataset, a time, and the condition of the search, which may be empty. */
export interface Question {
  readonly dataset: DatasetFields;
  readonly bounds: Bounds;
  readonly condition: string;
}

const timeLiteral = (ms: number): string => literal(new Date(ms).toISOString());

function where({ dataset: { time }, bounds, condition }: Question): string {
  const column = identifier(time);
  const range = `${column} >= ${timeLiteral(bounds.fromMs)} AND ${column} < ${timeLiteral(bounds.toMs)}`;
  return condition === '' ? range : `${range}\n   AND ${condition}`;
}

/** The newest rows, with all columns. */
export const rowsSql = (question: Question, limit: number): string =>
  `SELECT *\n  FROM ${identifier(question.dataset.dataset)}\n WHERE ${where(question)}\n ORDER BY ${identifier(question.dataset.time)} DESC\n LIMIT ${limit}`;

/** All rows, for a download. */
export const allRowsSql = (question: Question): string =>
  `SELECT *\n  FROM ${identifier(question.dataset.dataset)}\n WHERE ${where(question)}\n ORDER BY ${identifier(question.dataset.time)} DESC`;

/** Groups of bars and levels that a histogram may have: more levels than people tell apart. */
const maxHistogramGroups = 5000;

/** Rows by time and, if the dataset has one, by level. */
export function histogramSql(question: Question, widthMs: number): string {
  const { dataset, time, level } = question.dataset;
  const bin = `date_bin(INTERVAL '${widthMs} milliseconds', ${identifier(time)}, TIMESTAMPTZ '1970-01-01T00:00:00Z')`;
  const levelText = level === undefined ? `''` : identifier(level);
  return `SELECT ${bin} AS bar, ${levelText} AS level, count(*) AS rows\n  FROM ${identifier(dataset)}\n WHERE ${where(question)}\n GROUP BY 1, 2\n ORDER BY 1\n LIMIT ${maxHistogramGroups}`;
}

/** Rows that the values of a field are counted over. */
export const topValueRows = 100_000;

/** The ten most frequent values of a field among the newest rows. */
export function topValuesSql(question: Question, field: string): string {
  const { dataset, time } = question.dataset;
  const column = identifier(field);
  return `SELECT ${column} AS value, count(*) AS rows\n  FROM (SELECT ${column}\n          FROM ${identifier(dataset)}\n         WHERE ${where(question)}\n         ORDER BY ${identifier(time)} DESC\n         LIMIT ${topValueRows}) AS newest\n GROUP BY 1\n ORDER BY 2 DESC\n LIMIT 10`;
}

/** How many of the newest rows have a field, and with how many values. */
export function fieldShareSql(question: Question, field: string): string {
  const { dataset, time } = question.dataset;
  const column = identifier(field);
  return `SELECT count(*) AS rows, count(${column}) AS present, count(DISTINCT ${column}) AS distinct_values\n  FROM (SELECT ${column}\n          FROM ${identifier(dataset)}\n         WHERE ${where(question)}\n         ORDER BY ${identifier(time)} DESC\n         LIMIT ${topValueRows}) AS newest`;
}

/** The columns of a dataset. */
export const columnsSql = (dataset: string): string =>
  `SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ${literal(dataset)} ORDER BY ordinal_position`;
