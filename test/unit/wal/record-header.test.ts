import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noCounts } from '../../../src/model/counts.ts';
import { type RecordHeader, recordHeaderJson } from '../../../src/wal/record-header.ts';

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[\w:+.~-]{0,20}$/));
const whole = fc.maxSafeNat();
const columns = fc.array(fc.record({ name: text, type: text }));
const counts = fc.record(
  Object.fromEntries(Object.keys(noCounts).map((name) => [name, whole])) as Record<
    keyof typeof noCounts,
    fc.Arbitrary<number>
  >,
);
const block = fc.record({
  table: fc.constantFrom('samples' as const, 'series' as const),
  rows: whole,
  byteLength: whole,
  columns,
});
const header: fc.Arbitrary<RecordHeader> = fc.record({
  tenant: text,
  dataset: text,
  kind: fc.constantFrom('metrics' as const, 'events' as const),
  presumed: fc.constantFrom(true as const, undefined),
  request: fc.option(
    fc.record(
      { name: text, body: text, receivedMicros: whole, counts },
      { requiredKeys: ['name', 'receivedMicros', 'counts'] },
    ),
    { nil: undefined },
  ),
  received: fc.option(fc.record({ micros: whole, bytes: whole }), { nil: undefined }),
  blocks: fc.array(block),
});

describe('recordHeaderJson', () => {
  it('is JSON of all of the header', () => {
    const isJson = (each: RecordHeader) =>
      // Members that are undefined are absent in JSON.
      expect(JSON.parse(recordHeaderJson(each))).toEqual(JSON.parse(JSON.stringify(each)));
    // Twice: the second time it has met the columns.
    const twice = fc.property(header, (each) => [each, each].forEach(isJson));
    fc.assert(twice);
  });
});
