import { expect, it } from 'vitest';
import { allowedRevisions, entityTag } from '../../../../src/http/server/entity-tag.ts';
import { caughtCode } from '../../../support/lib/caught.ts';

it.each([
  ['', undefined],
  [' * ', undefined],
  [entityTag(3), [3]],
  ['"1", "2"', [1, 2]],
  // As proxies that compress make it.
  ['W/"12"', [12]],
])('If-Match: %s allows %j', (header, revisions) => {
  expect(allowedRevisions(header)).toEqual(revisions);
});

it.each(['3', '"x"', '"1" "2"', '"1",', '"-1"', '"1e3"', Array(21).fill('"1"').join(',')])(
  'If-Match: %s is refused',
  (header) => {
    expect(caughtCode(() => allowedRevisions(header))).toBe('bad_header');
  },
);
