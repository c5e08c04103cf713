import { Column64 } from '../../columnar/columns.ts';
import { ConstantColumn, constantHead } from '../../columnar/constant-column.ts';
import { encodeTableBlock } from '../../columnar/native-block.ts';
import {
  NullableBoolColumn,
  NullableFloat64Column,
  NullableStringColumn,
} from '../../columnar/nullable-columns.ts';
import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import type { TableBlock } from '../../model/block.ts';
import {
  eventTimeColumn,
  type FieldType,
  fieldColumnName,
  requestColumns,
  storedFieldName,
} from '../../model/column.ts';
import { requestBounds } from '../decode-bounds.ts';
import type { EventOrigin } from '../task.ts';

type FieldColumn = NullableFloat64Column | NullableStringColumn | NullableBoolColumn;

/** Columns that make room for all rows; those that come later grow as they are filled. */
const presizedColumns = 250;

/** What a row takes in a nullable column even where it is null: the null flag and the default value. */
const nullCellBytes = { num: 9, str: 2, bool: 2 } as const satisfies Record<FieldType, number>;

/**
 * A field of the events under its flattened name: up to three columns, one for each type of value it has had.
 */
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
      this.name,
      'num',
      new NullableFloat64Column(fieldColumnName(this.name, 'num'), this.#owner.expectedRows),
    );
    this.#num.set(row, value);
  }

  /** The text `source[start, end)`, UTF-8. */
  setString(row: number, source: Uint8Array, start: number, end: number): void {
    this.#str ??= this.#owner.add(
      this.name,
      'str',
      new NullableStringColumn(fieldColumnName(this.name, 'str'), this.#owner.expectedRows),
    );
    this.#str.set(row, source, start, end);
  }

  setBool(row: number, value: boolean): void {
    this.#bool ??= this.#owner.add(
      this.name,
      'bool',
      new NullableBoolColumn(fieldColumnName(this.name, 'bool'), this.#owner.expectedRows),
    );
    this.#bool.set(row, value);
  }

  /** What the last row, which is `row`, has; undefined for a boolean and for nothing. */
  valueAt(row: number): number | string | undefined {
    return this.#num?.valueAt(row) ?? this.#str?.valueAt(row);
  }

  /**
   * Notes that `row` has a value, and takes back an earlier one: another path may flatten to the same name.
   */
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
  readonly #expectedRows: number;
  readonly #maxInflatedBytes: number;
  /** Asked before a field gets a column for values of a type; throws what refuses them. */
  checkColumn: ((field: string, type: FieldType) => void) | undefined;
  readonly #fields = new Map<string, Field>();
  readonly #columns: FieldColumn[] = [];
  /** The times of the events, where they have their own. */
  #times: Column64 | undefined;
  /** What each row takes whatever its event has. */
  #rowBytes = 0;
  #keys = 0;

  /** @param expectedRows how many rows columns make room for */
  constructor(expectedRows: number, { maxInflatedBytes } = requestBounds) {
    this.#expectedRows = expectedRows;
    this.#maxInflatedBytes = maxInflatedBytes;
  }

  /** How many rows a new column makes room for. Where there are very many columns, most have few values. */
  get expectedRows(): number {
    return this.#columns.length < presizedColumns ? this.#expectedRows : Math.min(this.#expectedRows, 1);
  }

  /** @param name as it is in the event, flattened */
  field(name: string): Field {
    const stored = storedFieldName(name);
    let field = this.#fields.get(stored);
    if (field === undefined) {
      field = new Field(stored, this);
      this.#fields.set(stored, field);
    }
    return field;
  }

  /** The time of the next event, microseconds since 1970; of all events or of none. */
  addTime(micros: number): void {
    this.#times ??= timeColumn(this.#expectedRows);
    this.#times.appendInteger(micros);
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
  add<Column extends FieldColumn>(field: string, type: FieldType, column: Column): Column {
    this.checkColumn?.(field, type);
    if (this.#columns.length === limits.maxColumnsPerRequest) {
      throw new AppError(
        'too_many_columns',
        `The events have more than ${limits.maxColumnsPerRequest} different fields (a field with values of two types counts twice)`,
      );
    }
    this.#columns.push(column);
    this.#rowBytes += nullCellBytes[type];
    return column;
  }

  /** Every event will get values of so many bytes that its body does not have. */
  addToRows(bytes: number): void {
    this.#rowBytes += bytes;
  }

  /**
   * Many events that share few fields take much more room as columns than as JSON.
   * @throws AppError `body_too_large`
   */
  checkSize(rows: number): void {
    if (rows * this.#rowBytes <= this.#maxInflatedBytes) return;
    throw new AppError(
      'body_too_large',
      `${rows} events with ${this.#columns.length} different fields take more than ${this.#maxInflatedBytes} bytes as a table: send fewer at a time`,
    );
  }

  /**
   * @param receivedMicros the time of all events, unless they have their own
   * @param origin of all events
   */
  finish(rows: number, receivedMicros: number, origin: EventOrigin | undefined): TableBlock {
    const time = this.#times ?? timeColumn(rows);
    for (let row = time.rows; row < rows; row++) time.appendInteger(receivedMicros);
    return encodeTableBlock('events', [time, ...this.#columns, ...originColumns(origin)], rows);
  }
}

const timeColumn = (expectedRows: number): Column64 =>
  new Column64(eventTimeColumn.name, eventTimeColumn.type, expectedRows);

const [addressColumn, userAgentColumn] = requestColumns;
const addressHead = constantHead(addressColumn);
const userAgentHead = constantHead(userAgentColumn);

const originColumns = (origin: EventOrigin | undefined): readonly ConstantColumn[] =>
  origin === undefined
    ? []
    : [
        new ConstantColumn(addressColumn, addressHead, origin.address),
        new ConstantColumn(userAgentColumn, userAgentHead, origin.userAgent),
      ];
