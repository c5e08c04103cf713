import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  checkDatasetName,
  databaseOf,
  datasetIdOf,
  physicalTable,
  tablesOfKind,
} from '../../../src/model/dataset.ts';
import { generationId, parseGenerationId } from '../../../src/model/generation.ts';
import { caughtCode } from '../../support/lib/caught.ts';

const part = fc.stringMatching(/^[a-b1-2_-]{1,4}$/);
const first = fc.stringMatching(/^[a-b1-2][a-b1-2_-]{0,3}$/);
const name = fc
  .tuple(first, fc.array(part, { maxLength: 3 }))
  .map(([begin, rest]) => [begin, ...rest].join('.'));
const generation = fc.integer({ min: 1, max: 12 });
const tenant = fc
  .tuple(fc.constantFrom('a', 'b', 'b1'), generation)
  .map(([each, number]) => generationId(each, number));
const table = fc.constantFrom(...Object.values(tablesOfKind).flat());

it.each(['ds-logs-nginx.access-2024.01.01', '2024-logs', 'k8s.pod.logs', '1', 'a.2', 'a.series', '1.2.3'])(
  'takes %s',
  (text) => {
    expect(checkDatasetName(text)).toBe(text);
  },
);

it.each(['', '.', '..', 'a..b', 'a.', '-a', '_a', 'a:b', 'a/b', 'a b', 'a\n', `a${'b'.repeat(128)}`])(
  'refuses %j',
  (text) => {
    expect(caughtCode(() => checkDatasetName(text))).toBe('bad_dataset_name');
  },
);

it('keeps the ids of names that were allowed before', () => {
  expect([generationId('app', 1), generationId('otel-logs', 3)]).toEqual(['app', 'otel-logs.3']);
});

it('gives each dataset of each tenant an id and tables of its own', () => {
  const dataset = fc.record({ tenant, name, generation, table });
  const idOf = (each: { name: string; generation: number }) => generationId(each.name, each.generation);
  fc.assert(
    fc.property(dataset, dataset, (one, other) => {
      expect(checkDatasetName(one.name)).toBe(one.name);
      expect(parseGenerationId(idOf(one))).toEqual({ name: one.name, generation: one.generation });
      expect(datasetIdOf(physicalTable(idOf(one), one.table))).toBe(idOf(one));
      const fullName = (each: typeof one) =>
        `${databaseOf(each.tenant)}.${physicalTable(idOf(each), each.table)}`;
      expect(fullName(one) === fullName(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
    { numRuns: 3000 },
  );
});
