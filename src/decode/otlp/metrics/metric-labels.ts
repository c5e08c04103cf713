/**
 * The labels of the series that a data point belongs to:
 *
 *     __name__             the metric's name as it was sent, with a suffix where a point makes several series
 *     le, quantile         of a histogram's bucket, of a summary's quantile
 *     <key>                each attribute of the point
 *     otel_scope_name, otel_scope_version, otel_scope_<key>   the scope, and its attributes
 *     <key>                each attribute of the resource
 *
 * Where two have the same name the one that stands higher in this list is the label, and of two in the same
 * list of attributes the later one. The other is kept in the row of the series (`series-details.ts`).
 *
 * A series that is known costs a hash of the point's attributes as they are encoded. What comes from
 * the resource, the scope and the metric is hashed once, and text is made only for a series that is
 * met for the first time.
 */
import { isAscii } from 'node:buffer';
import type { ByteWriter } from '../../../lib/byte-writer.ts';
import { LabelHash } from '../../metrics/label-hash.ts';
import type { EncodedLabels, LabelList, LabelRange } from '../../metrics/label-list.ts';
import { highBits, lowBits } from '../../wire/double-bits.ts';
import { fieldTag, ProtobufReader, type TextRange } from '../../wire/protobuf-reader.ts';
import { type AttributeRange, AttributeTexts } from '../attribute-texts.ts';
import type { MetricOrigin } from './metric-origin.ts';
import type { PointHeader } from './point-header.ts';

/**
 * One of the series that a point makes: what is appended to the metric's name, and a label that has a number.
 */
export interface SeriesVariant {
  readonly suffix: Buffer;
  readonly label: Buffer | undefined;
  /** Different for each. */
  readonly key: number;
}

const variant = (key: number, suffix: string, label?: string): SeriesVariant => ({
  key,
  suffix: Buffer.from(suffix),
  label: label === undefined ? undefined : Buffer.from(label),
});

export const seriesVariants = {
  plain: variant(1, ''),
  bucket: variant(2, '_bucket', 'le'),
  sum: variant(3, '_sum'),
  count: variant(4, '_count'),
  min: variant(5, '_min'),
  max: variant(6, '_max'),
  quantile: variant(7, '', 'quantile'),
} as const;

/** A label, and what it was made of. */
export interface OriginLabel extends LabelRange {
  readonly origin: 'resource' | 'scope' | 'point' | 'metric';
}

const metricNameLabel = Buffer.from('__name__');
const scopePrefix = Buffer.from('otel_scope_');
const scopeNameLabel = Buffer.from('otel_scope_name');
const scopeVersionLabel = Buffer.from('otel_scope_version');
const resourceAttribute = fieldTag(1, 'bytes');
const scopeName = fieldTag(1, 'bytes');
const scopeVersion = fieldTag(2, 'bytes');
const scopeAttribute = fieldTag(3, 'bytes');
const empty = Buffer.alloc(0);

/** Indexes of what `MetricLabels` hashes once for a metric. */
const metricParts = Uint32Array.of(0, 1, 2, 3, 4, 5, 6);
/** And of what makes a series: the metric, the point, the variant, its number. */
const seriesParts = Uint32Array.of(0, 1, 2, 3);

/** The text of a bucket's bound or a quantile: the shortest decimal that reads back as the same double. */
const numberText = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? '+Inf' : value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);

export class MetricLabels implements EncodedLabels {
  /** Labels that gave way to another one of the same name, of the series read last. */
  readonly shadowed: OriginLabel[] = [];
  readonly #origin: MetricOrigin;
  readonly #header: PointHeader;
  readonly #message: Buffer;
  readonly #reader: ProtobufReader;
  readonly #attributes: AttributeTexts;
  readonly #hash = new LabelHash('otlp metrics');
  readonly #metricHashes = new Int32Array(2 * metricParts.length);
  readonly #seriesHashes = new Int32Array(2 * seriesParts.length);

