import { deflateSync, gzipSync } from 'node:zlib';
import { compressSync } from 'snappy';
import { bytesField, doubleField, varint, varintField, zigzag } from '../../test/support/decode/wire.ts';
import type { Answer } from './answer.ts';
import { type Attack, flood, pick, repeated, type Sizes, wrapped } from './attack.ts';
import type { Attacker } from './attacker.ts';

/**
 * Attacks on ingest: on the readers of bodies, and on the cost of rows, series and columns after them.
 */

const MiB = 1024 * 1024;
const gzip = { 'content-encoding': 'gzip' } as const;
const ndjson = { 'content-type': 'application/x-ndjson' } as const;

// Bodies by hand ----------------------------------------------------------------------------------------

const text = (value: string): Buffer => Buffer.from(value);
/** Many equal fields, without a small buffer for each. */
const times = (count: number, field: Buffer): Buffer => Buffer.alloc(count * field.length, field);
const joined = (count: number, field: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => field(index)));

function fixed64Field(number: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Buffer.concat([varint(number * 8 + 1), bytes]);
}

const label = (name: string, value: string): Buffer =>
  bytesField(1, Buffer.concat([bytesField(1, text(name)), bytesField(2, text(value))]));
const sample = (value: number, timestampMs: number): Buffer =>
  bytesField(2, Buffer.concat([doubleField(1, value), varintField(2, timestampMs)]));
const series = (...fields: readonly Buffer[]): Buffer => bytesField(1, Buffer.concat(fields));

const remoteWriteHeaders = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
  'x-p-stream': 'samples',
} as const;
const version2 = {
  'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
  'x-prometheus-remote-write-version': '2.0.0',
} as const;

const remoteWrite = (attacker: Attacker, message: Uint8Array, headers: object = {}): Promise<Answer> =>
  attacker.send({
    as: 'ingestor',
    method: 'POST',
    path: '/v1/prometheus/write',
    headers: { ...remoteWriteHeaders, ...headers },
    body: compressSync(Buffer.from(message)),
  });

type Signal = 'logs' | 'traces' | 'metrics';

const otlp = (
  attacker: Attacker,
  signal: Signal,
  body: Uint8Array | string,
  headers: object = {},
): Promise<Answer> =>
  attacker.send({
    as: 'ingestor',
    method: 'POST',
    path: `/v1/${signal}`,
    headers: {
      'content-type': typeof body === 'string' ? 'application/json' : 'application/x-protobuf',
      'x-p-stream': signal === 'metrics' ? 'otlp-metrics' : signal,
      ...headers,
    },
    body,
  });

const keyValue = (field: number, key: string, value: Buffer): Buffer =>
  bytesField(field, Buffer.concat([bytesField(1, text(key)), bytesField(2, value)]));
const stringValue = (value: string): Buffer => bytesField(1, text(value));
const nowNanos = (): bigint => BigInt(Date.now()) * 1_000_000n;

/** A request with one record, resource and scope: the same numbers in logs, traces and metrics. */
const oneOf = (record: Buffer): Buffer => bytesField(1, bytesField(2, bytesField(2, record)));
const logOf = (...fields: readonly Buffer[]): Buffer =>
  oneOf(Buffer.concat([fixed64Field(1, nowNanos()), ...fields]));
const spanOf = (...fields: readonly Buffer[]): Buffer =>
  oneOf(
    Buffer.concat([
      bytesField(1, Buffer.alloc(16, 1)),
      bytesField(2, Buffer.alloc(8, 1)),
      fixed64Field(7, nowNanos()),
      fixed64Field(8, nowNanos()),
      ...fields,
    ]),
  );
/** @param kind the field of `Metric` */
const metricOf = (kind: number, points: Buffer): Buffer =>
  oneOf(
    Buffer.concat([bytesField(1, text('m')), bytesField(kind, Buffer.concat([points, varintField(2, 2)]))]),
  );

/** An `AnyValue` within itself, so many times. @param field 5 for arrays, 6 for maps */
function nested(depth: number, field: 5 | 6): Buffer {
  // Written from the inside out, from the end of one buffer: nesting by concatenation would take quadratic
  // time.
  const parts: Buffer[] = [stringValue('x')];
  let length = parts[0]?.length ?? 0;
  for (let level = 0; level < depth; level += 1) {
    const open =
      field === 5 ? [varint(1 * 8 + 2)] : [varint(1 * 8 + 2), bytesField(1, text('k')), varint(2 * 8 + 2)];
    const inner = Buffer.concat([open.at(-1) ?? Buffer.of(), varint(length)]);
    length += inner.length;
    parts.push(inner);
    if (field === 6) {
      const member = Buffer.concat([bytesField(1, text('k'))]);
      length += member.length;
      parts.push(member);
      const entry = Buffer.concat([varint(1 * 8 + 2), varint(length)]);
      length += entry.length;
      parts.push(entry);
    }
    const outer = Buffer.concat([varint(field * 8 + 2), varint(length)]);
    length += outer.length;
    parts.push(outer);
  }
  return Buffer.concat(parts.reverse());
}

