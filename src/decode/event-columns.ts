import { Column64 } from '../columnar/columns.ts';
import { encodeTableBlock } from '../columnar/native-block.ts';
import {
  NullableBoolColumn,
  NullableFloat64Column,
  NullableStringColumn,
} from '../columnar/nullable-columns.ts';
import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { TableBlock } from '../model/block.ts';
import { eventTimeColumn, type FieldType, fieldColumnName } from '../model/column.ts';

type FieldColumn = NullableFloat64Column | NullableStringColumn | NullableBoolColumn;

/** What a row takes in a nullable column even where it is null: the null flag and the default value. */
const nullCellBytes = { num: 9, str: 2, bool: 2 } as const satisfies Record<FieldType, number>;

/** A field of the events under its flattened name: up to three columns, one for each type of value it has had. */
export class Field {
  readonly name: string;
  /** The last row that had a value for this field; null is one, too. */
  #lastRow = -1;
  readonly #owner: EventColumns;
  #num: NullableFloat64Column | undefined;
  #str: NullableStringColumn | undefined;
  #bool: NullableBoolColumn | undefined;

  constructor(name: string, owner: EventColumns) {
    this.name = name;
    this.#owner = owner;
  }

  setNumber(row: number, value: number): void {
    this.#num ??= this.#owner.add(
      'num',
      new NullableFloat64Column(fieldColumnName(this.name, 'num'), this.#owner.expectedRows),
    );
    this.#num.set(row, value);
  }

  /** The text `source[start, end)`, UTF-8. */
  setString(row: number, source: Uint8Array, start: number, end: number): void {
    this.#str ??= this.#owner.add(
      'str',
      new NullableStringColumn(fieldColumnName(this.name, 'str'), this.#owner.expectedRows),
    );
    this.#str.set(row, source, start, end);
  }

  setBool(row: number, value: boolean): void {
    this.#bool ??= this.#owner.add(
      'bool',
      new NullableBoolColumn(fieldColumnName(this.name, 'bool'), this.#owner.expectedRows),
    );
    this.#bool.set(row, value);
  }

  /** Notes that `row` has a value, and takes back an earlier one: another path may flatten to the same name. */
  touch(row: number): void {
    if (this.#lastRow === row) this.unset(row);
    this.#lastRow = row;
  }

  /** Takes back what the row under way has set. */
  unset(row: number): void {
    this.#num?.unset(row);
    this.#str?.unset(row);
    this.#bool?.unset(row);
  }
}

/** The columns of one request's events. */
export class EventColumns {
  /** How many rows new columns make room for. */
  readonly expectedRows: number;
  readonly #fields = new Map<string, Field>();
  readonly #columns: FieldColumn[] = [];
  #nullRowBytes = 0;
  #keys = 0;

  constructor(expectedRows: number) {
    this.expectedRows = expectedRows;
  }

  field(name: string): Field {
    let field = this.#fields.get(name);
    if (field === undefined) {
      field = new Field(name, this);
      this.#fields.set(name, field);
    }
    return field;
  }

  /** @throws AppError `too_many_columns` */
  countKey(): void {
    if (++this.#keys > limits.maxKeysPerRequest) {
      throw new AppError(
        'too_many_columns',
        `The events have more than ${limits.maxKeysPerRequest} different keys, those that are null included`,
      );
    }
  }

  /** @throws AppError `too_many_columns` */
  add<Column extends FieldColumn>(type: FieldType, column: Column): Column {
    if (this.#columns.length === limits.maxColumnsPerDataset) {
      throw new AppError(
        'too_many_columns',
        `The events have more than ${limits.maxColumnsPerDataset} different fields (a field with values of two types counts twice)`,
      );
    }
    this.#columns.push(column);
    this.#nullRowBytes += nullCellBytes[type];
    return column;
  }

  /**
   * Many events that share few fields take much more room as columns than as JSON.
   * @throws AppError `body_too_large`
   */
  checkSize(rows: number): void {
    if (rows * this.#nullRowBytes <= limits.maxInflatedBlockBytes) return;
    throw new AppError(
      'body_too_large',
      `${rows} events with ${this.#columns.length} different fields take more than ${limits.maxInflatedBlockBytes} bytes as a table: send fewer at a time`,
    );
  }

  /** @param receivedMicros the time of all events */
  finish(rows: number, receivedMicros: number): TableBlock {
    const time = new Column64(eventTimeColumn.name, eventTimeColumn.type, rows);
    for (let row = 0; row < rows; row++) time.appendInteger(receivedMicros);
    return encodeTableBlock('events', [time, ...this.#columns], rows);
  }
}
