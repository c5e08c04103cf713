import { describe, expect, it } from 'vitest';
import { quotingHint } from '../../../../src/sql/syntax/quoting-hint.ts';

/** At the mark. */
const hintAt = (text: string) => quotingHint(text.replace('^', ''), text.indexOf('^'));

describe('the hint to quote a name', () => {
  it.each([
    ['select * from otel^-logs', 'otel-logs'],
    ['select * from a join otel^-logs on true', 'otel-logs'],
    ['select * from a, ^2024.app', '2024.app'],
    ['select * from logs^.2024-01 where x', 'logs.2024-01'],
    ['select * from a.b.c^.d', 'a.b.c.d'],
  ])('%s', (text, name) => {
    expect(hintAt(text)).toBe(`; a dataset of the name ${name} is written in double quotes: "${name}"`);
  });

  it.each([
    'select 1 ^- from a',
    'select a^-b',
    'select * from app ^where',
    'select * from ^',
    '^',
    'from ^-',
  ])('is not for %s', (text) => {
    expect(hintAt(text)).toBe('');
  });

  it('looks at a bounded part of the text', () => {
    expect(hintAt(`select * from ${'a-'.repeat(100_000)}^`)).toBe('');
  });
});