/** 0, 1, 2, … as packed doubles. */
function ascending(count: number): Buffer {
  const bytes = Buffer.alloc(count * 8);
  for (let index = 0; index < count; index += 1) bytes.writeDoubleLE(index, index * 8);
  return bytes;
}

/** A histogram of so many bounds; each becomes a sample. */
function histogramPoint(bounds: number, attribute: string): Buffer {
  const counts = Buffer.alloc((bounds + 1) * 8);
  return bytesField(
    1,
    Buffer.concat([
      fixed64Field(3, nowNanos()),
      fixed64Field(4, 0n),
      bytesField(6, counts),
      bytesField(7, ascending(bounds)),
      keyValue(9, 'id', stringValue(attribute)),
    ]),
  );
}

/** A name that was never used: new series and columns must be new each time. */
const unique = (): string => `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;

interface BodyAttack extends Omit<Attack, 'run'> {
  readonly sizes: Sizes;
  readonly send: (attacker: Attacker, count: number) => Promise<Answer> | Promise<readonly Answer[]>;
}

const bodyAttack = ({ sizes, send, ...rest }: BodyAttack): Attack => ({
  ...rest,
  run: async (attacker, size) => [await send(attacker, pick(sizes, size))].flat(),
});

const refused = [
  'bad_json',
  'bad_event',
  'too_many_columns',
  'body_too_large',
  'event_too_large',
  'overloaded',
  'rate_limited',
];

const jsonAttacks: readonly Attack[] = [
  bodyAttack({
    name: 'json-deep',
    aim: 'an event of 10 million levels of arrays, and one of objects',
    sizes: [10_000_000, 100_000],
    codes: refused,
    send: (attacker, n) =>
      Promise.all([
        attacker.ingest(`[{"a":${wrapped(n, '[', '', ']')}}]`),
        attacker.ingest(`[${wrapped(n / 5, '{"a":', '1', '}')}]`),
        attacker.ingest(`[{"a":${'['.repeat(n)}`),
      ]),
  }),
  bodyAttack({
    name: 'json-key-1mb',
    aim: 'a key of a megabyte, thrice',
    sizes: [MiB, MiB],
    codes: refused,
    send: (attacker, n) => attacker.ingest(`[${repeated(3, `{"${'k'.repeat(n)}":1}`, ',')}]`),
  }),
  bodyAttack({
    name: 'json-keys',
    aim: 'an event of 100,000 keys, and 100,000 events of one key each',
    sizes: [100_000, 30_000],
    codes: refused,
    send: (attacker, n) =>
      Promise.all([
        attacker.ingest(`[{${repeated(n, (i) => `"k${i}":${i}`, ',')}}]`),
        attacker.ingest(`[${repeated(n, (i) => `{"k${i}":${i}}`, ',')}]`),
      ]),
  }),
  bodyAttack({
    name: 'json-duplicate-keys',
    aim: 'the same key a million times in an event, with a tree below it',
    sizes: [1_000_000, 20_000],
    codes: refused,
    send: (attacker, n) => attacker.ingest(`[{${repeated(n, '"a":{"b":{"c":1}}', ',')}}]`),
  }),
  bodyAttack({
    name: 'json-empty-events',
    aim: 'a million empty events in 3 KB of gzip, five at once',
    sizes: [1_000_000, 20_000],
    codes: refused,
    send: (attacker, n) => {
      const body = gzipSync(`[${repeated(n, '{}', ',')}]`);
      return flood(5, 5, () => attacker.ingest(body, gzip));
    },
  }),
  bodyAttack({
    name: 'ndjson-blank',
    aim: '60 MB of blank lines',
    sizes: [60 * MiB, MiB],
    codes: refused,
    send: (attacker, n) => attacker.ingest(gzipSync(Buffer.alloc(n, '\n')), { ...gzip, ...ndjson }),
  }),
  bodyAttack({
    name: 'json-wide-rows',
    aim: '900 columns of nothing: 60,000 events that each have another column of 900',
    sizes: [60_000, 2000],
    codes: refused,
    send: (attacker, n) =>
      attacker.ingest(gzipSync(`[${repeated(n, (i) => `{"f${i % 900}":${i}}`, ',')}]`), gzip, 'wide'),
  }),
  bodyAttack({
    name: 'json-new-columns',
    aim: '20 requests of 1,000 new columns each',
    sizes: [20, 2],
    codes: refused,
    send: (attacker, n) => {
      const id = unique();
      return flood(n, 4, (index) =>
        attacker.ingest(`[{${repeated(1000, (i) => `"${id}_${index}_${i}":1`, ',')}}]`, {}, 'columns'),
      );
    },
  }),
  bodyAttack({
    name: 'json-types',
    aim: 'each of 900 fields as number, text and boolean: three columns for one',
    sizes: [900, 50],
    codes: refused,
    send: (attacker, n) =>
      attacker.ingest(
        `[{${repeated(n, (i) => `"t${i}":1`, ',')}},{${repeated(n, (i) => `"t${i}":"x"`, ',')}},{${repeated(n, (i) => `"t${i}":true`, ',')}}]`,
        {},
        'types',
      ),
  }),
  bodyAttack({
    name: 'json-numbers',
    aim: 'numbers of a megabyte, and of extreme exponents',
    sizes: [MiB, 100_000],
    codes: refused,
    send: (attacker, n) =>
      Promise.all([
        attacker.ingest(`[{"a":${'9'.repeat(n)}}]`),
        attacker.ingest(`[{"a":0.${'0'.repeat(n)}1}]`),
        attacker.ingest(`[{"a":1e999999999},{"a":-1e-999999999},{"a":1${'e'.repeat(1)}${'0'.repeat(n)}}]`),
      ]),
  }),
  bodyAttack({
    name: 'json-escapes',
    aim: 'a text of 10 million unicode escapes, keys of escapes, and lone surrogates',
    sizes: [10_000_000, 100_000],
    codes: refused,
    send: (attacker, n) =>
      Promise.all([
        attacker.ingest(gzipSync(`[{"a":"${'\\u0041'.repeat(n / 2)}"}]`), gzip),
        attacker.ingest(gzipSync(`[{"a":"${'\\ud800'.repeat(n / 2)}"}]`), gzip),
        attacker.ingest(`[{"${'\\u0041'.repeat(200)}":1,"${'\\u0041'.repeat(300)}":1}]`),
      ]),
  }),
  bodyAttack({
    name: 'json-not-text',
    aim: '30 MB that are not UTF-8, and JSON that ends in the middle',
    sizes: [30 * MiB, MiB],
    codes: refused,
    send: (attacker, n) =>
      Promise.all([
        attacker.ingest(gzipSync(Buffer.alloc(n, 0xff)), gzip),
        attacker.ingest(`[{"a":"${'x'.repeat(n / 30)}`),
        attacker.ingest('[{"a":tru'),
      ]),
  }),
  bodyAttack({
    name: 'json-schema-detect',
    aim: 'a sample of a megabyte with 100,000 keys, whose schema somebody wants',
    sizes: [80_000, 80_000],
    send: (attacker, n) =>
      attacker.send({
        as: 'analyst',
        method: 'POST',
        path: '/api/v1/logstream/schema/detect',
        headers: { 'content-type': 'application/json' },
        body: `[{${repeated(n, (i) => `"k${i}":1`, ',')}}]`,
      }),
  }),
];

