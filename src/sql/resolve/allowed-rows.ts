import { fieldSql, typesOfField } from '../event-fields.ts';
import type { AllowedRows, SeriesColumn } from '../ir.ts';
import type { SqlDataset } from '../sql-catalog.ts';

/**
 * The events that carry one of the reader's tags. A field may have values of several types, of which each
 * that reads like the tag's value counts; a field that the dataset does not have lets nothing through.
 */
export function allowedEvents(dataset: SqlDataset): AllowedRows<string> {
  const { rows } = dataset;
  if (rows === 'all') return rows;
  return rows.flatMap(({ field, value }) => {
    return typesOfField(dataset, field).flatMap((type) => {
      const wanted = { str: value, num: numberOf(value), bool: booleans.get(value) }[type];
      return wanted === undefined ? [] : [{ column: fieldSql(dataset, field, type), value: wanted }];
    });
  });
}

/** The series, and the samples of those series, that carry one of the reader's tags as a label. */
export function allowedSeries({ rows }: SqlDataset): AllowedRows<SeriesColumn> {
  if (rows === 'all') return rows;
  return rows.map(({ field, value }) => ({
    column: field === 'metric_name' ? { kind: 'metric_name' } : { kind: 'label', label: field },
    value,
  }));
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** The number that is written like this and no other, so that no rounding lets another value through. */
function numberOf(text: string): number | undefined {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text ? number : undefined;
}
