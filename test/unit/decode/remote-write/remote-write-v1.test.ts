import { compressSync } from 'snappy';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import xxhash from 'xxhash-wasm';
import { Decoder } from '../../../../src/decode/decoder.ts';
import { DecodeOutcomes } from '../../../../src/decode/outcomes.ts';
import type { DecodeResult } from '../../../../src/decode/task.ts';
import { limits } from '../../../../src/limits/limits.ts';
import type { TableBlock } from '../../../../src/model/block.ts';
import { noCounts } from '../../../../src/model/counts.ts';
import { NativeFiles, type Row } from '../../../support/clickhouse/native-file.ts';
import { bytesField } from '../../../support/decode/wire.ts';
import {
  buildWriteRequest,
  encodeWriteRequest,
  labelPairs,
  type TestSeries,
} from '../../../support/remote-write/remote-write-requests.ts';

const files = new NativeFiles();
afterAll(() => files.close());

const hashes = await xxhash();
let outcomes: DecodeOutcomes;
let decoder: Decoder;
let sequence: number;

beforeEach(() => {
  outcomes = new DecodeOutcomes();
  decoder = new Decoder(outcomes, hashes);
  sequence = 0;
});

/** Decodes a request under the next sequence. */
function decodeBody(body: Uint8Array, dataset = 'm', tenant = 'default'): DecodeResult {
  sequence++;
  return decoder.decode({
    tenant,
    dataset,
    format: 'remote-write-1',
    encoding: 'snappy',
    receivedMicros: 0,
    body,
    maxDecodedBytes: limits.maxBodyBytes,
    sequence,
  });
}

const decode = (series: readonly TestSeries[], dataset?: string, tenant?: string): DecodeResult =>
  decodeBody(buildWriteRequest(series), dataset, tenant);

function blocksOf(result: DecodeResult): readonly TableBlock[] {
  if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
  return result.blocks;
}

async function read(result: DecodeResult, table: 'samples' | 'series', select: string): Promise<Row[]> {
  const block = blocksOf(result).find((one) => one.table === table);
  if (block === undefined) return [];
  const rows = await files.read([block.bytes], select);
  expect(rows).toHaveLength(block.rows);
  return rows;
}

const readSamples = (result: DecodeResult): Promise<Row[]> =>
  read(
    result,
    'samples',
    'metric_id, series_id, toUnixTimestamp64Milli(timestamp) AS ms, reinterpretAsUInt64(value) AS bits',
  );
const readSeries = (result: DecodeResult): Promise<Row[]> => read(result, 'series', '*');
const seriesRows = (result: DecodeResult): number =>
  blocksOf(result).find(({ table }) => table === 'series')?.rows ?? 0;

const dayMs = 86_400_000;
const noonMs = 1_763_640_000_000;
const up: TestSeries = {
  labels: { __name__: 'up', instance: 'localhost:9090', job: 'prometheus' },
  samples: [{ value: 1, timestampMs: noonMs }],
};