  /** Text of the resource, then of the scope, the point and the variant; each made when it is needed. */
  readonly #text: ByteWriter;
  readonly #labels: OriginLabel[] = [];
  #resourceTextEnd = -1;
  #resourceProblem: string | undefined;
  #resourceLabels = 0;
  #scopeTextEnd = -1;
  #scopeProblem: string | undefined;
  #scopeLabels = 0;
  #pointTextEnd = -1;
  #pointProblem: string | undefined;
  #pointLabels = 0;
  #variant: SeriesVariant = seriesVariants.plain;
  #number = 0;

  constructor(message: Buffer, origin: MetricOrigin, header: PointHeader) {
    this.#message = message;
    this.#origin = origin;
    this.#header = header;
    this.#reader = new ProtobufReader(message);
    this.#attributes = new AttributeTexts(message);
    this.#text = this.#attributes.text;
  }

  /** Valid until the next series is read. */
  get bytes(): Buffer {
    return this.#text.buffer;
  }

  /** The origin's resource is another one. */
  beginResource(): void {
    this.#hashPart(0, this.#origin.resource);
    this.#hashPart(1, this.#origin.resourceSchemaUrl);
    this.#resourceTextEnd = -1;
  }

  /** The origin's scope is another one. */
  beginScope(): void {
    this.#hashPart(2, this.#origin.scope);
    this.#hashPart(3, this.#origin.scopeSchemaUrl);
    this.#scopeTextEnd = -1;
    this.#scopeProblem = undefined;
  }

  /** The origin's metric is another one. */
  beginMetric(): void {
    const { name, unit, kind, temporality, isMonotonic } = this.#origin;
    this.#hashPart(4, name);
    this.#hashPart(5, unit);
    this.#metricHashes[12] = kind;
    this.#metricHashes[13] = 2 * temporality + (isMonotonic ? 1 : 0);
    this.#hash.combine(this.#metricHashes, metricParts, metricParts.length);
    this.#seriesHashes[0] = this.#hash.low;
    this.#seriesHashes[1] = this.#hash.high;
  }

  /** The header holds another point; of its series the plain one is first. */
  beginPoint(): void {
    const { attributesStart, attributesEnd } = this.#header;
    this.#hash.compute(this.#reader.view, attributesStart, attributesEnd);
    this.#seriesHashes[2] = this.#hash.low;
    this.#seriesHashes[3] = this.#hash.high;
    this.#pointTextEnd = -1;
    this.#pointProblem = undefined;
    this.#attributes.warning = undefined;
    this.choose(seriesVariants.plain);
  }

  /**
   * Chooses one of the series that the point makes.
   * @param number the value of its label, if it has one
   */
  choose(variant: SeriesVariant, number = 0): void {
    this.#variant = variant;
    this.#number = number;
    this.#seriesHashes[4] = variant.key;
    this.#seriesHashes[6] = lowBits(number);
    this.#seriesHashes[7] = highBits(number);
  }

