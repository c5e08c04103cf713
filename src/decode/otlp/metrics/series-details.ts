import { StringColumn, UIntColumn } from '../../../columnar/columns.ts';
import { LowCardinalityColumn, MapColumn } from '../../../columnar/dictionary-columns.ts';
import type { BlockColumn } from '../../../columnar/native-block.ts';
import type { RowDetails } from '../../metrics/row-details.ts';
import { fieldTag, ProtobufReader, type TextRange } from '../../wire/protobuf-reader.ts';
import { entityRefsText } from './entity-refs.ts';
import type { MetricLabels } from './metric-labels.ts';
import { type MetricOrigin, metricKinds, temporalityName } from './metric-origin.ts';

const expectedRows = 16;
const resourceDropped = fieldTag(2, 'varint');
const scopeDropped = fieldTag(4, 'varint');

/**
 * What a row of `series` has of OTLP beside its labels: what the metric is, and what its resource and scope
 * have that is no attribute; and the attributes that gave way to a label of their name.
 */
export class SeriesDetails implements RowDetails {
  readonly #message: Buffer;
  readonly #origin: MetricOrigin;
  readonly #labels: MetricLabels;
  readonly #type = new LowCardinalityColumn('type');
  readonly #unit = new LowCardinalityColumn('unit');
  readonly #temporality = new LowCardinalityColumn('temporality');
  readonly #isMonotonic = new UIntColumn('is_monotonic', 'Bool', 8, expectedRows);
  readonly #resourceSchemaUrl = new LowCardinalityColumn('resource_schema_url');
  readonly #scopeSchemaUrl = new LowCardinalityColumn('scope_schema_url');
  readonly #resourceDropped = new UIntColumn('resource_dropped_attributes', 'UInt32', 32, expectedRows);
  readonly #scopeDropped = new UIntColumn('scope_dropped_attributes', 'UInt32', 32, expectedRows);
  readonly #entityRefs = new StringColumn('entity_refs', expectedRows);
  readonly #shadowed = new MapColumn('shadowed_attributes');
  /** What the resource and the scope that came last say, since many series have them. */
  #resource: TextRange | undefined;
  #resourceDroppedCount = 0;
  #refs: Buffer = Buffer.alloc(0);
  #scope: TextRange | undefined;
  #scopeDroppedCount = 0;

  constructor(message: Buffer, origin: MetricOrigin, labels: MetricLabels) {
    this.#message = message;
    this.#origin = origin;
    this.#labels = labels;
  }

  get columns(): readonly BlockColumn[] {
    return [
      this.#type,
      this.#unit,
      this.#temporality,
      this.#isMonotonic,
      this.#resourceSchemaUrl,
      this.#scopeSchemaUrl,
      this.#resourceDropped,
      this.#scopeDropped,
      this.#entityRefs,
      this.#shadowed,
    ];
  }

  append(): void {
    const message = this.#message;
    const { kind, unit, temporality, isMonotonic } = this.#origin;
    const { resourceSchemaUrl, scopeSchemaUrl } = this.#origin;
    this.#readOrigin();
    this.#type.append(metricKinds[kind]);
    this.#unit.append(message, unit.start, unit.end);
    this.#temporality.append(temporalityName(temporality));
    this.#isMonotonic.append(isMonotonic ? 1 : 0);
    this.#resourceSchemaUrl.append(message, resourceSchemaUrl.start, resourceSchemaUrl.end);
    this.#scopeSchemaUrl.append(message, scopeSchemaUrl.start, scopeSchemaUrl.end);
    this.#resourceDropped.append(this.#resourceDroppedCount);
    this.#scopeDropped.append(this.#scopeDroppedCount);
    this.#entityRefs.append(this.#refs);
    this.#appendShadowed();
  }

  #readOrigin(): void {
    const { resource, scope } = this.#origin;
    if (resource !== this.#resource) {
      this.#resource = resource;
      this.#resourceDroppedCount = numberField(this.#message, resource, resourceDropped);
      this.#refs = Buffer.from(entityRefsText(this.#message, resource));
    }
    if (scope === this.#scope) return;
    this.#scope = scope;
    this.#scopeDroppedCount = numberField(this.#message, scope, scopeDropped);
  }

  #appendShadowed(): void {
    const { shadowed, bytes } = this.#labels;
    for (const { origin, nameStart, nameEnd, valueStart, valueEnd } of shadowed) {
      const name = Buffer.from(`${origin}.${bytes.toString('utf8', nameStart, nameEnd)}`);
      const pair = Buffer.concat([name, bytes.subarray(valueStart, valueEnd)]);
      this.#shadowed.appendPair(pair, 0, name.length, name.length, pair.length);
    }
    this.#shadowed.endRow();
  }

  byteLength(): number {
    return this.#shadowed.byteLength() + this.#entityRefs.byteLength();
  }
}

/** A number of 32 bits in a message; 0 if it is not there. */
function numberField(message: Buffer, { start, end }: TextRange, field: number): number {
  const reader = new ProtobufReader(message);
  reader.position = start;
  let value = 0;
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === field) {
      reader.varint64(end);
      value = reader.low;
    } else reader.skip(tag, end);
  }
  return value;
}
