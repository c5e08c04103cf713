/**
 * The labels of one series, from which it has its identity.
 *
 * The canonical encoding, from which `series_id` is made, is for each label in ascending byte order of the
 * names, `__name__` among them: varint length of the name, name, varint length of the value, value. A label
 * with an empty value is the same as no label (as in Prometheus) and left out. `series_id` is the xxHash64
 * with seed 0 of these bytes, `metric_id` the xxHash32 with seed 0 of the metric's name: the same on every
 * node and in every version, since stored samples refer to them.
 */
import { ByteWriter } from '../../lib/byte-writer.ts';
import { LabelList, type LabelRange, type LabelSource } from './label-list.ts';

const metricNameLabel = Buffer.from('__name__');

export class SeriesLabels extends LabelList {
  /** The label that holds the metric's name; one of `ranges`. */
  metricName: LabelRange = { nameStart: 0, nameEnd: 0, valueStart: 0, valueEnd: 0 };
  readonly #canonical = new ByteWriter(1024);

  override read(fields: LabelSource): string | undefined {
    return super.read(fields) ?? this.#findMetricName();
  }

  #findMetricName(): string | undefined {
    const { length } = metricNameLabel;
    const found = this.ranges.find(
      ({ nameStart, nameEnd }) =>
        nameEnd - nameStart === length &&
        this.bytes.compare(metricNameLabel, 0, length, nameStart, nameEnd) === 0,
    );
    if (found === undefined) return 'it has no metric name (label __name__)';
    this.metricName = found;
    return undefined;
  }

  /** The canonical encoding; valid until the next call. */
  canonical(): Uint8Array {
    const out = this.#canonical;
    out.length = 0;
    for (const { nameStart, nameEnd, valueStart, valueEnd } of this.ranges) {
      out.bytesWithLength(this.bytes, nameStart, nameEnd);
      out.bytesWithLength(this.bytes, valueStart, valueEnd);
    }
    return out.view();
  }
}
