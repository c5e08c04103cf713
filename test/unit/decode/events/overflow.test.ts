import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { decodeJsonEvents } from '../../../../src/decode/events/json-events.ts';
import { overflowColumns } from '../../../../src/decode/events/overflow.ts';
import { NativeFiles, type Row } from '../../../support/clickhouse/native-file.ts';

const files = new NativeFiles();
afterAll(() => files.close());

/** As text, in the map: numbers as JSON has them. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : Object.is(value, -0) ? '-0' : String(value);

const origin = { address: '192.0.2.1', userAgent: 'agent/1.0 (ö)' };

test('columns move into the map, value by value, and the others stay as they are', async () => {
  const value = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.boolean(),
    fc.constant(null),
  );
  const event = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'ö:num'), value, { maxKeys: 4 });
  const events = fc.array(event, { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(events, fc.infiniteStream(fc.boolean()), async (sample, choices) => {
      const [block] = decodeJsonEvents(
        Buffer.from(JSON.stringify(sample)),
        'json',
        0,
        undefined,
        undefined,
        undefined,
        origin,
      ).blocks;
      if (block === undefined) throw new Error('no block');
      const names = block.columns.map(({ name }) => name).filter((name) => !name.startsWith('p_'));
      const excess = new Set(names.filter(() => choices.next().value === true));
      const moved = overflowColumns(block, excess);
      const before = await files.read([block.bytes]);
      const after = await files.read([moved.bytes]);
      const expected = before.map((row): Row => {
        const stays = Object.entries(row).filter(([name]) => !excess.has(name));
        const goes = Object.entries(row).filter(([name, cell]) => excess.has(name) && cell !== null);
        const map = Object.fromEntries(goes.map(([name, cell]) => [name, textOf(cell)]));
        return { ...Object.fromEntries(stays), ...(excess.size === 0 ? {} : { p_overflow: map }) };
      });
      expect(after).toEqual(expected);
      expect(moved.rows).toBe(block.rows);
      expect(moved.columns.map(({ name }) => name)).toEqual(Object.keys(after[0] ?? {}));
    }),
    { numRuns: 60 },
  );
});
