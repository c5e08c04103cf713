import { UIntColumn } from '../../../columnar/columns.ts';
import { LowCardinalityColumn, MapColumn } from '../../../columnar/dictionary-columns.ts';
import type { BlockColumn } from '../../../columnar/native-block.ts';
import type { RowDetails } from '../../metrics/row-details.ts';
import { fieldTag } from '../../wire/protobuf-reader.ts';
import { AttributeTexts } from '../attribute-texts.ts';
import { type MetricOrigin, temporalityName } from './metric-origin.ts';

const noPrefix = Buffer.alloc(0);
const metadataField = fieldTag(12, 'bytes');

/** What a row of `metadata` has of OTLP: how the metric aggregates, and attributes of its own. */
export class MetricDetails implements RowDetails {
  readonly #origin: MetricOrigin;
  readonly #attributes: AttributeTexts;
  readonly #temporality = new LowCardinalityColumn('temporality');
  readonly #isMonotonic = new UIntColumn('is_monotonic', 'Bool', 8, 16);
  readonly #metadata = new MapColumn('metadata');

  constructor(message: Buffer, origin: MetricOrigin) {
    this.#origin = origin;
    this.#attributes = new AttributeTexts(message);
  }

  get columns(): readonly BlockColumn[] {
    return [this.#temporality, this.#isMonotonic, this.#metadata];
  }

  append(): void {
    const { temporality, isMonotonic, metadata } = this.#origin;
    this.#temporality.append(temporalityName(temporality));
    this.#isMonotonic.append(isMonotonic ? 1 : 0);
    const { text } = this.#attributes;
    text.length = 0;
    const range = { ...metadata, tag: metadataField, prefix: noPrefix };
    this.#attributes.append(range, (nameStart, valueStart, valueEnd) => {
      this.#metadata.appendPair(text.buffer, nameStart, valueStart, valueStart, valueEnd);
    });
    this.#metadata.endRow();
  }

  byteLength(): number {
    return this.#metadata.byteLength();
  }
}