const encodingAttacks: readonly Attack[] = [
  bodyAttack({
    name: 'gzip-bomb',
    aim: '1 GB of zeros in 1 MB of gzip, and of deflate',
    sizes: [1024 * MiB, 70 * MiB],
    codes: ['body_too_large', 'bad_encoding', 'overloaded'],
    send: (attacker, n) => {
      // Members one after another decompress to their sum; each is small enough to be made here.
      const member = gzipSync(Buffer.alloc(Math.min(n, 64 * MiB)));
      const many = Buffer.concat(Array.from({ length: Math.ceil(n / (64 * MiB)) }, () => member));
      const one = deflateSync(Buffer.alloc(Math.min(n, 256 * MiB)));
      return Promise.all([
        attacker.ingest(many, gzip),
        attacker.ingest(one, { 'content-encoding': 'deflate' }),
        otlp(attacker, 'logs', many, gzip),
      ]);
    },
  }),
  bodyAttack({
    name: 'gzip-bombs-at-once',
    aim: '40 bombs of 60 MB each, which is just allowed',
    sizes: [40, 2],
    send: (attacker, n) => {
      const body = gzipSync(Buffer.alloc(60 * MiB, ' '));
      return flood(n, 40, () => attacker.ingest(body, gzip));
    },
  }),
  bodyAttack({
    name: 'snappy-bomb',
    aim: 'snappy that declares 4 GB, 60 MB that it cannot hold, and copies that make 64 bytes of three',
    sizes: [2 * MiB, 100_000],
    send: (attacker, n) => {
      const declares = (bytes: number) => Buffer.concat([varint(bytes), Buffer.alloc(100)]);
      const send = (body: Buffer) =>
        attacker.send({
          as: 'ingestor',
          method: 'POST',
          path: '/v1/prometheus/write',
          headers: remoteWriteHeaders,
          body,
        });
      // One literal, then copies of 64 bytes from one back.
      const copies = Math.floor(n / 3);
      const dense = Buffer.concat([
        varint(1 + copies * 64),
        Buffer.of(0, 0x0a),
        times(copies, Buffer.of((63 << 2) | 2, 1, 0)),
      ]);
      return Promise.all([send(declares(0xffff_ffff)), send(declares(60 * MiB)), send(dense)]);
    },
  }),
  bodyAttack({
    name: 'zstd-bomb',
    aim: 'zstd: a run of 128 KiB in four bytes, 10,000 times, and a window of 3 GB',
    sizes: [10_000, 1000],
    codes: ['unsupported_encoding', 'bad_encoding', 'body_too_large'],
    send: (attacker, n) => {
      const magic = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);
      const run = (isLast: boolean): Buffer => {
        const header = (isLast ? 1 : 0) | (1 << 1) | (131_072 << 3);
        return Buffer.of(header & 255, (header >> 8) & 255, header >> 16, 0x20);
      };
      const frame = (window: number): Buffer =>
        Buffer.concat([magic, Buffer.of(0, window), times(n, run(false)), run(true)]);
      const zstd = { 'content-encoding': 'zstd' };
      return Promise.all([
        otlp(attacker, 'logs', frame(0x58), zstd),
        otlp(attacker, 'logs', frame(0xaf), zstd),
      ]);
    },
  }),
  bodyAttack({
    name: 'truncated',
    aim: 'bodies that were cut off, in each encoding',
    sizes: [1, 1],
    codes: ['bad_encoding', 'bad_protobuf', 'bad_json'],
    send: (attacker) => {
      const whole = gzipSync(`[${repeated(10_000, '{"a":1}', ',')}]`);
      const message = series(label('__name__', 'x'), sample(1, Date.now()));
      return Promise.all([
        attacker.ingest(whole.subarray(0, whole.length / 2), gzip),
        attacker.ingest(Buffer.concat([whole, Buffer.alloc(1000)]), gzip),
        remoteWrite(attacker, message.subarray(0, message.length - 3)),
        otlp(attacker, 'traces', spanOf(bytesField(5, text('x'))).subarray(0, 20)),
      ]);
    },
  }),
  {
    name: 'slow-bodies',
    aim: '200 bodies that are declared with 60 MB and come at a byte a second: room that others need',
    mayClose: true,
    run: (attacker, size) => {
      const head = (bytes: number) =>
        `POST /api/v1/ingest HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-p-stream: app\r\n${Object.entries(
          attacker.credentials('ingestor'),
        )
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}content-length: ${bytes}\r\n\r\n[`;
      const pieces = [head(60 * MiB), ...Array<string>(pick([9, 1], size)).fill(' ')];
      return flood(pick([200, 8], size), 200, async () => {
        const [answer] = await attacker.raw(pieces, { pauseMs: pick([1000, 100], size), waitMs: 1 });
        // Nobody waits for the end of it.
        return answer?.status === 'none' ? { status: 'left' } : (answer ?? { status: 'none' });
      });
    },
  },
  {
    name: 'large-bodies-at-once',
    aim: '30 bodies of 20 MB at once, from one tenant',
    codes: refused,
    run: (attacker, size) => {
      const body = `[${repeated(pick([400_000, 5000], size), '{"level":"info","text":"some words of a log"}', ',')}]`;
      return flood(pick([30, 4], size), 30, () => attacker.ingest(body));
    },
  },
  {
    name: 'small-bodies-flood',
    aim: '20,000 requests of one event, 100 at a time',
    codes: refused,
    run: (attacker, size) =>
      flood(pick([20_000, 300], size), 100, (index) => attacker.ingest(`[{"num":${index}}]`)),
  },
];

