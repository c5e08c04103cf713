/**
 * A second implementation of what must be stored of an OTLP request: protobufjs' reflection reads it, and the
 * rules are applied to plain objects, regardless of speed. It shares only the bounds with the decoders.
 */
import { limits } from '../../../src/limits/limits.ts';
import type { NativeRow, NativeValue } from '../clickhouse/native-rows.ts';
import { requestTypes, type Signal } from './otlp-requests.ts';

/** The rows of the table, and the number of records that are refused or stored but for an id. */
export interface ExpectedRows {
  readonly rows: readonly NativeRow[];
  readonly refused: number;
}

export type Message = Readonly<Record<string, unknown>>;

/** @throws Error if protobufjs cannot read the message */
export function expectedRows(signal: Signal, message: Uint8Array, receivedMicros: number): ExpectedRows {
  const type = requestTypes[signal];
  const request = type.toObject(type.decode(message), {
    longs: String,
    bytes: Buffer,
    defaults: true,
    oneofs: true,
  });
  const rows: NativeRow[] = [];
  let refused = 0;
  const [resources, scopes, records] =
    signal === 'logs'
      ? ['resourceLogs', 'scopeLogs', 'logRecords']
      : ['resourceSpans', 'scopeSpans', 'spans'];
  for (const resource of list(request, resources)) {
    for (const scope of list(resource, scopes)) {
      for (const record of list(scope, records)) {
        const shared = { ...resourceColumns(resource), ...scopeColumns(scope) };
        const own =
          signal === 'logs' ? logColumns(record, receivedMicros) : spanColumns(record, receivedMicros);
        if (own === undefined || hasWrongId(record)) refused++;
        if (own !== undefined) rows.push({ ...shared, ...own });
      }
    }
  }
  return { rows, refused };
}

const list = (message: Message, name: string): readonly Message[] =>
  (message[name] ?? []) as readonly Message[];
const text = (message: Message | undefined | null, name: string): string => String(message?.[name] ?? '');
const number = (message: Message | undefined | null, name: string): number => Number(message?.[name] ?? 0);

export class TooDeep extends Error {}

/** A value as JSON text, or as the text that is stored. */
export function valueText(value: Message | null | undefined, inJson: boolean, depth = 1): string {
  const kind = value?.['value'] as string | undefined;
  const inner = kind === undefined ? undefined : value?.[kind];
  switch (kind) {
    case 'stringValue':
      return inJson ? JSON.stringify(inner) : String(inner);
    case 'boolValue':
    case 'intValue':
      return String(inner);
    case 'doubleValue': {
      const double = inner as number;
      const digits = Object.is(double, -0) ? '-0' : String(double);
      return inJson && !Number.isFinite(double) ? `"${digits}"` : digits;
    }
    case 'bytesValue': {
      const base64 = (inner as Buffer).toString('base64');
      return inJson ? `"${base64}"` : base64;
    }
    case 'arrayValue':
    case 'kvlistValue': {
      if (depth > limits.maxAttributeDepth) throw new TooDeep();
      const values = list(inner as Message, 'values');
      if (kind === 'arrayValue')
        return `[${values.map((each) => valueText(each, true, depth + 1)).join(',')}]`;
      const pair = (each: Message): string =>
        `${JSON.stringify(each['key'])}:${valueText(each['value'] as Message, true, depth + 1)}`;
      return `{${values.map(pair).join(',')}}`;
    }
    default:
      return 'null';
  }
}

function attributes(message: Message | null | undefined): readonly NativeValue[] {
  const pairs = list(message ?? {}, 'attributes').map((each) => [
    text(each, 'key'),
    valueText(each['value'] as Message, false),
  ]);
  return pairs
    .map((pair, index) => ({ pair, index }))
    .sort(
      (a, b) =>
        Buffer.compare(Buffer.from(a.pair[0] ?? ''), Buffer.from(b.pair[0] ?? '')) || a.index - b.index,
    )
    .map(({ pair }) => pair);
}

function resourceColumns(wrapper: Message): NativeRow {
  const resource = wrapper['resource'] as Message | null;
  const pairs = attributes(resource) as readonly (readonly string[])[];
  const refs = list(resource ?? {}, 'entityRefs').map((ref) => ({
    schemaUrl: text(ref, 'schemaUrl'),
    type: text(ref, 'type'),
    idKeys: ref['idKeys'],
    descriptionKeys: ref['descriptionKeys'],
  }));
  return {
    service_name: pairs.find(([key]) => key === 'service.name')?.[1] ?? '',
    resource_attributes: pairs,
    resource_dropped_attributes_count: number(resource, 'droppedAttributesCount'),
    resource_schema_url: text(wrapper, 'schemaUrl'),
    resource_entity_refs: refs.length === 0 ? '' : JSON.stringify(refs),
  };
}

