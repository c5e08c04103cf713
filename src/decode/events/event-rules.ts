import { AppError } from '../../errors.ts';
import type { FieldType } from '../../model/column.ts';
import { fieldTypeOf, type StaticType } from '../../model/dataset-options.ts';
import type { EventOptions } from '../task.ts';
import type { EventColumns, Field } from './event-columns.ts';
import { eventMicros, isDate, isTimestamp } from './event-time.ts';

/** A field of a type of which not every value of its column is one. */
interface CheckedField {
  readonly field: Field;
  readonly type: StaticType;
  readonly fits: (value: number | string) => boolean;
}

const checks: { readonly [Type in StaticType]?: CheckedField['fits'] } = {
  int: Number.isInteger,
  datetime: (value) => typeof value === 'string' && isTimestamp(value),
  date: (value) => typeof value === 'string' && isDate(value),
};

const microsPerDay = 86_400_000_000;

export interface EventRulesOptions extends EventOptions {
  /** The time of receipt, microseconds since 1970. */
  readonly receivedMicros: number;
}

/**
 * What is asked of each event of a request: that it has the fields of its dataset's schema and no
 * others, that it names its time, and that it gets the fields that the request's headers give. Whether a
 * field may have a type is asked once for each, when it gets a column of it; what depends on the value,
 * at the end of each event.
 */
export class EventRules {
  readonly #types: ReadonlyMap<string, StaticType> | undefined;
  readonly #checked: readonly CheckedField[];
  readonly #labels: ReadonlyArray<{ readonly field: Field; readonly value: Buffer }>;
  readonly #timeField: Field | undefined;
  readonly #timeName: string;
  readonly #timeLimitDays: number | undefined;
  /** No event may be older, if there is a limit. */
  readonly #oldestMicros: number;
  readonly #columns: EventColumns;
  readonly #where: () => string;

  /** @param where names the event under way */
  constructor(options: EventRulesOptions, columns: EventColumns, where: () => string) {
    const { schema, timeField, timeLimitDays, labels = [], receivedMicros } = options;
    this.#timeLimitDays = timeLimitDays;
    this.#oldestMicros = receivedMicros - (timeLimitDays ?? 0) * microsPerDay;
    this.#columns = columns;
    this.#where = where;
    if (schema !== undefined) columns.checkColumn = (field, type) => this.#checkColumn(field, type);
    this.#types = schema && new Map(schema.map(({ name, type }) => [name, type]));
    this.#checked = (schema ?? []).flatMap(({ name, type }) => {
      const fits = checks[type];
      return fits === undefined ? [] : [{ field: columns.field(name), type, fits }];
    });
    this.#labels = labels.map(([name, value]) => ({ field: columns.field(name), value: Buffer.from(value) }));
    for (const { value } of this.#labels) columns.addToRows(value.length);
    // What each event is asked takes time, however little it has; a question counts as a byte.
    columns.addToRows(this.#checked.length);
    this.#timeName = timeField ?? '';
    this.#timeField = timeField === undefined ? undefined : columns.field(timeField);
  }

  /** @throws AppError `bad_event` if the schema has no field of that name for values of that type */
  #checkColumn(field: string, type: FieldType): void {
    const wanted = this.#types?.get(field);
    if (wanted === undefined) throw this.#refusal(`the schema of the dataset has no field ${quoted(field)}`);
    if (fieldTypeOf[wanted] !== type) throw this.#misfit(field, wanted);
  }

  /** A value that is kept as JSON text, which no type of a schema is. @throws AppError `bad_event` */
  checkText(field: string): void {
    if (this.#types === undefined) return;
    this.#checkColumn(field, 'str');
    throw this.#misfit(field, this.#types.get(field) ?? 'string');
  }

  /** Completes the event in that row. @throws AppError `bad_event` */
  endRow(row: number): void {
    for (const { field, value } of this.#labels) {
      field.touch(row);
      field.setString(row, value, 0, value.length);
    }
    for (const { field, type, fits } of this.#checked) {
      const value = field.valueAt(row);
      if (value !== undefined && !fits(value)) throw this.#misfit(field.name, type);
    }
    if (this.#timeField !== undefined) this.#columns.addTime(this.#timeOf(this.#timeField, row));
  }

  #timeOf(field: Field, row: number): number {
    const value = field.valueAt(row);
    const name = quoted(this.#timeName);
    if (value === undefined) {
      throw this.#refusal(
        `it lacks the field ${name}, which holds the time of an event in this dataset, or it is no time`,
      );
    }
    const micros = eventMicros(value);
    if (micros !== undefined) {
      if (this.#timeLimitDays === undefined || micros >= this.#oldestMicros) return micros;
      throw this.#refusal(
        `the field ${name} says ${quoted(String(value))}, and events of this dataset are at most ${this.#timeLimitDays} days old`,
      );
    }
    throw this.#refusal(
      `the field ${name} is the time of an event in this dataset, and ${quoted(String(value))} is no time that can be ` +
        'stored: RFC 3339, or seconds, milliseconds, microseconds or nanoseconds since 1970, up to 2106',
    );
  }

  #misfit(field: string, type: StaticType): AppError {
    return this.#refusal(
      `the field ${quoted(field)} is ${descriptions[type]} by the schema of the dataset, and this value is not`,
    );
  }

  #refusal(reason: string): AppError {
    return new AppError('bad_event', `${this.#where()}: ${reason}`);
  }
}

const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

const descriptions = {
  int: 'an int (a whole number up to 2^53)',
  double: 'a double',
  float: 'a float',
  boolean: 'a boolean',
  string: 'a string',
  datetime: 'a datetime (text as in RFC 3339)',
  date: 'a date (YYYY-MM-DD)',
} as const satisfies Record<StaticType, string>;