const remoteWriteAttacks: readonly Attack[] = [
  bodyAttack({
    name: 'write-labels',
    aim: 'series of 256 labels, one of 10,000, and values of 64 KB',
    sizes: [2000, 20],
    send: (attacker, n) => {
      const id = unique();
      const labels = (count: number) =>
        joined(count, (index) => label(`l${String(index).padStart(6, '0')}`, id));
      const point = sample(1, Date.now());
      return Promise.all([
        remoteWrite(
          attacker,
          joined(n, (i) => series(label('__name__', `x${i}`), labels(200), point)),
        ),
        remoteWrite(attacker, series(label('__name__', 'x'), labels(10_000), point)),
        remoteWrite(
          attacker,
          joined(100, (i) => series(label('__name__', `x${i}`), label('v', 'x'.repeat(65_536)), point)),
        ),
      ]);
    },
  }),
  bodyAttack({
    name: 'write-new-series',
    aim: '10 requests of 100,000 new series each',
    sizes: [100_000, 1000],
    send: (attacker, n) => {
      const point = sample(1, Date.now());
      return flood(10, 4, () => {
        const id = unique();
        return remoteWrite(
          attacker,
          joined(n, (i) => series(label('__name__', 'new'), label('i', `${id}${i}`), point)),
        );
      });
    },
  }),
  bodyAttack({
    name: 'write-days',
    aim: 'a series with a sample on each of 49,000 days: partitions, and a row of the series for each day',
    sizes: [49_000, 300],
    send: (attacker, n) =>
      remoteWrite(
        attacker,
        series(
          label('__name__', `days_${unique()}`),
          joined(n, (day) => sample(day, day * 86_400_000)),
        ),
      ),
  }),
  bodyAttack({
    name: 'write-days-series',
    aim: '20,000 new series with samples on 50 days each: rows multiply',
    sizes: [20_000, 100],
    send: (attacker, n) => {
      const id = unique();
      const days = joined(50, (day) => sample(1, Date.now() - day * 86_400_000));
      return remoteWrite(
        attacker,
        joined(n, (i) => series(label('__name__', 'x'), label('i', `${id}${i}`), days)),
      );
    },
  }),
  bodyAttack({
    name: 'write-empty-series',
    aim: '10 million messages of two bytes, and samples without a series',
    sizes: [10_000_000, 10_000],
    send: (attacker, n) =>
      Promise.all([
        remoteWrite(attacker, times(n, Buffer.of(0x0a, 0))),
        remoteWrite(attacker, times(n, Buffer.of(0x1a, 0))),
        remoteWrite(attacker, series(label('__name__', 'x'), times(n, Buffer.of(0x12, 0)))),
        remoteWrite(attacker, series(label('__name__', 'x'), times(n, Buffer.of(0x22, 0)))),
        remoteWrite(attacker, series(label('__name__', 'x'), times(n, Buffer.of(0x1a, 0)))),
      ]),
  }),
  bodyAttack({
    name: 'write-histograms',
    aim: 'native histograms of 65,536 buckets on each side, and spans of nothing',
    sizes: [100, 2],
    send: (attacker, n) => {
      const side = (spans: number, deltas: number) =>
        Buffer.concat([
          bytesField(spans, Buffer.concat([varintField(1, 0), varintField(2, 65_536)])),
          bytesField(deltas, Buffer.alloc(65_536, 0)),
        ]);
      const histogram = (...sides: readonly Buffer[]) =>
        bytesField(
          4,
          Buffer.concat([varintField(1, 0), varintField(4, 0), ...sides, varintField(15, Date.now())]),
        );
      const empty = times(
        50_000,
        bytesField(11, Buffer.concat([varintField(1, zigzag(1)), varintField(2, 0)])),
      );
      return Promise.all([
        remoteWrite(
          attacker,
          joined(n, (i) =>
            series(label('__name__', 'h'), label('i', `${i}`), histogram(side(8, 9), side(11, 12))),
          ),
        ),
        remoteWrite(
          attacker,
          joined(n, (i) => series(label('__name__', 'h'), label('i', `${i}`), histogram(empty))),
        ),
      ]);
    },
  }),
  bodyAttack({
    name: 'write-exemplars',
    aim: '200,000 exemplars of one series, and metadata of 64 KB each',
    sizes: [190_000, 1000],
    send: (attacker, n) => {
      const exemplar = bytesField(
        3,
        Buffer.concat([label('trace_id', 'abcdef'), doubleField(2, 1), varintField(3, Date.now())]),
      );
      const metadata = (index: number) =>
        bytesField(
          3,
          Buffer.concat([
            varintField(1, 1),
            bytesField(2, text(`m${index}`)),
            bytesField(4, Buffer.alloc(60_000, 'x')),
          ]),
        );
      return Promise.all([
        remoteWrite(attacker, series(label('__name__', 'x'), times(n, exemplar))),
        remoteWrite(attacker, joined(Math.min(n, 500), metadata)),
      ]);
    },
  }),
  bodyAttack({
    name: 'write-2-symbols',
    aim: 'remote write 2.0: 2 million symbols, one of 60 KB that 10,000 series name, references that lead nowhere',
    sizes: [2_000_000, 20_000],
    send: (attacker, n) => {
      const refs = (numbers: readonly number[]) => bytesField(1, Buffer.concat(numbers.map(varint)));
      const point = bytesField(2, Buffer.concat([doubleField(1, 1), varintField(2, Date.now())]));
      const timeseries = (numbers: readonly number[]) => bytesField(5, Buffer.concat([refs(numbers), point]));
      const symbols = (...texts: readonly string[]) =>
        Buffer.concat(texts.map((each) => bytesField(4, text(each))));
      const named = symbols('', '__name__', 'x', 'l');
      return Promise.all([
        remoteWrite(attacker, Buffer.concat([named, times(n, bytesField(4, text('')))]), version2),
        remoteWrite(
          attacker,
          Buffer.concat([named, symbols('v'.repeat(60_000)), times(10_000, timeseries([1, 2, 3, 4]))]),
          version2,
        ),
        remoteWrite(attacker, Buffer.concat([named, timeseries([1, 0xffff_ffff])]), version2),
        remoteWrite(attacker, Buffer.concat([named, timeseries(Array<number>(100_001).fill(1))]), version2),
      ]);
    },
  }),
  bodyAttack({
    name: 'write-unknown-fields',
    aim: 'groups within groups, and 10 million fields that nobody knows',
    sizes: [10_000_000, 10_000],
    send: (attacker, n) =>
      Promise.all([
        remoteWrite(attacker, Buffer.alloc(n, 0x7b)),
        remoteWrite(attacker, times(n, Buffer.of(0x78, 1))),
        remoteWrite(attacker, Buffer.alloc(n, 0xff)),
      ]),
  }),
  bodyAttack({
    name: 'write-extreme-times',
    aim: 'samples of the year 2106, of 1970, before, and far beyond, out of order',
    sizes: [200_000, 1000],
    send: (attacker, n) => {
      const moments = [0, 1, 4_294_967_295_999, 4_294_967_296_000, -1, 2 ** 53];
      return remoteWrite(
        attacker,
        series(
          label('__name__', 'x'),
          joined(n, (i) => sample(i, moments[i % moments.length] ?? 0)),
        ),
      );
    },
  }),
  bodyAttack({
    name: 'write-repeated',
    aim: 'the same request 500 times, 50 at a time: who waits for whom',
    sizes: [500, 30],
    send: (attacker, n) => {
      const message = series(label('__name__', unique()), sample(1, Date.now()));
      return flood(n, 50, () => remoteWrite(attacker, message));
    },
  }),
];

