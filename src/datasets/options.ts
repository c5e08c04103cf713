import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import { isReservedField } from '../model/column.ts';
import {
  type DatasetOptions,
  fieldTypeOf,
  type StaticField,
  type StaticType,
  staticTypes,
} from '../model/dataset-options.ts';

/** How a client says what it wants of a new dataset; what it does not say is undefined. */
export interface AskedOptions {
  /** The header X-P-Static-Schema-Flag. */
  readonly staticSchema: string | undefined;
  /** The header X-P-Time-Partition. */
  readonly timeField: string | undefined;
  /** The header X-P-Custom-Partition. */
  readonly partitionField: string | undefined;
  /** The JSON of the body, undefined for none: `{"fields":[{"name":"…","data_type":"…"}]}` with a static schema. */
  readonly body: unknown;
}

/**
 * Reads the options of a new dataset.
 * @returns undefined for none
 * @throws AppError `bad_dataset_options`
 */
export function parseDatasetOptions(asked: AskedOptions): DatasetOptions | undefined {
  const { timeField, partitionField } = asked;
  const schema = isStatic(asked) ? parseFields(asked.body) : undefined;
  if (schema === undefined && timeField === undefined && partitionField === undefined) return undefined;
  if (timeField !== undefined) checkFieldName('X-P-Time-Partition', timeField);
  if (partitionField !== undefined) {
    checkFieldName('X-P-Custom-Partition', partitionField);
    if (isReservedField(partitionField))
      throw refusal(`X-P-Custom-Partition: ${partitionField} is a name of the system`);
  }
  if (schema !== undefined) {
    const declared = (name: string | undefined) => schema.find((field) => field.name === name);
    for (const name of [timeField, partitionField]) {
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
  return { schema, timeField, partitionField };
}

function isStatic({ staticSchema, body }: AskedOptions): boolean {
  if (staticSchema !== undefined && staticSchema !== 'true' && staticSchema !== 'false') {
    throw refusal('X-P-Static-Schema-Flag is "true" or "false"');
  }
  if (staticSchema === 'true') return true;
  if (body !== undefined) throw refusal('a body with fields takes the header X-P-Static-Schema-Flag: true');
  return false;
}

function parseFields(body: unknown): readonly StaticField[] {
  const example = '{"fields":[{"name":"status","data_type":"int"}]}';
  if (typeof body !== 'object' || body === null || !('fields' in body) || !Array.isArray(body.fields)) {
    throw refusal(`a static schema is in the body: ${example}`);
  }
  const fields = (body.fields as readonly unknown[]).map(parseField);
  if (fields.length === 0 || fields.length > limits.maxStaticFields) {
    throw refusal(`a static schema has 1 to ${limits.maxStaticFields} fields, not ${fields.length}`);
  }
  const names = new Set<string>();
  for (const { name } of fields) {
    if (names.has(name)) throw refusal(`the field ${quoted(name)} is there twice`);
    names.add(name);
  }
  return fields;
}

function parseField(value: unknown, index: number): StaticField {
  const where = `field ${index + 1}`;
  if (typeof value !== 'object' || value === null) throw refusal(`${where} is not an object`);
  const { name, data_type: type, ...others }: { readonly [Key in string]?: unknown } = value;
  const [stray] = Object.keys(others);
  if (stray !== undefined) throw refusal(`${where}: ${quoted(stray)} is not known here`);
  if (typeof name !== 'string') throw refusal(`${where} has no name`);
  checkFieldName(where, name);
  if (isReservedField(name)) throw refusal(`${where}: ${name} is a name of the system`);
  const known = staticTypes.find((each) => each === type);
  if (known === undefined) {
    throw refusal(`${where} (${quoted(name)}): data_type is one of ${staticTypes.join(', ')}`);
  }
  return { name, type: known satisfies StaticType };
}

function checkFieldName(where: string, name: string): void {
  const bytes = Buffer.byteLength(name);
  if (bytes > 0 && bytes <= limits.maxFieldNameBytes) return;
  throw refusal(`${where}: the name of a field has 1 to ${limits.maxFieldNameBytes} bytes`);
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 60));
const refusal = (reason: string): AppError => new AppError('bad_dataset_options', reason);
