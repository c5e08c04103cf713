/** Random OTLP requests, with values at their bounds, empty ones and odd ones. A seed brings one back. */
import { limits } from '../../../src/limits/limits.ts';
import type { Random } from '../lib/random.ts';
import type { Signal, TestAnyValue, TestKeyValue, TestRequest, TestValue } from './otlp-requests.ts';

const texts = [
  '',
  'a',
  'GET',
  'größe',
  '😀',
  '"quoted"\\ and \u0000\u001f\n\t',
  'null',
  '42',
  'x'.repeat(70),
  'ü'.repeat(200),
];
const keys = [
  '',
  'a',
  'b',
  'http.method',
  'http.status_code',
  'service.name',
  'ключ',
  'z'.repeat(100),
  'k"e\ny',
];
const integers = [
  0n,
  1n,
  -1n,
  42n,
  2n ** 31n,
  -(2n ** 31n) - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
];
const doubles = [
  0,
  -0,
  1.5,
  -1e300,
  5e-324,
  0.1,
  1e21,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
];
const counts = [0, 0, 0, 1, 7, 2 ** 32 - 1];
const now = 1_763_640_000_123_456_789n;
const times = [0n, 1n, now, now, now, now + 1n, 999_999_999n, 2n ** 32n * 1_000_000_000n - 1n];
const badTimes = [2n ** 32n * 1_000_000_000n, 2n ** 63n, 2n ** 64n - 1n];

export class OtlpGenerator {
  readonly #random: Random;
  readonly #badness: number;
  readonly #shortness: number;

  /**
   * @param badness how often a record has something that cannot be stored
   * @param shortness how often a request has a record or two and no more, of which many can be
   *   had in the same time
   */
  constructor(random: Random, badness = 0.02, shortness = 0) {
    this.#random = random;
    this.#badness = badness;
    this.#shortness = shortness;
  }

