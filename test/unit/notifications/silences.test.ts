import { describe, expect, it } from 'vitest';
import { CompiledMatchers, type Matcher } from '../../../src/notifications/silence-matchers.ts';
import { caughtCode } from '../../support/lib/caught.ts';

const equal = (name: string, value: string): Matcher => ({ name, value, isRegex: false, isEqual: true });
const unequal = (name: string, value: string): Matcher => ({ name, value, isRegex: false, isEqual: false });
const like = (name: string, value: string): Matcher => ({ name, value, isRegex: true, isEqual: true });
const unlike = (name: string, value: string): Matcher => ({ name, value, isRegex: true, isEqual: false });

const matches = (matcher: Matcher, host?: string): boolean =>
  new CompiledMatchers([matcher]).matches(host === undefined ? {} : { host });

describe('matchers of silences', () => {
  it('compare a value', () => {
    expect(matches(equal('host', 'db-1'), 'db-1')).toBe(true);
    expect(matches(equal('host', 'db-1'), 'db-10')).toBe(false);
    expect(matches(unequal('host', 'db-1'), 'db-10')).toBe(true);
    expect(matches({ name: 'host', value: 'a', isRegex: false }, 'a')).toBe(true);
  });

  it('compare the whole value with a regular expression', () => {
    expect(matches(like('host', 'db-\\d+'), 'db-17')).toBe(true);
    expect(matches(like('host', 'db'), 'db-17')).toBe(false);
    expect(matches(like('host', 'a|b'), 'ab')).toBe(false);
    expect(matches(unlike('host', 'db-.*'), 'web-1')).toBe(true);
  });

  it('take a missing label for an empty one', () => {
    expect(matches(equal('host', ''))).toBe(true);
    expect(matches(unequal('host', 'a'))).toBe(true);
    expect(matches(like('host', '.+'))).toBe(false);
    expect(matches(equal('toString', 'x'))).toBe(false);
  });

  it('must all match', () => {
    const both = new CompiledMatchers([equal('host', 'a'), like('zone', '1|2')]);
    expect(both.matches({ host: 'a', zone: '2' })).toBe(true);
    expect(both.matches({ host: 'a', zone: '3' })).toBe(false);
  });

  it('are known not to match by some of the labels', () => {
    const both = new CompiledMatchers([equal('alertname', 'Load'), like('host', 'a')]);
    expect(both.mayMatch({ alertname: 'Load' })).toBe(true);
    expect(both.mayMatch({ alertname: 'Other' })).toBe(false);
  });

  it('are refused for what is no expression', () => {
    expect(caughtCode(() => new CompiledMatchers([like('host', '(')]))).toBe('bad_silence');
    // RE2 has no references backwards: they take exponential time.
    expect(caughtCode(() => new CompiledMatchers([like('host', '(a)\\1')]))).toBe('bad_silence');
  });

  it('are refused before they are compiled if they are large with their repetitions written out', () => {
    const tooLarge = (value: string) => caughtCode(() => new CompiledMatchers([like('host', value)]));
    for (const value of [
      'a{501}',
      `${'(a{9})'.repeat(56)}`,
      '((a{30}){30})',
      '(a\\Q(\\E[)(]b{200}){3}',
      '([]a]{100}){3}',
      '[\\pL]{25}',
      '\\PL{26}',
      '(?i)\\W{26}',
      '(?P<name>[[:alpha:]]{10}){10}',
    ])
      expect([value, tooLarge(value)]).toEqual([value, 'bad_silence']);
    for (const value of [
      '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
      '(\\d{1,3}\\.){3}\\d{1,3}',
      'web-[1-9][0-9]*\\.(eu|us)-(west|east)-[1-3]\\.example\\.com',
      '{1,2',
    ])
      expect(new CompiledMatchers([like('host', value)]).matchesAnything).toBe(false);
    const many = Array.from({ length: 20 }, () => like('host', 'a{26}'));
    expect(caughtCode(() => new CompiledMatchers(many))).toBe('bad_silence');
  });

  it('would silence everything if they match nothing at all', () => {
    expect(new CompiledMatchers([like('host', '.*')]).matchesAnything).toBe(true);
    expect(new CompiledMatchers([like('host', '.*'), equal('a', 'b')]).matchesAnything).toBe(false);
  });
});
