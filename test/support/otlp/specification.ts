/**
 * The points of OTLP's specification that `docs/reference/otlp.md` lists, and a service to try them on. Each
 * request is sent in both encodings unless a point is about one of them.
 */
import { request as httpRequest } from 'node:http';
import { expect } from 'vitest';
import { readPage } from '../docs/markdown-pages.ts';
import { authorization, type Row, type Service, ServiceClient } from '../service/service.ts';
import { metricsJson, metricsProtobuf } from './otlp-metrics.ts';
import { encodeJson, encodeProtobuf, otlpType, type TestRequest, type TestValue } from './otlp-requests.ts';

export type OtlpSignal = 'logs' | 'traces' | 'metrics';
export const signals: readonly OtlpSignal[] = ['logs', 'traces', 'metrics'];
export const json = 'application/json';
export const protobuf = 'application/x-protobuf';
export const encodings = [json, protobuf] as const;
export type Encoding = (typeof encodings)[number];

/** What the page says of a point. */
export type Verdict = 'yes' | 'exception' | 'not there';

/** The ids of the points of the page, by what it says of them. */
export function documentedPoints(): Record<Verdict, string[]> {
  const points: Record<Verdict, string[]> = { yes: [], exception: [], 'not there': [] };
  for (const [, id = '', , verdict = ''] of readPage('docs/reference/otlp.md').matchAll(
    /^\| `([a-z0-9-]+)` +\| (.*?) +\| (yes|exception|not there)\b.*\|$/gm,
  )) {
    points[verdict as Verdict].push(id);
  }
  return points;
}

const responseTypes = {
  logs: otlpType('ExportLogsServiceResponse'),
  traces: otlpType('ExportTraceServiceResponse'),
  metrics: otlpType('ExportMetricsServiceResponse'),
} as const;
const statusType = otlpType('RpcStatus');

export const rejectedField = {
  logs: 'rejectedLogRecords',
  traces: 'rejectedSpans',
  metrics: 'rejectedDataPoints',
} as const satisfies Record<OtlpSignal, string>;

export interface OtlpReply {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came. */
  readonly bytes: Buffer;
  /** `Export…ServiceResponse` or `google.rpc.Status`, with 64-bit integers as text. */
  readonly message: Readonly<Record<string, unknown>>;
}

/** A partial success without what protobuf cannot tell from nothing. */
export function partialSuccess(signal: OtlpSignal, reply: OtlpReply): { rejected: number; text: string } {
  const partial = reply.message['partialSuccess'] as Record<string, unknown> | undefined;
  expect(partial, 'a partial success').toBeDefined();
  return { rejected: Number(partial?.[rejectedField[signal]] ?? 0), text: String(partial?.['errorMessage']) };
}

/** Bytes of a request in an encoding. */
export function encoded(signal: OtlpSignal, type: Encoding, request: TestRequest): Buffer {
  if (type === json) return signal === 'metrics' ? metricsJson(request) : encodeJson(request);
  return signal === 'metrics' ? metricsProtobuf(request) : encodeProtobuf(signal, request);
}

const containers = {
  logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
  metrics: ['resourceMetrics', 'scopeMetrics', 'metrics'],
} as const satisfies Record<OtlpSignal, readonly string[]>;

/** What surrounds the records of a request. */
export interface Around {
  readonly resource?: TestValue;
  readonly resourceSchemaUrl?: string;
  readonly scope?: TestValue;
  readonly scopeSchemaUrl?: string;
}

/** A request with one resource and one scope. */
export function exportOf(
  signal: OtlpSignal,
  records: readonly TestRequest[],
  around: Around = {},
): TestRequest {
  const [resources, scopes, items] = containers[signal];
  const { resource, resourceSchemaUrl, scope, scopeSchemaUrl } = around;
  const scopeItems = { scope, [items]: records, schemaUrl: scopeSchemaUrl };
  const resourceItems = { resource, [scopes]: [scopeItems], schemaUrl: resourceSchemaUrl };
  return { [resources]: [resourceItems] };
}

/** A service, asked in the words of OTLP. */
export class OtlpReceiver {
  readonly #service: Service;
  readonly #latest: ServiceClient;
  #datasets = 0;

  constructor(service: Service) {
    this.#service = service;
    this.#latest = new ServiceClient(service.url, { 'millrace-consistency': 'latest' });
  }

  get url(): string {
    return this.#service.url;
  }

  async post(
    signal: OtlpSignal,
    type: Encoding,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<OtlpReply> {
    const reply = await fetch(`${this.url}/v1/${signal}`, {
      method: 'POST',
      headers: { authorization, 'content-type': type, ...headers },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    });
    const bytes = Buffer.from(await reply.arrayBuffer());
    return {
      status: reply.status,
      headers: reply.headers,
      bytes,
      message: messageOf(signal, reply.status, reply.headers.get('content-type'), bytes),
    };
  }

  /** A dataset that no other request goes to. */
  newDataset(): string {
    return `point${++this.#datasets}`;
  }

  /**
   * Stores a request in each of those encodings, and runs a query on what was stored; `{}` in it stands for
   * the dataset. The rows must not depend on the encoding.
   */
  async stored(
    signal: OtlpSignal,
    request: TestRequest | Readonly<Partial<Record<Encoding, string | Uint8Array>>>,
    sql: string,
    check: (reply: OtlpReply) => void = isFullSuccess,
  ): Promise<readonly Row[]> {
    const bodies = request as Partial<Record<Encoding, string | Uint8Array>>;
    const isRaw = json in request || protobuf in request;
    const types = encodings.filter((type) => !isRaw || bodies[type] !== undefined);
    const results = await Promise.all(
      types.map(async (type) => {
        const body = bodies[type] ?? encoded(signal, type, request as TestRequest);
        const dataset = this.newDataset();
        const reply = await this.post(signal, type, body, { 'x-p-stream': dataset });
        expect(reply.status, reply.bytes.toString()).toBe(200);
        check(reply);
        return await this.query(sql.replaceAll('{}', dataset));
      }),
    );
    for (const [index, rows] of results.entries()) expect(rows, types[index]).toEqual(results[0]);
    return results[0] ?? [];
  }

  /** What a query says of all that was acknowledged before. */
  query(sql: string): Promise<readonly Row[]> {
    return this.#latest.query(sql);
  }

  /** A body without a declared length, in chunks. */
  async postChunks(signal: OtlpSignal, type: Encoding, chunks: readonly Uint8Array[]): Promise<number> {
    return await new Promise((resolve, reject) => {
      const request = httpRequest(
        `${this.url}/v1/${signal}`,
        { method: 'POST', headers: { authorization, 'content-type': type } },
        (reply) => {
          reply.resume();
          reply.on('end', () => resolve(reply.statusCode ?? 0));
        },
      );
      request.on('error', reject);
      for (const chunk of chunks) request.write(chunk);
      request.end();
    });
  }
}

export function isFullSuccess(reply: OtlpReply): void {
  expect(reply.message, reply.bytes.toString()).toEqual({});
}

function messageOf(
  signal: OtlpSignal,
  status: number,
  contentType: string | null,
  bytes: Buffer,
): Record<string, unknown> {
  if (contentType === json) return JSON.parse(bytes.toString()) as Record<string, unknown>;
  expect(contentType).toBe(protobuf);
  const type = status === 200 ? responseTypes[signal] : statusType;
  return type.toObject(type.decode(bytes), { longs: String, bytes: Buffer });
}
