import { expect, it } from 'vitest';
import { parseOwnLimits, showLimits } from '../../../src/model/tenant-limits.ts';

it('limits of a tenant are read as they are shown', () => {
  const shown = {
    maxDatasets: 3,
    maxColumns: 10,
    maxEventBytes: 2048,
    tenantIngestBytesPerSecond: 'unlimited',
    datasetIngestBytesPerSecond: 4096,
  };
  const own = parseOwnLimits(shown);
  expect(own).toEqual({ ...shown, tenantIngestBytesPerSecond: Number.POSITIVE_INFINITY });
  expect(showLimits(own)).toEqual(shown);
  expect(parseOwnLimits({})).toEqual({});
});

it.each([
  [[], 'limits are an object'],
  [null, 'limits are an object'],
  [{ maxdatasets: 3 }, '"maxdatasets" is none of the limits: maxDatasets, maxColumns'],
  [{ constructor: 3 }, '"constructor" is none of the limits'],
  [{ maxDatasets: 0 }, 'maxDatasets is a whole number from 1 to 100000'],
  [{ maxDatasets: '3' }, 'maxDatasets is a whole number'],
  [{ maxColumns: 10.5 }, 'maxColumns is a whole number from 10 to 10000'],
  [{ maxEventBytes: 'unlimited' }, 'maxEventBytes is a whole number from 1024 to 134217728'],
  [{ tenantIngestBytesPerSecond: 5 }, 'from 1024 to 1099511627776, or "unlimited"'],
  [{ datasetIngestBytesPerSecond: null }, 'from 1024 to 1099511627776, or "unlimited"'],
])('%j is refused with the reason', (value, reason) => {
  expect(() => parseOwnLimits(value)).toThrow(
    expect.objectContaining({ code: 'bad_limits', message: expect.stringContaining(reason) }),
  );
});
