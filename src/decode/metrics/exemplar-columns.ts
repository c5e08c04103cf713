import { Column64 } from '../../columnar/columns.ts';
import { MapColumn } from '../../columnar/dictionary-columns.ts';
import { encodeTableBlock } from '../../columnar/native-block.ts';
import { limits } from '../../limits/limits.ts';
import type { TableBlock } from '../../model/block.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import { LabelList, type LabelSource } from './label-list.ts';
import { PointColumns } from './point-columns.ts';

/** Ids, timestamp, value and the end of the labels of a row, in bytes. */
const rowBytes = 36;

/** A row of `exemplars`, the halves of each value; the time in milliseconds. */
export interface Exemplar {
  readonly timestampLow: number;
  readonly timestampHigh: number;
  readonly valueLow: number;
  readonly valueHigh: number;
  /** Of the exemplar itself. */
  readonly labels: LabelSource;
}

/** Rows of `exemplars`. */
export class ExemplarColumns {
  readonly points = new PointColumns(16);
  readonly #labels = new LabelList();
  readonly #budget: MemoryBudget;
  readonly #value = new Column64('value', 'Float64', 16);
  readonly #labelMap = new MapColumn('labels');

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /**
   * Reads the labels of an exemplar; `append` must follow before another one's are read.
   * @throws AppError `bad_protobuf`, `body_too_large`
   * @returns why they cannot be stored, or undefined
   */
  readLabels(exemplar: Exemplar): string | undefined {
    const problem = this.#labels.read(exemplar.labels);
    const { byteLength } = this.#labels;
    this.#budget.spend(byteLength, 'the labels of its exemplars');
    if (problem !== undefined || byteLength <= limits.maxExemplarLabelBytes) return problem;
    return `its labels have ${byteLength} bytes, at most ${limits.maxExemplarLabelBytes} are allowed`;
  }

  /** Appends the exemplar whose labels were read last. */
  append(exemplar: Exemplar): void {
    const { bytes } = exemplar.labels;
    this.#budget.spend(rowBytes, 'its exemplars');
    this.points.timestamp.append(exemplar.timestampLow, exemplar.timestampHigh);
    this.#value.append(exemplar.valueLow, exemplar.valueHigh);
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
