import { Column64 } from '../columnar/columns.ts';
import { MapColumn } from '../columnar/dictionary-columns.ts';
import { encodeTableBlock } from '../columnar/native-block.ts';
import { limits } from '../limits.ts';
import type { TableBlock } from '../model/block.ts';
import { type LabelFields, LabelList } from './label-list.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { PointColumns } from './point-columns.ts';
import { fieldTag, type ProtobufReader } from './protobuf-reader.ts';

const valueField = fieldTag(2, 'fixed64');
const timestampField = fieldTag(3, 'varint');

/** Ids, timestamp, value and the end of the labels of a row, in bytes. */
const rowBytes = 36;

/** Rows of `exemplars`. */
export class ExemplarColumns {
  readonly points = new PointColumns(16);
  /** Of the exemplar read last. */
  timestampLow = 0;
  timestampHigh = 0;
  #valueLow = 0;
  #valueHigh = 0;
  readonly #fields: LabelFields;
  readonly #labels = new LabelList();
  readonly #budget: MemoryBudget;

  readonly #value = new Column64('value', 'Float64', 16);
  readonly #labelMap = new MapColumn('labels');

  /** @param fields of the exemplars' own labels */
  constructor(fields: LabelFields, budget: MemoryBudget) {
    this.#fields = fields;
    this.#budget = budget;
  }

  /**
   * Reads an `Exemplar` message.
   * @throws AppError `bad_protobuf`, `body_too_large`
   * @returns why it cannot be stored, or undefined
   */
  read(reader: ProtobufReader, end: number): string | undefined {
    const fields = this.#fields;
    fields.begin();
    this.timestampLow = this.timestampHigh = 0;
    this.#valueLow = this.#valueHigh = 0;
    while (reader.position < end) {
      const fieldStart = reader.position;
      const tag = reader.tag(end);
      if (tag === valueField) {
        reader.fixed64(end);
        this.#valueLow = reader.low;
        this.#valueHigh = reader.high;
      } else if (tag === timestampField) {
        reader.varint64(end);
        this.timestampLow = reader.low;
        this.timestampHigh = reader.high;
      } else if (!fields.take(reader, tag, fieldStart, end)) {
        reader.skip(tag, end);
      }
    }
    return this.#readLabels();
  }

  #readLabels(): string | undefined {
    const problem = this.#labels.read(this.#fields);
    const { byteLength } = this.#labels;
    this.#budget.spend(byteLength, 'the labels of its exemplars');
    if (problem !== undefined || byteLength <= limits.maxExemplarLabelBytes) return problem;
    return `its labels have ${byteLength} bytes, at most ${limits.maxExemplarLabelBytes} are allowed`;
  }

  /** Appends the exemplar read last. */
  append(): void {
    const { bytes } = this.#fields;
    this.#budget.spend(rowBytes, 'its exemplars');
    this.points.timestamp.append(this.timestampLow, this.timestampHigh);
    this.#value.append(this.#valueLow, this.#valueHigh);
    for (const { nameStart, nameEnd, valueStart, valueEnd } of this.#labels.ranges) {
      this.#labelMap.appendPair(bytes, nameStart, nameEnd, valueStart, valueEnd);
    }
    this.#labelMap.endRow();
  }

  finish(): TableBlock {
    return encodeTableBlock(
      'exemplars',
      [...this.points.columns, this.#value, this.#labelMap],
      this.points.rows,
    );
  }
}