  request(signal: Signal): TestRequest {
    const [resources, scopes, records] =
      signal === 'logs'
        ? ['resourceLogs', 'scopeLogs', 'logRecords']
        : ['resourceSpans', 'scopeSpans', 'spans'];
    const isShort = this.#random.chance(this.#shortness);
    const list = <T>(max: number, make: () => T): T[] => (isShort ? [make()] : this.#list(max, make));
    const record = (): TestRequest => (signal === 'logs' ? this.#log() : this.#span());
    const scope = (): TestRequest => ({
      ...this.#maybe('scope', () => this.#scope()),
      [records]: isShort ? [record(), ...this.#list(1, record)] : this.#list(5, record),
      ...this.#maybe('schemaUrl', () => this.#pick(texts)),
    });
    const resource = (): TestRequest => ({
      ...this.#maybe('resource', () => this.#resource()),
      [scopes]: list(3, scope),
      ...this.#maybe('schemaUrl', () => this.#pick(texts)),
    });
    return { [resources]: list(3, resource) };
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#random.integer(0, choices.length - 1)] as T;
  }

  #list<T>(max: number, make: () => T): T[] {
    return Array.from({ length: this.#random.integer(0, max) }, make);
  }

  #maybe(name: string, make: () => TestValue): TestRequest {
    return this.#random.chance(0.7) ? { [name]: make() } : {};
  }

  #time(): bigint {
    return this.#pick(this.#random.chance(this.#badness) ? badTimes : times);
  }

  #id(bytes: number): Buffer {
    const kind = this.#random.integer(0, 9);
    if (kind === 0) return Buffer.alloc(0);
    if (kind === 1) return Buffer.alloc(bytes);
    if (kind === 2) return Buffer.alloc(bytes - 1, 7);
    return Buffer.from(Array.from({ length: bytes }, () => this.#random.integer(0, 255)));
  }

  value(depth = 0): TestAnyValue {
    const kind = this.#random.integer(0, depth > 3 ? 5 : 7);
    if (kind === 0) return {};
    if (kind === 1) return { stringValue: this.#pick(texts) };
    if (kind === 2) return { boolValue: this.#random.chance(0.5) };
    if (kind === 3) return { intValue: this.#pick(integers) };
    if (kind === 4) return { doubleValue: this.#pick(doubles) };
    if (kind === 5) return { bytesValue: Buffer.from(this.#list(5, () => this.#random.integer(0, 255))) };
    if (kind === 6) return { arrayValue: { values: this.#list(3, () => this.value(depth + 1)) } };
    return { kvlistValue: { values: this.#list(3, () => this.#pair(depth + 1)) } };
  }

  #pair(depth = 0): TestKeyValue {
    return { key: this.#pick(keys), ...this.#maybe('value', () => this.value(depth) as TestValue) };
  }

  #attributes(): TestValue {
    if (this.#random.chance(this.#badness))
      return [{ key: 'deep', value: nested(limits.maxAttributeDepth + 1) }];
    if (this.#random.chance(this.#badness)) return [{ key: 'deep', value: nested(limits.maxAttributeDepth) }];
    return this.#list(6, () => this.#pair() as unknown as TestRequest);
  }

  /** Everything in it can be stored: records that cannot be are the subject of another test. */
  #resource(): TestRequest {
    const ref = (): TestRequest => ({
      ...this.#maybe('schemaUrl', () => this.#pick(texts)),
      ...this.#maybe('type', () => this.#pick(texts)),
      idKeys: this.#list(3, () => this.#pick(keys)),
      descriptionKeys: this.#list(3, () => this.#pick(keys)),
    });
    return {
      attributes: this.#list(6, () => this.#pair() as unknown as TestRequest),
      ...this.#maybe('droppedAttributesCount', () => this.#pick(counts)),
      entityRefs: this.#random.chance(0.2) ? this.#list(2, ref) : [],
    };
  }

  #scope(): TestRequest {
    return {
      ...this.#maybe('name', () => this.#pick(texts)),
      ...this.#maybe('version', () => this.#pick(texts)),
      attributes: this.#list(3, () => this.#pair() as unknown as TestRequest),
      ...this.#maybe('droppedAttributesCount', () => this.#pick(counts)),
    };
  }

  #log(): TestRequest {
    return {
      ...this.#maybe('timeUnixNano', () => this.#time()),
      ...this.#maybe('observedTimeUnixNano', () => this.#time()),
      ...this.#maybe('severityNumber', () => this.#pick([0, 1, 2, 9, 17, 24, -1, 2 ** 31 - 1])),
      ...this.#maybe('severityText', () => this.#pick(texts)),
      ...this.#maybe('body', () => this.value() as TestValue),
      attributes: this.#attributes(),
      ...this.#maybe('droppedAttributesCount', () => this.#pick(counts)),
      ...this.#maybe('flags', () => this.#pick(counts)),
      ...this.#maybe('traceId', () => this.#id(16)),
      ...this.#maybe('spanId', () => this.#id(8)),
      ...this.#maybe('eventName', () => this.#pick(texts)),
    };
  }

  #span(): TestRequest {
    const event = (): TestRequest => ({
      ...this.#maybe('timeUnixNano', () => this.#time()),
      ...this.#maybe('name', () => this.#pick(texts)),
      attributes: this.#attributes(),
      ...this.#maybe('droppedAttributesCount', () => this.#pick(counts)),
    });
    const link = (): TestRequest => ({
      ...this.#maybe('traceId', () => this.#id(16)),
      ...this.#maybe('spanId', () => this.#id(8)),
      ...this.#maybe('traceState', () => this.#pick(texts)),
      attributes: this.#attributes(),
      ...this.#maybe('droppedAttributesCount', () => this.#pick(counts)),
      ...this.#maybe('flags', () => this.#pick(counts)),
    });
    return {
      ...this.#maybe('traceId', () => this.#id(16)),
      ...this.#maybe('spanId', () => this.#id(8)),
      ...this.#maybe('parentSpanId', () => this.#id(8)),
      ...this.#maybe('traceState', () => this.#pick(texts)),
      ...this.#maybe('name', () => this.#pick(texts)),
      ...this.#maybe('kind', () => this.#pick([0, 1, 2, 3, 5, 6, -1])),
      ...this.#maybe('startTimeUnixNano', () => this.#time()),
      ...this.#maybe('endTimeUnixNano', () => this.#time()),
      attributes: this.#attributes(),
      ...this.#maybe('droppedAttributesCount', () => this.#pick(counts)),
      events: this.#list(3, event),
      ...this.#maybe('droppedEventsCount', () => this.#pick(counts)),
      links: this.#list(3, link),
      ...this.#maybe('droppedLinksCount', () => this.#pick(counts)),
      ...this.#maybe('status', () => ({
        ...this.#maybe('code', () => this.#pick([0, 1, 2, 3])),
        ...this.#maybe('message', () => this.#pick(texts)),
      })),
      ...this.#maybe('flags', () => this.#pick(counts)),
    };
  }
}

/** Arrays inside each other. */
function nested(depth: number): TestRequest {
  let value: TestRequest = { boolValue: true };
  for (let level = 0; level < depth; level++) value = { arrayValue: { values: [value] } };
  return value;
}