describe('what is stored', () => {
  test('a sample and its series, with ids that do not change between versions', async () => {
    const result = decode([up]);
    expect(result.ok && result.counts).toEqual({ ...noCounts, samples: 1 });
    expect(await readSamples(result)).toEqual([
      {
        metric_id: 759_082_068,
        series_id: '8136075434600514341',
        ms: String(noonMs),
        bits: '4607182418800017408',
      },
    ]);
    expect(await readSeries(result)).toEqual([
      {
        date: '2025-11-20',
        series_id: '8136075434600514341',
        metric_id: 759_082_068,
        metric_name: 'up',
        labels: { instance: 'localhost:9090', job: 'prometheus' },
      },
    ]);
  });

  test('the ids are the xxHash32 of the name and the xxHash64 of the sorted labels with their lengths', async () => {
    const canonical = '\x08__name__\x02up\x08instance\x0elocalhost:9090\x03job\x0aprometheus';
    const hex = Buffer.from(canonical, 'latin1').toString('hex');
    const [ids] = await files.query(
      `SELECT xxHash32('up') AS metric_id, xxHash64(unhex('${hex}')) AS series_id`,
    );
    expect((await readSamples(decode([up])))[0]).toMatchObject(ids ?? {});
  });

  test('the blocks say their tables, rows, columns and types', () => {
    expect(
      blocksOf(decode([up])).map(({ bytes, ...rest }) => ({
        ...rest,
        whole: bytes.length === bytes.buffer.byteLength,
      })),
    ).toEqual([
      {
        table: 'series',
        rows: 1,
        columns: [
          { name: 'date', type: 'Date' },
          { name: 'series_id', type: 'UInt64' },
          { name: 'metric_id', type: 'UInt32' },
          { name: 'metric_name', type: 'LowCardinality(String)' },
          { name: 'labels', type: 'Map(LowCardinality(String), String)' },
        ],
        whole: true,
      },
      {
        table: 'samples',
        rows: 1,
        columns: [
          { name: 'metric_id', type: 'UInt32' },
          { name: 'series_id', type: 'UInt64' },
          { name: 'timestamp', type: "DateTime64(3, 'UTC')" },
          { name: 'value', type: 'Float64' },
        ],
        whole: true,
      },
    ]);
  });

  test('the same series from any order of labels, with or without empty ones', async () => {
    const pairs = labelPairs(up.labels);
    const variants = [pairs, [...pairs].reverse(), [...pairs, ['empty', ''] as const]];
    const result = decode(variants.map((labels) => ({ ...up, labels })));
    expect(new Set((await readSeries(result)).map((row) => JSON.stringify(row))).size).toBe(1);
    expect(new Set((await readSamples(result)).map(({ series_id }) => series_id)).size).toBe(1);
  });

  test('series that differ only in how their labels divide the same text are different', async () => {
    const labels = [
      { __name__: 'm', a: 'bc' },
      { __name__: 'm', ab: 'c' },
      { __name__: 'm', a: 'b', c: 'x' },
      { __name__: 'ma', a: 'bc' },
    ];
    const rows = await readSamples(decode(labels.map((one) => ({ ...up, labels: one }))));
    expect(new Set(rows.map(({ series_id }) => series_id)).size).toBe(labels.length);
  });

  test('the bits of every value, the stale marker among them', async () => {
    const bits = [0x7ff0000000000002n, 0x7ff8000000000001n, 0xfff0000000000000n, 0x8000000000000000n, 1n];
    // Built by hand: through a JavaScript number the marker may lose its payload.
    const message = encodeWriteRequest([
      { ...up, samples: bits.map((_, index) => ({ value: 1.5, timestampMs: noonMs + index })) },
    ]);
    const placeholder = Buffer.alloc(8);
    placeholder.writeDoubleLE(1.5);
    for (const value of bits) message.writeBigUInt64LE(value, message.indexOf(placeholder));
    const rows = await readSamples(decodeBody(compressSync(message)));
    expect(rows.map((row) => row['bits'])).toEqual(bits.map(String));
  });

  test('a request of nothing, or of series without a point, succeeds without a block', () => {
    for (const series of [[], [{ labels: { a: 'b' } }], [{ labels: {} }, { labels: { __name__: 'up' } }]]) {
      expect(decode(series)).toEqual({ ok: true, blocks: [], counts: noCounts });
    }
  });

  test('labels that come after the samples or in several places are the same series', async () => {
    const field = (number: number, bytes: Buffer): Buffer =>
      Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
    const label = (name: string, value: string): Buffer =>
      field(1, Buffer.concat([field(1, Buffer.from(name)), field(2, Buffer.from(value))]));
    const sample = field(2, Buffer.from([0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x10, 5]));
    const unknown = field(9, Buffer.from('from the future'));
    const [name, job] = [label('__name__', 'up'), label('job', 'x')];
    const orders = [
      [name, job, sample],
      [sample, name, job],
      [name, sample, job],
      [unknown, name, unknown, job, sample, unknown],
    ];
    const message = Buffer.concat(orders.map((order) => field(1, Buffer.concat(order))));
    const result = decodeBody(compressSync(message));
    const samples = await readSamples(result);
    expect(samples).toHaveLength(orders.length);
    expect(new Set(samples.map((row) => JSON.stringify(row))).size).toBe(1);
    expect(new Set((await readSeries(result)).map((row) => JSON.stringify(row))).size).toBe(1);
  });
});