const otlpAttacks: readonly Attack[] = [
  bodyAttack({
    name: 'otlp-histogram-bounds',
    aim: '33 histograms of 60,001 bounds in 2.3 MB: each bound is a series (issue: 30 s of decoding)',
    sizes: [33, 1],
    send: (attacker, n) =>
      otlp(
        attacker,
        'metrics',
        gzipSync(
          metricOf(
            9,
            joined(n, (i) => histogramPoint(60_001, `${unique()}${i}`)),
          ),
        ),
        gzip,
      ),
  }),
  bodyAttack({
    name: 'otlp-histograms-at-once',
    fullOnly: true,
    aim: 'four requests of ten such histograms at once',
    sizes: [10, 1],
    send: (attacker, n) =>
      flood(4, 4, () =>
        otlp(
          attacker,
          'metrics',
          gzipSync(
            metricOf(
              9,
              joined(n, (i) => histogramPoint(60_001, `${unique()}${i}`)),
            ),
          ),
          gzip,
        ),
      ),
  }),
  bodyAttack({
    name: 'otlp-exemplars-bounds',
    aim: 'exemplars of a histogram of many bounds, each of which looks for its bucket from the first',
    sizes: [60_000, 500],
    send: (attacker, n) => {
      const exemplar = bytesField(8, Buffer.concat([fixed64Field(2, nowNanos()), doubleField(3, 1e9)]));
      const point = bytesField(
        1,
        Buffer.concat([
          fixed64Field(3, nowNanos()),
          bytesField(6, Buffer.alloc((n + 1) * 8)),
          bytesField(7, ascending(n)),
          times(n, exemplar),
        ]),
      );
      return otlp(attacker, 'metrics', gzipSync(metricOf(9, point)), gzip);
    },
  }),
  bodyAttack({
    name: 'otlp-exponential',
    aim: 'exponential histograms with extreme scales and offsets, and 65,536 buckets on each side',
    sizes: [200, 3],
    send: (attacker, n) => {
      const buckets = (field: number, offset: number, count: number) =>
        bytesField(
          field,
          Buffer.concat([varintField(1, zigzag(offset)), bytesField(2, Buffer.alloc(count, 1))]),
        );
      const point = (scale: number, offset: number, count: number) =>
        bytesField(
          1,
          Buffer.concat([
            fixed64Field(3, nowNanos()),
            fixed64Field(4, 1n),
            varintField(6, zigzag(scale)),
            buckets(8, offset, count),
            buckets(9, offset, count),
          ]),
        );
      return Promise.all([
        otlp(attacker, 'metrics', gzipSync(metricOf(10, times(n, point(20, 0, 65_536)))), gzip),
        otlp(attacker, 'metrics', metricOf(10, point(20, 2_147_483_647, 100))),
        otlp(attacker, 'metrics', metricOf(10, point(-128, -2_147_483_648, 100))),
        otlp(attacker, 'metrics', metricOf(10, point(1_000_000, 0, 100))),
      ]);
    },
  }),
  bodyAttack({
    name: 'otlp-summary',
    aim: 'summaries of 65,000 quantiles each: a series for each',
    sizes: [20, 1],
    send: (attacker, n) => {
      const quantiles = joined(65_000, (i) =>
        bytesField(6, Buffer.concat([doubleField(1, i / 65_000), doubleField(2, i)])),
      );
      const point = (i: number) =>
        bytesField(
          1,
          Buffer.concat([
            fixed64Field(3, nowNanos()),
            quantiles,
            keyValue(7, 'id', stringValue(`${unique()}${i}`)),
          ]),
        );
      return otlp(attacker, 'metrics', gzipSync(metricOf(11, joined(n, point))), gzip);
    },
  }),
  bodyAttack({
    name: 'otlp-new-series',
    aim: '300,000 points of a gauge, each a new series',
    sizes: [300_000, 1000],
    send: (attacker, n) => {
      const id = unique();
      const point = (i: number) =>
        bytesField(
          1,
          Buffer.concat([
            fixed64Field(3, nowNanos()),
            doubleField(4, 1),
            keyValue(7, 'id', stringValue(`${id}${i}`)),
          ]),
        );
      return otlp(attacker, 'metrics', gzipSync(metricOf(5, joined(n, point))), gzip);
    },
  }),
  bodyAttack({
    name: 'otlp-deep',
    aim: 'values of 500,000 levels, as arrays and as maps, in protobuf and in JSON',
    sizes: [500_000, 5000],
    send: (attacker, n) => {
      const json = (value: string) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${value}}]}]}]}`;
      return Promise.all([
        otlp(attacker, 'logs', logOf(bytesField(5, nested(n, 5)))),
        otlp(attacker, 'logs', logOf(bytesField(5, nested(n, 6)))),
        otlp(attacker, 'logs', json(wrapped(n, '{"arrayValue":{"values":[', '{"stringValue":"x"}', ']}}'))),
        otlp(attacker, 'logs', `{"resourceLogs":${'['.repeat(n)}`),
        otlp(attacker, 'traces', `{"unknown":${wrapped(n, '[', '', ']')}}`),
      ]);
    },
  }),
  bodyAttack({
    name: 'otlp-attributes',
    aim: 'a record of 100,000 attributes, and 20,000 records that each have another key',
    sizes: [100_000, 5000],
    send: (attacker, n) => {
      const id = unique();
      return Promise.all([
        otlp(attacker, 'logs', logOf(joined(n, (i) => keyValue(6, `k${i}`, stringValue('v'))))),
        otlp(
          attacker,
          'logs',
          bytesField(
            1,
            bytesField(
              2,
              joined(n, (i) =>
                bytesField(
                  2,
                  Buffer.concat([fixed64Field(1, nowNanos()), keyValue(6, `${id}${i}`, stringValue('v'))]),
                ),
              ),
            ),
          ),
        ),
        otlp(attacker, 'traces', spanOf(times(n, keyValue(9, 'same', stringValue('v'))))),
      ]);
    },
  }),
  bodyAttack({
    name: 'otlp-records',
    aim: 'a million empty log records in 2 KB of gzip, below a resource of 4,000 attributes',
    sizes: [1_000_000, 2000],
    send: (attacker, n) => {
      const resource = bytesField(
        1,
        joined(4000, (i) => keyValue(1, `r${i}`, stringValue('v'.repeat(100)))),
      );
      const records = times(n, Buffer.of(0x12, 0));
      return Promise.all([
        otlp(attacker, 'logs', gzipSync(bytesField(1, bytesField(2, records))), gzip),
        otlp(
          attacker,
          'logs',
          gzipSync(bytesField(1, Buffer.concat([resource, bytesField(2, records)]))),
          gzip,
        ),
      ]);
    },
  }),
  bodyAttack({
    name: 'otlp-scopes',
    aim: 'a million empty resources, and a million empty scopes',
    sizes: [1_000_000, 2000],
    send: (attacker, n) =>
      Promise.all([
        otlp(attacker, 'logs', gzipSync(times(n, Buffer.of(0x0a, 0))), gzip),
        otlp(attacker, 'traces', gzipSync(bytesField(1, times(n, Buffer.of(0x12, 0)))), gzip),
        otlp(attacker, 'metrics', gzipSync(bytesField(1, bytesField(2, times(n, Buffer.of(0x12, 0))))), gzip),
      ]),
  }),
  bodyAttack({
    name: 'otlp-span-items',
    aim: 'spans of 10,000 events and links, trace states of a megabyte, and ids of odd lengths',
    sizes: [10_000, 500],
    send: (attacker, n) => {
      const link = bytesField(
        13,
        Buffer.concat([bytesField(1, Buffer.alloc(16, 1)), bytesField(2, Buffer.alloc(8, 1))]),
      );
      const event = bytesField(11, Buffer.concat([fixed64Field(1, nowNanos()), bytesField(2, text('e'))]));
      return Promise.all([
        otlp(attacker, 'traces', spanOf(times(n, event), times(n, link))),
        otlp(attacker, 'traces', spanOf(times(n * 10, event))),
        otlp(attacker, 'traces', spanOf(bytesField(3, Buffer.alloc(100 * n, 'a=b,')))),
        otlp(
          attacker,
          'traces',
          oneOf(Buffer.concat([bytesField(1, Buffer.alloc(n, 1)), bytesField(2, Buffer.alloc(3))])),
        ),
      ]);
    },
  }),
  bodyAttack({
    name: 'otlp-metric-names',
    aim: 'a metric of 100,000 names, descriptions of megabytes, and 100,000 entity references',
    sizes: [100_000, 1000],
    send: (attacker, n) => {
      const metric = (i: number) =>
        bytesField(
          2,
          Buffer.concat([
            bytesField(1, text(`n${i}`)),
            bytesField(2, text(`about ${i}`)),
            bytesField(5, bytesField(1, Buffer.concat([fixed64Field(3, nowNanos()), doubleField(4, 1)]))),
          ]),
        );
      const references = times(n, bytesField(3, bytesField(3, text('k'))));
      return Promise.all([
        otlp(attacker, 'metrics', gzipSync(bytesField(1, bytesField(2, joined(n, metric)))), gzip),
        otlp(
          attacker,
          'metrics',
          oneOf(Buffer.concat([bytesField(1, text('m')), bytesField(2, Buffer.alloc(20 * n, 'd'))])),
        ),
        otlp(attacker, 'logs', bytesField(1, bytesField(1, references))),
      ]);
    },
  }),
  bodyAttack({
    name: 'otlp-json-numbers',
    aim: 'JSON with 64-bit integers of a megabyte, base64 and hex of odd lengths',
    sizes: [MiB, 50_000],
    send: (attacker, n) => {
      const log = (record: string) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${record}]}]}]}`;
      return Promise.all(
        [
          `{"timeUnixNano":"${'9'.repeat(n)}"}`,
          `{"timeUnixNano":${'9'.repeat(n)}}`,
          `{"traceId":"${'f'.repeat(n)}"}`,
          `{"body":{"bytesValue":"${'A'.repeat(n + 1)}"}}`,
          `{"body":{"doubleValue":"${' '.repeat(n)}1"}}`,
          `{"severityNumber":"${'SEVERITY_'.repeat(n / 10)}"}`,
        ].map((record) => otlp(attacker, 'logs', log(record))),
      );
    },
  }),
];

