import { expect, it } from 'vitest';
import { narrowed, parseDatasetLimits, readDatasetLimits } from '../../../src/model/dataset-limits.ts';
import { defaultLimits, showLimits, withLimits } from '../../../src/model/tenant-limits.ts';

const rate = 'datasetIngestBytesPerSecond';
const bounded = withLimits(defaultLimits, { maxColumns: 100, [rate]: 8192 }, 'tenant');

it('limits of a dataset are read as they are shown', () => {
  const shown = { maxColumns: 100, maxEventBytes: 2048, [rate]: 4096 };
  expect(parseDatasetLimits(shown, 'events', bounded)).toEqual(shown);
  expect(parseDatasetLimits({}, 'events', bounded)).toEqual({});
  expect(parseDatasetLimits({ [rate]: 'unlimited' }, 'logs', defaultLimits)).toEqual({
    [rate]: Number.POSITIVE_INFINITY,
  });
  expect(readDatasetLimits(showLimits(shown))).toEqual(shown);
});

it.each([
  [[], 'events', 'limits are an object: {"maxColumns":10}'],
  [{ maxDatasets: 3 }, 'events', '"maxDatasets" is none of the limits: maxColumns, maxEventBytes, dataset'],
  [{ maxColumns: 50 }, 'metrics', '"maxColumns" is none of the limits: datasetIngestBytesPerSecond'],
  [{ maxColumns: 101 }, 'events', 'maxColumns of a dataset is no more than its tenant has, which is 100'],
  [{ [rate]: 'unlimited' }, 'logs', 'no more than its tenant has, which is 8192'],
  [{ maxEventBytes: 5 }, 'events', 'maxEventBytes is a whole number from 1024'],
] as const)('%j of %s is refused with the reason', (value, kind, reason) => {
  expect(() => parseDatasetLimits(value, kind, bounded)).toThrow(
    expect.objectContaining({ code: 'bad_limits', message: expect.stringContaining(reason) }),
  );
});

it('of a limit of the tenant and one of the dataset, the narrower one holds, and says whose it is', () => {
  const own = { maxColumns: 50, [rate]: 9000 };
  expect(narrowed(bounded, own)).toEqual({
    ...bounded,
    maxColumns: 50,
    setBy: { ...defaultLimits.setBy, maxColumns: 'dataset', [rate]: 'tenant' },
  });
  expect(narrowed(defaultLimits, own)).toMatchObject({ maxColumns: 50, [rate]: 9000 });
});