  #hashPart(part: number, { start, end }: TextRange): void {
    this.#hash.compute(this.#reader.view, start, end);
    this.#metricHashes[2 * part] = this.#hash.low;
    this.#metricHashes[2 * part + 1] = this.#hash.high;
  }

  problem(): string | undefined {
    return this.#scopeProblem ?? this.#pointProblem;
  }

  /** What was left out of the labels of the point, where its text had to be made; or undefined. */
  get warning(): string | undefined {
    return this.#attributes.warning;
  }

  hash(hash: LabelHash): void {
    hash.combine(this.#seriesHashes, seriesParts, seriesParts.length);
  }

  isAscii(): boolean {
    return isAscii(this.#text.view());
  }

  readInto(list: LabelList): void {
    this.#makeScopeText();
    this.#makePointText();
    this.#makeVariantText();
    this.shadowed.length = 0;
    const byName = new Map<string, OriginLabel>();
    for (const label of this.#labels) {
      const name = this.bytes.toString('latin1', label.nameStart, label.nameEnd);
      const before = byName.get(name);
      if (before !== undefined) {
        this.shadowed.push(before);
        list.examine(before.valueEnd - before.nameStart);
      }
      byName.set(name, label);
    }
    for (const { nameStart, nameEnd, valueStart, valueEnd } of byName.values()) {
      list.add(nameStart, nameEnd, valueStart, valueEnd);
    }
  }

  #makeScopeText(): void {
    if (this.#scopeTextEnd >= 0) return;
    this.#makeResourceText();
    this.#text.length = this.#resourceTextEnd;
    this.#labels.length = this.#resourceLabels;
    const range = { ...this.#origin.scope, tag: scopeAttribute, prefix: scopePrefix };
    this.#scopeProblem = this.#addAttributes('scope', range) ?? this.#resourceProblem;
    this.#addScopeText(scopeName, scopeNameLabel);
    this.#addScopeText(scopeVersion, scopeVersionLabel);
    this.#scopeTextEnd = this.#text.length;
    this.#scopeLabels = this.#labels.length;
    this.#pointTextEnd = -1;
  }

  #makeResourceText(): void {
    if (this.#resourceTextEnd >= 0) return;
    this.#text.length = 0;
    this.#labels.length = 0;
    const range = { ...this.#origin.resource, tag: resourceAttribute, prefix: empty };
    this.#resourceProblem = this.#addAttributes('resource', range);
    this.#resourceTextEnd = this.#text.length;
    this.#resourceLabels = this.#labels.length;
  }

  #addScopeText(field: number, label: Buffer): void {
    const { start, end } = this.#origin.scope;
    const reader = this.#reader;
    let found: TextRange | undefined;
    reader.position = start;
    for (let textEnd = reader.nextField(field, end); textEnd >= 0; textEnd = reader.nextField(field, end)) {
      found = { start: reader.position, end: textEnd };
      reader.position = textEnd;
    }
    if (found === undefined || found.start === found.end) return;
    this.#add('scope', label, this.#message, found.start, found.end);
  }

  #makePointText(): void {
    if (this.#pointTextEnd >= 0) return;
    const { attributesStart, attributesEnd, attributeTag } = this.#header;
    this.#text.length = this.#scopeTextEnd;
    this.#labels.length = this.#scopeLabels;
    const range = { start: attributesStart, end: attributesEnd, tag: attributeTag, prefix: empty };
    this.#pointProblem = this.#addAttributes('point', range);
    this.#pointTextEnd = this.#text.length;
    this.#pointLabels = this.#labels.length;
  }

  #makeVariantText(): void {
    const { name } = this.#origin;
    const { suffix, label } = this.#variant;
    this.#text.length = this.#pointTextEnd;
    this.#labels.length = this.#pointLabels;
    if (label !== undefined) {
      const text = Buffer.from(numberText(this.#number));
      this.#add('metric', label, text, 0, text.length);
    }
    const fullName = Buffer.concat([this.#message.subarray(name.start, name.end), suffix]);
    // Without a name of its own a metric has none: a suffix alone names nothing.
    const nameEnd = name.start === name.end ? 0 : fullName.length;
    this.#add('metric', metricNameLabel, fullName, 0, nameEnd);
  }

  /** @returns why one of them cannot be stored, or undefined */
  #addAttributes(origin: OriginLabel['origin'], range: AttributeRange): string | undefined {
    return this.#attributes.append(range, (nameStart, valueStart, valueEnd) => {
      this.#labels.push({ origin, nameStart, nameEnd: valueStart, valueStart, valueEnd });
    });
  }

  #add(origin: OriginLabel['origin'], name: Buffer, value: Buffer, start: number, end: number): void {
    const text = this.#text;
    const nameStart = text.length;
    text.copy(name);
    const valueStart = text.length;
    text.copy(value, start, end);
    this.#labels.push({ origin, nameStart, nameEnd: valueStart, valueStart, valueEnd: text.length });
  }
}