describe('series rows', () => {
  const at = (timestampMs: number): TestSeries => ({ ...up, samples: [{ value: 1, timestampMs }] });

  test('are left out once the record that holds them is durable, and not before', () => {
    expect(seriesRows(decode([up]))).toBe(1);
    expect(seriesRows(decode([up]))).toBe(1);
    outcomes.commit(sequence);
    expect(seriesRows(decode([up]))).toBe(0);
    expect(seriesRows(decode([up]))).toBe(0);
  });

  test('a commit of another task does not count', () => {
    expect(seriesRows(decode([up]))).toBe(1);
    outcomes.commit(sequence + 7);
    expect(seriesRows(decode([up]))).toBe(1);
  });

  test('a request that is refused after it wrote a row leaves the next one to write it', () => {
    const refused = decode([up, { ...up, labels: { job: 'no name' } }]);
    expect(refused.ok).toBe(false);
    expect(seriesRows(decode([up]))).toBe(1);
  });

  test('are written once in a request', () => {
    expect(seriesRows(decode([up, up, up]))).toBe(1);
  });

  test('are written once for each day of the samples', async () => {
    const days = [0, 1, 0, 1, 5].map((day) => ({ value: 1, timestampMs: noonMs + day * dayMs }));
    const rows = await readSeries(decode([{ ...up, samples: days }]));
    expect(rows.map(({ date }) => date)).toEqual(['2025-11-20', '2025-11-21', '2025-11-25']);
  });

  test('are written again on the next day', async () => {
    decode([up]);
    outcomes.commit(sequence);
    const rows = await readSeries(decode([at(noonMs + dayMs)]));
    expect(rows.map(({ date }) => date)).toEqual(['2025-11-21']);
    outcomes.commit(sequence);
    expect(seriesRows(decode([at(noonMs + dayMs + 1)]))).toBe(0);
  });

  test('of a day whose record failed are written again, though an earlier day is durable', () => {
    decode([up]);
    outcomes.commit(sequence);
    expect(seriesRows(decode([up]))).toBe(0);
    expect(seriesRows(decode([at(noonMs + dayMs)]))).toBe(1);
    expect(seriesRows(decode([at(noonMs + dayMs)]))).toBe(1);
  });

  test('of one dataset or tenant do not stand for another', () => {
    decode([up]);
    outcomes.commit(sequence);
    expect(seriesRows(decode([up], 'm2'))).toBe(1);
    expect(seriesRows(decode([up], 'm', 'other'))).toBe(1);
    expect(seriesRows(decode([up]))).toBe(0);
  });

  test('stay left out when so many tasks followed that the outcome is forgotten', () => {
    decode([up]);
    outcomes.commit(sequence);
    expect(seriesRows(decode([up]))).toBe(0);
    outcomes.commit(1 + limits.decodeOutcomeWindow);
    expect(seriesRows(decode([up]))).toBe(0);
  });
});