function scopeColumns(wrapper: Message): NativeRow {
  const scope = wrapper['scope'] as Message | null;
  return {
    scope_name: text(scope, 'name'),
    scope_version: text(scope, 'version'),
    scope_attributes: attributes(scope),
    scope_dropped_attributes_count: number(scope, 'droppedAttributesCount'),
    scope_schema_url: text(wrapper, 'schemaUrl'),
  };
}

const endNanos = BigInt(limits.maxSampleTimestampMs + 1) * 1_000_000n;
const nanos = (message: Message, name: string): bigint => BigInt(text(message, name));

const isWrongId = (id: unknown, bytes: number): boolean =>
  id !== undefined && (id as Buffer).length !== bytes && (id as Buffer).length > 0;

/** Whether an id of a log record or a span, or of a link, has a wrong length. */
const hasWrongId = (message: Message): boolean =>
  isWrongId(message['traceId'], 16) ||
  isWrongId(message['spanId'], 8) ||
  isWrongId(message['parentSpanId'], 8) ||
  list(message, 'links').some(hasWrongId);

function hexId(message: Message, name: string, bytes: number): string {
  const id = message[name] as Buffer;
  return id.length === bytes && id.some((byte) => byte !== 0) ? id.toString('hex') : '';
}

/** Undefined if a value is nested too deeply. */
function unlessTooDeep(make: () => NativeRow): NativeRow | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof TooDeep) return undefined;
    throw error;
  }
}

function logColumns(record: Message, receivedMicros: number): NativeRow | undefined {
  const time = nanos(record, 'timeUnixNano');
  const observed = nanos(record, 'observedTimeUnixNano');
  if (time >= endNanos || observed >= endNanos) return undefined;
  return unlessTooDeep(() => ({
    timestamp: String(time || observed || BigInt(receivedMicros) * 1000n),
    observed_timestamp: String(observed),
    trace_id: hexId(record, 'traceId', 16),
    span_id: hexId(record, 'spanId', 8),
    trace_flags: number(record, 'flags'),
    severity_number: number(record, 'severityNumber'),
    severity_text: text(record, 'severityText'),
    event_name: text(record, 'eventName'),
    body: record['body'] === null ? '' : valueText(record['body'] as Message, false),
    attributes: attributes(record),
    dropped_attributes_count: number(record, 'droppedAttributesCount'),
  }));
}

function spanColumns(span: Message, receivedMicros: number): NativeRow | undefined {
  const start = nanos(span, 'startTimeUnixNano');
  const end = nanos(span, 'endTimeUnixNano');
  const events = list(span, 'events');
  const links = list(span, 'links');
  const times = [start, end, ...events.map((event) => nanos(event, 'timeUnixNano'))];
  if (times.some((time) => time >= endNanos) || hasWrongId({ ...span, links: [] })) return undefined;
  const timestamp = start || end || BigInt(receivedMicros) * 1000n;
  const status = span['status'] as Message | null;
  return unlessTooDeep(() => ({
    timestamp: String(timestamp),
    duration_ns: String(end === 0n ? -(2n ** 63n) : end - timestamp),
    trace_id: hexId(span, 'traceId', 16),
    span_id: hexId(span, 'spanId', 8),
    parent_span_id: hexId(span, 'parentSpanId', 8),
    trace_state: text(span, 'traceState'),
    trace_flags: number(span, 'flags'),
    name: text(span, 'name'),
    kind: number(span, 'kind'),
    status_code: number(status, 'code'),
    status_message: text(status, 'message'),
    attributes: attributes(span),
    dropped_attributes_count: number(span, 'droppedAttributesCount'),
    dropped_events_count: number(span, 'droppedEventsCount'),
    dropped_links_count: number(span, 'droppedLinksCount'),
    events_timestamp: events.map((event) => text(event, 'timeUnixNano')),
    events_name: events.map((event) => text(event, 'name')),
    events_attributes: events.map(attributes),
    events_dropped_attributes_count: events.map((event) => number(event, 'droppedAttributesCount')),
    links_trace_id: links.map((link) => hexId(link, 'traceId', 16)),
    links_span_id: links.map((link) => hexId(link, 'spanId', 8)),
    links_trace_state: links.map((link) => text(link, 'traceState')),
    links_flags: links.map((link) => number(link, 'flags')),
    links_attributes: links.map(attributes),
    links_dropped_attributes_count: links.map((link) => number(link, 'droppedAttributesCount')),
  }));
}