const datasetAttacks: readonly Attack[] = [
  {
    name: 'datasets-many',
    aim: '300 datasets by one ingestor, ten at a time: each is a table, and a merge',
    run: (attacker, size) => {
      const id = unique();
      return flood(pick([300, 10], size), 10, (index) => attacker.ingest('[{"a":1}]', {}, `d${id}-${index}`));
    },
  },
  {
    name: 'datasets-metrics-many',
    aim: '50 datasets of metrics: five tables each',
    run: (attacker, size) => {
      const id = unique();
      const message = series(label('__name__', 'x'), sample(1, Date.now()));
      return flood(pick([50, 4], size), 10, (index) =>
        remoteWrite(attacker, message, { 'x-p-stream': `m${id}-${index}` }),
      );
    },
  },
  {
    name: 'dataset-names',
    aim: 'names of datasets that are none, of a megabyte, and of other kinds',
    codes: ['bad_dataset_name', 'kind_conflict', 'bad_header', 'headers_too_large', 'forbidden'],
    mayClose: true,
    run: (attacker) =>
      Promise.all([
        ...['../x', 'a'.repeat(20_000), '%00', 'p_audit', 'logs', 'samples', 'a;b'].map((name) =>
          attacker.ingest('[{"a":1}]', {}, name),
        ),
        attacker.send({
          as: 'ingestor',
          method: 'POST',
          path: '/v1/logs',
          headers: { 'x-p-stream': 'app' },
          body: '{}',
        }),
      ]),
  },
  {
    name: 'idempotency-keys',
    aim: '2,000 requests with keys of their own, and one key with 200 different bodies at once',
    run: async (attacker, size) => [
      ...(await flood(pick([2000, 30], size), 50, (index) =>
        attacker.ingest('[{"a":1}]', { 'idempotency-key': `"${unique()}${index}"` }),
      )),
      ...(await flood(pick([200, 10], size), 50, (index) =>
        attacker.ingest(`[{"a":${index}}]`, { 'idempotency-key': '"same"' }),
      )),
    ],
  },
  {
    name: 'event-labels',
    aim: 'headers that become columns: 100 of them, names and values as long as there is room',
    mayClose: true,
    run: (attacker) =>
      Promise.all([
        attacker.ingest(
          '[{"a":1}]',
          Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x-p-meta-${i}`, 'v'])),
        ),
        attacker.ingest('[{"a":1}]', { [`x-p-meta-${'n'.repeat(5000)}`]: 'v' }),
        attacker.ingest(`[${repeated(50_000, '{}', ',')}]`, { 'x-p-meta-a': 'v'.repeat(8000) }),
      ]),
  },
];

export const ingestAttacks: readonly Attack[] = [
  ...jsonAttacks,
  ...encodingAttacks,
  ...remoteWriteAttacks,
  ...otlpAttacks,
  ...datasetAttacks,
];
