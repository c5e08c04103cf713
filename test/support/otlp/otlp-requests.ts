/**
 * OTLP requests for tests: plain objects with the names of JSON, in protobuf through protobufjs' reflection
 * of the files in `schema/proto`, and in JSON by hand. Neither shares code with the decoders.
 */
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { doubleText } from '../clickhouse/native-rows.ts';
import type { Random } from '../lib/random.ts';

export interface TestAnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: bigint;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly TestAnyValue[] };
  readonly kvlistValue?: { readonly values: readonly TestKeyValue[] };
  readonly bytesValue?: Buffer;
}
export interface TestKeyValue {
  readonly key: string;
  readonly value?: TestAnyValue;
}
/** Buffers are ids or bytes, bigints integers of 64 bits. */
export type TestValue =
  | string
  | number
  | bigint
  | boolean
  | Buffer
  | undefined
  | readonly TestValue[]
  | { readonly [name: string]: TestValue };
export interface TestRequest {
  readonly [name: string]: TestValue;
}

const root = new protobuf.Root();
for (const name of ['otlp', 'otlp-metrics']) {
  const text = readFileSync(new URL(`../../../schema/proto/${name}.proto`, import.meta.url), 'utf8');
  protobuf.parse(text, root);
}

/** A message of the protocol by reflection. */
export const otlpType = (name: string): protobuf.Type => root.lookupType(`millrace.otlp.${name}`);

export type Signal = 'logs' | 'traces';
export const requestTypes = {
  logs: otlpType('ExportLogsServiceRequest'),
  traces: otlpType('ExportTraceServiceRequest'),
} as const satisfies Record<Signal, protobuf.Type>;

/** What protobufjs takes: 64-bit integers as their halves. */
function forProtobuf(value: TestValue): unknown {
  if (typeof value === 'bigint') {
    const half = (bits: bigint): number => Number(BigInt.asIntN(32, bits));
    return { low: half(value), high: half(value >> 32n), unsigned: value >= 0n };
  }
  if (Array.isArray(value)) return value.map(forProtobuf);
  if (typeof value !== 'object' || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(
    Object.entries(value as TestRequest).map(([name, inner]) => [name, forProtobuf(inner)]),
  );
}

export function encodeProtobuf(signal: Signal, request: TestRequest): Buffer {
  const type = requestTypes[signal];
  return Buffer.from(type.encode(type.fromObject(forProtobuf(request) as object)).finish());
}

/** Ways in which senders of JSON differ. */
export interface JsonStyle {
  readonly snakeCase: boolean;
  /** 64-bit integers as numbers, where a double holds them. */
  readonly bareIntegers: boolean;
  readonly upperCaseIds: boolean;
  readonly enumNames: boolean;
  readonly indent: boolean;
  /** Fields that nobody knows, and nulls. */
  readonly strangers: boolean;
  /** Members of an object in another order. */
  readonly reversed: boolean;
}

export const plainStyle: JsonStyle = {
  snakeCase: false,
  bareIntegers: false,
  upperCaseIds: false,
  enumNames: false,
  indent: false,
  strangers: false,
  reversed: false,
};

export const randomStyle = (random: Random): JsonStyle => ({
  snakeCase: random.chance(0.3),
  bareIntegers: random.chance(0.3),
  upperCaseIds: random.chance(0.3),
  enumNames: random.chance(0.3),
  indent: random.chance(0.3),
  strangers: random.chance(0.3),
  reversed: random.chance(0.3),
});

const ids: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);
const enumNames: Readonly<Record<string, readonly string[]>> = {
  kind: ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map(
    (name) => `SPAN_KIND_${name}`,
  ),
  code: ['UNSET', 'OK', 'ERROR'].map((name) => `STATUS_CODE_${name}`),
  aggregationTemporality: ['UNSPECIFIED', 'DELTA', 'CUMULATIVE'].map(
    (name) => `AGGREGATION_TEMPORALITY_${name}`,
  ),
  severityNumber: ['SEVERITY_NUMBER_UNSPECIFIED', 'SEVERITY_NUMBER_TRACE', 'SEVERITY_NUMBER_TRACE2'],
};

export function encodeJson(request: TestRequest, style = plainStyle): Buffer {
  return Buffer.from(JSON.stringify(forJson('', request, style), null, style.indent ? 2 : 0));
}

function forJson(name: string, value: TestValue, style: JsonStyle): unknown {
  if (typeof value === 'bigint') {
    const isSafe = Number.isSafeInteger(Number(value));
    return style.bareIntegers && isSafe ? Number(value) : String(value);
  }
  if (typeof value === 'number') {
    // JSON.stringify makes the zeros alike.
    if (!Number.isFinite(value) || Object.is(value, -0)) return doubleText(value);
    return (style.enumNames ? enumNames[name]?.[value] : undefined) ?? value;
  }
  if (Buffer.isBuffer(value)) {
    if (!ids.has(name)) return value.toString('base64');
    return style.upperCaseIds ? value.toString('hex').toUpperCase() : value.toString('hex');
  }
  if (Array.isArray(value)) return value.map((inner) => forJson(name, inner, style));
  if (typeof value !== 'object') return value;
  return objectForJson(value as TestRequest, style);
}

function objectForJson(value: TestRequest, style: JsonStyle): Record<string, unknown> {
  const spelled = (key: string): string =>
    style.snakeCase ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key;
  const fields = Object.entries(value).map(
    ([key, inner]) => [spelled(key), forJson(key, inner, style)] as const,
  );
  const strangers: [string, unknown][] = style.strangers
    ? [
        ['stranger', { a: [1, { b: null }], 'c"': 'x' }],
        ['droppedAttributesCount', null],
      ]
    : [];
  // The nulls come first: repeated fields are the subject of another test.
  const all = [...strangers, ...(style.reversed ? fields.toReversed() : fields)];
  return Object.fromEntries(all);
}