describe('what is refused', () => {
  const refusal = (result: DecodeResult): { code: string; message: string } => {
    if (result.ok) throw new Error('expected a refusal');
    return { code: result.code, message: result.message };
  };

  test.each<[string, TestSeries['labels'], string]>([
    ['no metric name', { job: 'x' }, 'no metric name'],
    ['an empty metric name', { __name__: '', job: 'x' }, 'no metric name'],
    ['no labels', {}, 'no metric name'],
    [
      'a label twice',
      [
        ['__name__', 'up'],
        ['job', 'x'],
        ['job', 'y'],
      ],
      'label job twice',
    ],
    [
      'a label twice, not side by side',
      [
        ['job', 'x'],
        ['__name__', 'up'],
        ['job', 'x'],
      ],
      'label job twice',
    ],
    ['a label without a name', { __name__: 'up', '': 'x' }, 'without a name'],
    ['a long name', { __name__: 'up', ['n'.repeat(limits.maxLabelNameBytes + 1)]: 'x' }, '1025 bytes'],
    [
      'a long value',
      { __name__: 'up', job: 'v'.repeat(limits.maxLabelValueBytes + 1) },
      'label job has 65537 bytes',
    ],
    [
      'too many labels',
      {
        __name__: 'up',
        ...Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`l${index}`, 'x'])),
      },
      '257 labels',
    ],
  ])('a series with %s, naming it', (_, labels, message) => {
    const error = refusal(decode([up, { ...up, labels }]));
    expect(error.code).toBe('bad_series');
    expect(error.message).toContain(message);
    expect(error.message.length).toBeLessThan(1000);
  });

  test('labels at their bounds are stored', async () => {
    const labels: [string, string][] = Array.from({ length: limits.maxLabelsPerSeries - 2 }, (_, index) => [
      `l${index}`,
      'x',
    ]);
    labels.push(
      ['__name__', 'up'],
      ['n'.repeat(limits.maxLabelNameBytes), 'v'.repeat(limits.maxLabelValueBytes)],
    );
    const [row] = await readSeries(decode([{ ...up, labels }]));
    expect(row?.['labels']).toEqual(Object.fromEntries(labels.filter(([name]) => name !== '__name__')));
  });

  test('the message shows the labels', () => {
    expect(refusal(decode([{ ...up, labels: { job: 'a "b"' } }])).message).toBe(
      'The series {job="a \\"b\\""} is refused: it has no metric name (label __name__)',
    );
  });

  test.each(['name', 'value'])('a label %s that is not UTF-8', (which) => {
    const message = encodeWriteRequest([{ ...up, labels: { __name__: 'up', name: 'value' } }]);
    message[message.lastIndexOf(which) + 1] = 0xff;
    expect(refusal(decodeBody(compressSync(message)))).toMatchObject({
      code: 'bad_series',
      message: expect.stringContaining('not valid UTF-8'),
    });
  });

  test.each([-1, -dayMs, limits.maxSampleTimestampMs + 1, 2 ** 53, -(2 ** 63)])(
    'a timestamp of %d ms, naming the series',
    (timestampMs) => {
      const error = refusal(
        decode([
          {
            ...up,
            samples: [
              { value: 1, timestampMs: noonMs },
              { value: 1, timestampMs },
            ],
          },
        ]),
      );
      expect(error.code).toBe('bad_series');
      expect(error.message).toContain('__name__="up"');
      expect(error.message).toContain(String(timestampMs));
    },
  );

  test('timestamps at their bounds are stored', async () => {
    const bounds = [0, limits.maxSampleTimestampMs];
    const result = decode([{ ...up, samples: bounds.map((timestampMs) => ({ value: 1, timestampMs })) }]);
    expect((await readSamples(result)).map(({ ms }) => Number(ms))).toEqual(bounds);
    expect((await readSeries(result)).map(({ date }) => date)).toEqual(['1970-01-01', '2106-02-07']);
  });

  test('a message that is cut off anywhere but between two series, with the offset', () => {
    const one = encodeWriteRequest([up]);
    const message = Buffer.concat([one, one]);
    for (let length = 1; length < message.length; length++) {
      if (length === one.length) continue;
      const error = refusal(decodeBody(compressSync(message.subarray(0, length))));
      expect(error.code).toBe('bad_protobuf');
      expect(error.message).toMatch(/at byte \d+ of \d+$/);
    }
  });

  test.each<[string, number[]]>([
    ['a field number of zero', [0x02, 0x00]],
    ['an unknown wire type', [0x0e]],
    ['the end of a group that did not begin', [0x0c]],
    ['a group that does not end', [0x13, 0x08, 0x01]],
    ['a group that ends as another', [0x13, 0x08, 0x01, 0x1c]],
    ['a number of eleven bytes', [0x10, ...Array(10).fill(0x80), 0x01]],
    ['a length of 2^35', [0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]],
    ['a length beyond the end', [0x0a, 0x7f]],
  ])('%s', (_, bytes) => {
    expect(refusal(decodeBody(compressSync(Buffer.from(bytes)))).code).toBe('bad_protobuf');
  });

  test('groups nested too deeply, and not before', () => {
    const nested = (depth: number): Buffer =>
      Buffer.concat([
        Buffer.alloc(depth, 0x7b),
        Buffer.from([0x08, 0x01]),
        Buffer.alloc(depth, 0x7c),
        encodeWriteRequest([up]),
      ]);
    const allowed = decodeBody(compressSync(nested(limits.maxProtobufGroupDepth)));
    expect(allowed.ok && allowed.counts.samples).toBe(1);
    const error = refusal(decodeBody(compressSync(nested(limits.maxProtobufGroupDepth + 1))));
    expect(error.code).toBe('bad_protobuf');
  });

  test('more samples than allowed', () => {
    // An empty sample is two bytes: value 0 at 1970.
    const name = Buffer.from('\x0a\x0e\x0a\x08__name__\x12\x02up', 'latin1');
    const samples = Buffer.alloc(2 * (limits.maxSamplesPerRequest + 1), Buffer.from([0x12, 0x00]));
    const message = bytesField(1, Buffer.concat([name, samples]));
    expect(refusal(decodeBody(compressSync(message))).code).toBe('body_too_large');
  });

  test('a series with large labels on so many days that its rows would be enormous', () => {
    const labels = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`l${index}`, 'x'.repeat(limits.maxLabelValueBytes)]),
    );
    const samples = Array.from({ length: 100 }, (_, day) => ({ value: 1, timestampMs: day * dayMs }));
    const error = refusal(decode([{ labels: { ...labels, __name__: 'up' }, samples }]));
    expect(error.code).toBe('body_too_large');
    expect(error.message).toContain('days');
  });
});
