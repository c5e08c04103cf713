import { AppError } from '../errors.ts';
import { quotedName } from '../lib/credential-shape.ts';
import { limits } from '../limits/limits.ts';
import type { ResultColumn } from '../sql/translate-query.ts';
import type { AlertRule, Threshold } from './alert-document.ts';
import type { Observation } from './instance-states.ts';

/** What the columns of a result are to an alert, and what its rows say. Pure. */

type Column = Pick<ResultColumn, 'name' | 'type'>;

const numbers: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'float', 'numeric']);
const texts: ReadonlySet<string> = new Set(['text', 'bool', 'mixed', 'unknown']);

const isNumber = ({ type }: Column): boolean => numbers.has(type.sql.name);

/** The column of this name is the number of a row, whatever else there is. */
const valueName = 'value';

/**
 * The column that a threshold is compared with: the one named `value`, or the only aggregate, or the only
 * number.
 * @param aggregates the names of the columns that are aggregates
 * @throws AppError `bad_alert`
 */
export function findValueColumn(columns: readonly Column[], aggregates: readonly string[]): string {
  const named = columns.find(({ name }) => name === valueName);
  if (named !== undefined && isNumber(named)) return named.name;
  const ofQuery = columns.filter(({ name }) => aggregates.includes(name));
  const candidates = ofQuery.length > 0 ? ofQuery : columns.filter(isNumber);
  const [column] = candidates;
  if (column === undefined || candidates.length > 1) {
    throw new AppError(
      'bad_alert',
      `Invalid alert query: Found ${ofQuery.length} aggregate expressions, only 1 allowed; or name the number "${valueName}"`,
    );
  }
  if (isNumber(column)) return column.name;
  const reason = `the column ${quotedName(column.name)} is ${column.type.label}`;
  throw new AppError(
    'bad_alert',
    `Invalid alert query: a threshold is compared with a number, and ${reason}`,
  );
}

/** What the rows of one result say, row by row. */
export class RowReader {
  readonly #rule: Pick<AlertRule, 'threshold' | 'annotations'>;
  readonly #value: string | undefined;
  readonly #labels: readonly string[];
  readonly #templates: ReadonlyArray<readonly [name: string, template: string]>;

  /** @throws AppError `alert_result_too_large`, `bad_alert` if the number is missing */
  constructor(
    columns: readonly Column[],
    rule: Pick<AlertRule, 'threshold' | 'valueColumn' | 'annotations'>,
  ) {
    const wanted = rule.valueColumn ?? valueName;
    this.#value = columns.find((column) => column.name === wanted && isNumber(column))?.name;
    if (rule.threshold !== undefined && this.#value === undefined) {
      throw new AppError('bad_alert', `the query has no number ${quotedName(wanted)} any more`);
    }
    const others = columns.filter(({ name }) => name !== this.#value);
    const labels =
      rule.threshold === undefined ? others.filter(({ type }) => texts.has(type.sql.name)) : others;
    if (labels.length > limits.maxInstanceLabels) {
      const reason = `the query has ${labels.length} columns that are labels; ${limits.maxInstanceLabels} are allowed`;
      throw new AppError('alert_result_too_large', reason);
    }
    this.#rule = rule;
    this.#labels = labels.map(({ name }) => name);
    this.#templates = Object.entries(rule.annotations);
  }

  /**
   * @param row as JSON gives it
   * @throws AppError `alert_result_too_large`
   */
  read(row: Readonly<Record<string, unknown>>): Observation {
    const labels: Record<string, string> = {};
    let length = 0;
    for (const name of this.#labels) {
      const text = textOf(row[name]);
      if (text === '') continue;
      if (text.length > limits.maxInstanceLabelLength) {
        throw tooLarge(
          `a value of ${quotedName(name)} has ${text.length} characters`,
          'maxInstanceLabelLength',
        );
      }
      length += name.length + text.length;
      labels[name] = text;
    }
    if (length > limits.maxInstanceLabelsLength) {
      throw tooLarge(`the labels of a row have ${length} characters`, 'maxInstanceLabelsLength');
    }
    const value = this.#value === undefined ? undefined : numberOf(row[this.#value]);
    const annotations = Object.fromEntries(
      this.#templates.map(([name, template]) => [name, filled(template, row)]),
    );
    const shown = value !== undefined && Number.isFinite(value) ? { value } : {};
    return { labels, annotations, ...shown, finding: findingOf(value, this.#rule.threshold) };
  }
}

function findingOf(value: number | undefined, threshold: Threshold | undefined): Observation['finding'] {
  if (threshold === undefined) return 'holds';
  if (value === undefined) return 'noData';
  return compare(value, threshold) ? 'holds' : 'holdsNot';
}

function compare(value: number, { operator, value: bound }: Threshold): boolean {
  switch (operator) {
    case '>':
      return value > bound;
    case '<':
      return value < bound;
    case '>=':
      return value >= bound;
    case '<=':
      return value <= bound;
    case '=':
      return value === bound;
    case '!=':
      return value !== bound;
  }
}

/** Undefined for NULL and NaN. JSON has infinities as text. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' ? infinities.get(value.toLowerCase()) : value;
  return typeof number === 'number' && !Number.isNaN(number) ? number : undefined;
}

const infinities: ReadonlyMap<string, number> = new Map([
  ['infinity', Number.POSITIVE_INFINITY],
  ['inf', Number.POSITIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
]);

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const placeholder = /\{\{([^{}]{1,200})\}\}/g;

/** A name that is no column stands for nothing. */
const filled = (template: string, row: Readonly<Record<string, unknown>>): string =>
  template
    .replace(placeholder, (_, name: string) => {
      const key = name.trim();
      return Object.hasOwn(row, key) ? textOf(row[key]) : '';
    })
    .slice(0, limits.maxAnnotationLength);

const tooLarge = (what: string, bound: 'maxInstanceLabelLength' | 'maxInstanceLabelsLength'): AppError =>
  new AppError('alert_result_too_large', `${what}; ${limits[bound]} are allowed`);
