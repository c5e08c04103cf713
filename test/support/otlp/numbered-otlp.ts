import type { SentBatch } from '../service/sent-and-stored.ts';
import { metricsJson, metricsProtobuf, oneScope, textAttributes } from './otlp-metrics.ts';
import { encodeJson, encodeProtobuf, type TestRequest } from './otlp-requests.ts';

/** A body of OTLP/HTTP. */
export interface OtlpBody {
  readonly contentType: 'application/json' | 'application/x-protobuf';
  readonly bytes: Buffer;
}

/** Batches of logs, spans and points of a gauge: every other one in protobuf, the rest in JSON. */
export function otlpBody(batch: SentBatch, timestampMs: number): OtlpBody {
  const isProtobuf = batch.number % 2 === 1;
  const contentType = isProtobuf ? 'application/x-protobuf' : 'application/json';
  const nanos = BigInt(timestampMs) * 1_000_000n;
  if (batch.kind === 'points') {
    const request = pointsOf(batch, nanos);
    return { contentType, bytes: isProtobuf ? metricsProtobuf(request) : metricsJson(request) };
  }
  const [signal, request] =
    batch.kind === 'logs'
      ? (['logs', logsOf(batch, nanos)] as const)
      : (['traces', spansOf(batch, nanos)] as const);
  return { contentType, bytes: isProtobuf ? encodeProtobuf(signal, request) : encodeJson(request) };
}

/** What logs and spans carry: an integer and a text. */
const numbersOf = (batch: SentBatch, row: number) => [
  { key: 'batch', value: { intValue: BigInt(batch.number) } },
  { key: 'item', value: { stringValue: `item ${row}` } },
];

const rowsOf = <Item>(batch: SentBatch, item: (row: number) => Item): Item[] =>
  Array.from({ length: batch.rows }, (_, row) => item(row));

const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'numbered' } }] };
const scope = { name: 'test' };

const logsOf = (batch: SentBatch, timeUnixNano: bigint): TestRequest => ({
  resourceLogs: [
    {
      resource,
      scopeLogs: [
        {
          scope,
          logRecords: rowsOf(batch, (row) => ({
            timeUnixNano,
            severityNumber: 9,
            body: { stringValue: `log ${row} of batch ${batch.number}` },
            attributes: numbersOf(batch, row),
          })),
        },
      ],
    },
  ],
});

const spansOf = (batch: SentBatch, startTimeUnixNano: bigint): TestRequest => ({
  resourceSpans: [
    {
      resource,
      scopeSpans: [
        {
          scope,
          spans: rowsOf(batch, (row) => ({
            traceId: Buffer.from((batch.number + 1).toString(16).padStart(32, '0'), 'hex'),
            spanId: Buffer.from((row + 1).toString(16).padStart(16, '0'), 'hex'),
            name: `span ${row}`,
            kind: 1,
            startTimeUnixNano,
            endTimeUnixNano: startTimeUnixNano,
            attributes: numbersOf(batch, row),
          })),
        },
      ],
    },
  ],
});

const pointsOf = (batch: SentBatch, timeUnixNano: bigint) =>
  oneScope([
    {
      name: 'numbered_points',
      gauge: {
        dataPoints: rowsOf(batch, (row) => ({
          timeUnixNano,
          asDouble: batch.number,
          attributes: textAttributes({ item: String(row) }),
        })),
      },
    },
  ]);
