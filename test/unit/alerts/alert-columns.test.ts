import { describe, expect, it } from 'vitest';
import { findValueColumn, RowReader } from '../../../src/alerts/alert-columns.ts';
import { postgresType } from '../../../src/sql/postgres-types.ts';
import { bool, float, int8, type SqlType, text, timestamptz } from '../../../src/sql/types.ts';

const columns = (types: Readonly<Record<string, SqlType>>) =>
  Object.entries(types).map(([name, type]) => ({ name, type: postgresType(type) }));

describe('the column that a threshold is compared with', () => {
  it.each([
    ['the only aggregate', { host: text, code: int8, count: int8 }, ['count'], 'count'],
    ['the one named value', { value: float, count: int8, max: int8 }, ['count', 'max'], 'value'],
    ['the only number', { host: text, ratio: float }, [], 'ratio'],
  ] as const)('is %s', (_, types, aggregates, name) => {
    expect(findValueColumn(columns(types), aggregates)).toBe(name);
  });

  it.each([
    ['two aggregates', { count: int8, max: int8 }, ['count', 'max'], 'Found 2 aggregate expressions'],
    ['two numbers', { a: int8, b: int8 }, [], 'Found 0 aggregate expressions'],
    ['no number', { a: text }, [], 'Found 0 aggregate expressions'],
    ['an aggregate that is no number', { max: text }, ['max'], 'compared with a number'],
  ] as const)('is not found among %s', (_, types, aggregates, reason) => {
    expect(() => findValueColumn(columns(types), aggregates)).toThrow(reason);
  });
});

describe('a row', () => {
  const grouped = columns({ host: text, up: bool, code: int8, count: int8, at: timestamptz });
  const threshold = { operator: '>', value: 5 } as const;

  it('with a threshold has all other columns as labels', () => {
    const reader = new RowReader(grouped, { threshold, valueColumn: 'count', annotations: {} });
    const row = { host: 'a', up: true, code: 200, count: 6, at: '2026-01-01T00:00:00Z' };
    expect(reader.read(row)).toEqual({
      labels: { host: 'a', up: 'true', code: '200', at: '2026-01-01T00:00:00Z' },
      annotations: {},
      value: 6,
      finding: 'holds',
    });
    expect(reader.read({ ...row, count: 5 }).finding).toBe('holdsNot');
  });

  it('without one has texts and booleans as labels, and always holds', () => {
    const named = columns({ host: text, up: bool, code: int8, value: float, at: timestamptz });
    const reader = new RowReader(named, { annotations: {} });
    const row = { host: 'a', up: false, code: 200, value: null, at: '2026-01-01T00:00:00Z' };
    expect(reader.read(row)).toEqual({
      labels: { host: 'a', up: 'false' },
      annotations: {},
      finding: 'holds',
    });
    expect(reader.read({ ...row, value: 7, host: null })).toMatchObject({
      labels: { up: 'false' },
      value: 7,
    });
  });

  it.each([
    [null, '<', 'noData'],
    ['nan', '!=', 'noData'],
    ['inf', '>', 'holds'],
    ['-inf', '<', 'holds'],
    [0, '<', 'holds'],
    [5, '>=', 'holds'],
    [5, '<=', 'holds'],
    [5, '=', 'holds'],
    [5, '!=', 'holdsNot'],
  ] as const)('%s %s 5: %s', (value, operator, finding) => {
    const reader = new RowReader(columns({ n: float }), {
      threshold: { operator, value: 5 },
      valueColumn: 'n',
      annotations: {},
    });
    expect(reader.read({ n: value }).finding).toBe(finding);
  });

  it('fills in the annotations', () => {
    const annotations = {
      summary: '{{ host }} has {{count}} of {{ nothing }}{{',
      long: '{{host}}'.repeat(100),
    };
    const reader = new RowReader(grouped, { threshold, valueColumn: 'count', annotations });
    const read = reader.read({ host: 'h'.repeat(400), count: 6 });
    expect(read.annotations['summary']).toBe(`${'h'.repeat(400)} has 6 of {{`);
    expect(read.annotations['long']).toHaveLength(1000);
  });

  it('with labels that are too long is refused', () => {
    const reader = new RowReader(grouped, { threshold, valueColumn: 'count', annotations: {} });
    expect(() => reader.read({ host: 'h'.repeat(501), count: 6 })).toThrow('501 characters; 500 are allowed');
  });

  it('without the number that there was says so', () => {
    expect(
      () => new RowReader(columns({ a: text }), { threshold, valueColumn: 'n', annotations: {} }),
    ).toThrow('the query has no number "n" any more');
  });
});
