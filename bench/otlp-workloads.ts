import { gzipSync } from 'node:zlib';
import { type Random, seededRandom } from '../test/support/lib/random.ts';
import {
  encodeJson,
  encodeProtobuf,
  type Signal,
  type TestRequest,
  type TestValue,
} from '../test/support/otlp/otlp-requests.ts';
import { seed, type Workload } from './workloads.ts';

export interface OtlpCase {
  readonly signal: Signal;
  readonly encoding: 'json' | 'protobuf';
  /** Records a request: SDKs send 512, Collectors 8,192. */
  readonly batch: 512 | 8192;
  readonly gzip: boolean;
}

export const otlpCases: readonly OtlpCase[] = (['logs', 'traces'] as const).flatMap((signal) =>
  (['json', 'protobuf'] as const).flatMap((encoding) =>
    ([512, 8192] as const).flatMap((batch) =>
      [false, true].map((gzip) => ({ signal, encoding, batch, gzip })),
    ),
  ),
);

export const caseName = ({ signal, encoding, batch, gzip }: OtlpCase): string =>
  `${signal}, ${encoding}, ${batch}, ${gzip ? 'gzip' : 'plain'}`;

const services = ['checkout', 'payment', 'catalog', 'search', 'shipping', 'account'];
const routes = ['/api/v1/orders', '/api/v1/cart', '/api/v1/items/{id}', '/login', '/search', '/healthz'];
const methods = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'];
const severities = [
  [5, 'DEBUG'],
  [9, 'INFO'],
  [9, 'INFO'],
  [9, 'INFO'],
  [13, 'WARN'],
  [17, 'ERROR'],
] as const;
/** Records of one resource in a request. */
const recordsPerResource = 128;

const text = (key: string, stringValue: string): TestValue => ({ key, value: { stringValue } });
const integer = (key: string, value: number): TestValue => ({ key, value: { intValue: BigInt(value) } });

/** Requests of a case, `records` in all, the last of now. */
export function otlpWorkload(
  kind: OtlpCase,
  records: number,
): Workload & { readonly plain: readonly Buffer[] } {
  const random = seededRandom(seed);
  const requests = Math.ceil(records / kind.batch);
  const firstNanos = BigInt(Date.now() - requests * 1000) * 1_000_000n;
  const make = new Requests(random, kind.signal);
  const plain = Array.from({ length: requests }, (_, index) => {
    const request = make.request(kind.batch, firstNanos + BigInt(index) * 1_000_000_000n);
    return kind.encoding === 'json' ? encodeJson(request) : encodeProtobuf(kind.signal, request);
  });
  const items = requests * kind.batch;
  const { signal, encoding, gzip } = kind;
  return {
    name: caseName(kind),
    protocol: 'otlp',
    unit: signal === 'logs' ? 'logs' : 'spans',
    warmUp: [],
    warmUpItems: 0,
    bodies: gzip ? plain.map((body) => gzipSync(body)) : plain,
    plain,
    items,
    bytesPerItem: plain.reduce((sum, body) => sum + body.length, 0) / items,
    route: {
      path: `/v1/${signal}`,
      headers: {
        'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
        ...(gzip ? { 'content-encoding': 'gzip' } : {}),
      },
    },
  };
}

class Requests {
  readonly #random: Random;
  readonly #signal: Signal;

  constructor(random: Random, signal: Signal) {
    this.#random = random;
    this.#signal = signal;
  }

  request(records: number, startNanos: bigint): TestRequest {
    const resources = Array.from({ length: records / recordsPerResource }, (_, index) =>
      this.#resource(index, startNanos),
    );
    return { [this.#signal === 'logs' ? 'resourceLogs' : 'resourceSpans']: resources };
  }

  #resource(index: number, startNanos: bigint): TestRequest {
    const service = services[index % services.length] as string;
    const resource = {
      attributes: [
        text('service.name', service),
        text('service.namespace', 'shop'),
        text('service.version', '2.14.3'),
        text('deployment.environment.name', 'production'),
        text('k8s.pod.name', `${service}-6d5f8c7b9-${this.#hex(5)}`),
        text('host.name', `node-${this.#random.integer(1, 12)}`),
      ],
    };
    const scope = { name: `@shop/${service}`, version: '1.4.0' };
    const records = Array.from({ length: recordsPerResource }, (_, record) => {
      const nanos = startNanos + BigInt(record * 7_000_000 + this.#random.integer(0, 999_999));
      return this.#signal === 'logs' ? this.#log(nanos) : this.#span(nanos);
    });
    return this.#signal === 'logs'
      ? { resource, scopeLogs: [{ scope, logRecords: records }] }
      : { resource, scopeSpans: [{ scope, spans: records }] };
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#random.integer(0, choices.length - 1)] as T;
  }

  #hex(digits: number): string {
    return Array.from({ length: digits }, () => this.#random.integer(0, 15).toString(16)).join('');
  }

  #id(bytes: number): Buffer {
    return Buffer.from(Array.from({ length: bytes }, () => this.#random.integer(0, 255)));
  }

  #log(nanos: bigint): TestRequest {
    const [severityNumber, severityText] = this.#pick(severities);
    return {
      timeUnixNano: nanos,
      observedTimeUnixNano: nanos + 1000n,
      severityNumber,
      severityText,
      body: {
        stringValue: `order ${this.#random.integer(1, 9_999_999)} handled in ${this.#random.integer(1, 900)} ms`,
      },
      attributes: [
        text('http.request.method', this.#pick(methods)),
        text('http.route', this.#pick(routes)),
        integer('http.response.status_code', 200 + this.#random.integer(0, 3) * 100),
        text('user.id', `u-${this.#random.integer(1, 50_000)}`),
      ],
      flags: 1,
      traceId: this.#id(16),
      spanId: this.#id(8),
    };
  }

  #span(nanos: bigint): TestRequest {
    const route = this.#pick(routes);
    const method = this.#pick(methods);
    const failed = this.#random.chance(0.05);
    const end = nanos + BigInt(this.#random.integer(100_000, 900_000_000));
    return {
      traceId: this.#id(16),
      spanId: this.#id(8),
      parentSpanId: this.#random.chance(0.8) ? this.#id(8) : Buffer.alloc(0),
      name: `${method} ${route}`,
      kind: this.#random.integer(1, 5),
      startTimeUnixNano: nanos,
      endTimeUnixNano: end,
      attributes: [
        text('http.request.method', method),
        text('http.route', route),
        integer('http.response.status_code', failed ? 503 : 200),
        text('server.address', 'shop.example.com'),
        integer('server.port', 443),
        text('user.id', `u-${this.#random.integer(1, 50_000)}`),
      ],
      events: failed
        ? [
            {
              timeUnixNano: end,
              name: 'exception',
              attributes: [text('exception.type', 'Timeout'), text('exception.message', 'no answer')],
            },
          ]
        : [],
      status: failed ? { code: 2, message: 'no answer' } : {},
    };
  }
}
