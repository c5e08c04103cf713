import * as v from 'valibot';
import { AppError } from '../errors.ts';
import { type Expectation, listOf, members } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';
import { isReservedField } from '../model/column.ts';
import { type DatasetOptions, fieldTypeOf, type StaticField, staticTypes } from '../model/dataset-options.ts';

const fieldNameRule = `must be the name of a field, of 1 to ${limits.maxFieldNameBytes} bytes`;
const isFieldName = (name: string): boolean =>
  name !== '' && Buffer.byteLength(name) <= limits.maxFieldNameBytes;

const staticField = members({
  name: v.pipe(
    v.string(fieldNameRule),
    v.check(isFieldName, fieldNameRule),
    v.check((name) => !isReservedField(name), 'is a name of the system'),
    v.description(`1 to ${limits.maxFieldNameBytes} bytes.`),
  ),
  data_type: v.picklist(staticTypes, `is one of ${staticTypes.join(', ')}`),
});

/** The fields of a static schema, as clients write them. */
const staticFields = v.object(
  {
    fields: v.pipe(
      listOf(staticField, limits.maxStaticFields),
      v.minLength(1, `must hold 1 to ${limits.maxStaticFields} fields`),
    ),
  },
  'must be an array of fields: [{"name":"status","data_type":"int"}]',
);
export type WrittenFields = v.InferOutput<typeof staticFields>;

/** `{"fields":[{"name":"status","data_type":"int"}]}` */
export const staticFieldsExpectation: Expectation<WrittenFields> = {
  schema: v.pipe(staticFields, v.title('StaticSchema')),
  name: '',
  whole: 'a static schema is in the body: {"fields":[{"name":"status","data_type":"int"}]}',
  code: 'bad_dataset_options',
};

/** How a client says what it wants of a new dataset; what it does not say is undefined. */
export interface AskedOptions {
  /** The header X-P-Static-Schema-Flag. */
  readonly staticSchema: string | undefined;
  /** The header X-P-Time-Partition. */
  readonly timeField: string | undefined;
  /** The header X-P-Time-Partition-Limit. */
  readonly timeLimit: string | undefined;
  /** The header X-P-Custom-Partition. */
  readonly partitionField: string | undefined;
  /** The header X-P-Search-Fields. */
  readonly searchFields: string | undefined;
  /** The body, which a static schema has; undefined for none. */
  readonly body: WrittenFields | undefined;
}

/**
 * Reads the options of a new dataset.
 * @returns undefined for none
 * @throws AppError `bad_dataset_options`
 */
export function parseDatasetOptions(asked: AskedOptions): DatasetOptions | undefined {
  const { timeField, partitionField } = asked;
  const schema = isStatic(asked) ? readFields(asked.body) : undefined;
  const timeLimitDays = readTimeLimit(asked);
  const searchFields = readSearchFields(asked.searchFields);
  if ([schema, timeField, partitionField, searchFields].every((option) => option === undefined))
    return undefined;
  if (timeField !== undefined) checkFieldName('X-P-Time-Partition', timeField);
  if (partitionField !== undefined) {
    checkFieldName('X-P-Custom-Partition', partitionField);
    if (partitionField.includes(','))
      throw refusal('X-P-Custom-Partition: at most 1 field is supported, and this names several');
    if (isReservedField(partitionField))
      throw refusal(`X-P-Custom-Partition: ${partitionField} is a name of the system`);
  }
  if (schema !== undefined) {
    const declared = (name: string | undefined) => schema.find((field) => field.name === name);
    for (const name of [timeField, partitionField, ...(searchFields ?? [])]) {
      if (name !== undefined && declared(name) === undefined)
        throw refusal(`the schema has no field ${quoted(name)}`);
    }
    const time = declared(timeField);
    if (time !== undefined && (time.type === 'date' || fieldTypeOf[time.type] === 'bool')) {
      throw refusal(
        `the time field ${quoted(time.name)} is a ${time.type}; it can be a datetime, string, int, double or float`,
      );
    }
  }
  return {
    schema,
    timeField,
    timeLimitDays,
    partitionField,
    ...(searchFields === undefined ? {} : { searchFields }),
  };
}

/** @throws AppError `bad_dataset_options` */
function readSearchFields(written: string | undefined): readonly string[] | undefined {
  if (written === undefined) return undefined;
  const names = [...new Set(written.split(',', limits.maxSearchFields + 1).map((name) => name.trim()))];
  if (names.length > limits.maxSearchFields)
    throw refusal(`X-P-Search-Fields names at most ${limits.maxSearchFields} fields`);
  for (const name of names) {
    checkFieldName('X-P-Search-Fields: each', name);
    if (isReservedField(name)) throw refusal(`X-P-Search-Fields: ${name} is a name of the system`);
  }
  return names;
}

function isStatic({ staticSchema, body }: AskedOptions): boolean {
  if (staticSchema !== undefined && staticSchema !== 'true' && staticSchema !== 'false') {
    throw refusal('X-P-Static-Schema-Flag is "true" or "false"');
  }
  if (staticSchema === 'true') return true;
  if (body !== undefined) throw refusal('a body with fields takes the header X-P-Static-Schema-Flag: true');
  return false;
}

/** @throws AppError `bad_dataset_options` */
function readTimeLimit({ timeField, timeLimit }: AskedOptions): number | undefined {
  if (timeLimit === undefined) return undefined;
  const days = /^\d{1,6}d$/.test(timeLimit) ? Number(timeLimit.slice(0, -1)) : 0;
  if (days < 1 || days > limits.maxRetentionDays) {
    throw refusal(`X-P-Time-Partition-Limit must be a number of days, "1d" to "${limits.maxRetentionDays}d"`);
  }
  if (timeField !== undefined) return days;
  throw refusal(
    'X-P-Time-Partition-Limit is about the field that X-P-Time-Partition names, and there is none',
  );
}

/** @throws AppError `bad_dataset_options` */
function readFields(body: WrittenFields | undefined): readonly StaticField[] {
  if (body === undefined) throw refusal(staticFieldsExpectation.whole);
  const names = new Set<string>();
  for (const [index, { name }] of body.fields.entries()) {
    if (names.has(name)) throw refusal(`fields[${index}].name: the field ${quoted(name)} is there twice`);
    names.add(name);
  }
  return body.fields.map(({ name, data_type: type }) => ({ name, type }));
}

function checkFieldName(where: string, name: string): void {
  if (!isFieldName(name)) throw refusal(`${where} ${fieldNameRule}`);
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 60));
const refusal = (reason: string): AppError => new AppError('bad_dataset_options', reason);
