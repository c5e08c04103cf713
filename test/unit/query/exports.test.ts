import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { Exports } from '../../../src/query/exports.ts';
import { caughtCode } from '../../support/lib/caught.ts';

test('a user has one export at a time, a tenant as many as it may, and all together no more than there are', () => {
  const exports = new Exports(1);
  const release = exports.begin('mallory', 'key 1');
  expect(caughtCode(() => exports.begin('mallory', 'key 1'))).toBe('overloaded');
  // Another key of the same tenant.
  expect(caughtCode(() => exports.begin('mallory', 'key 2'))).toBe('overloaded');
  const ofOthers = Array.from({ length: limits.maxExports - 1 }, (_, index) =>
    exports.begin(`t${index}`, 'x'),
  );
  expect(caughtCode(() => exports.begin('last', 'x'))).toBe('overloaded');
  release();
  exports.begin('last', 'x')();
  exports.begin('mallory', 'key 2')();
  for (const each of ofOthers) each();
});
