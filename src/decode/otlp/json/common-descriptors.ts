/** The messages that all signals of OTLP share (`schema/proto/otlp.proto`). */
import { type FieldDescriptor, field, type MessageDescriptor, repeatedField } from './message-descriptor.ts';

export const anyValue: MessageDescriptor = {
  fields: () => ({
    stringValue: field(1, 'string'),
    boolValue: field(2, 'bool'),
    intValue: field(3, 'int64'),
    doubleValue: field(4, 'double'),
    arrayValue: field(5, arrayValue),
    kvlistValue: field(6, keyValueList),
    bytesValue: field(7, 'bytes'),
    stringValueStrindex: field(8, 'int64'),
  }),
};
const arrayValue: MessageDescriptor = {
  isList: true,
  fields: () => ({ values: repeatedField(1, anyValue) }),
};
const keyValueList: MessageDescriptor = {
  isList: true,
  fields: () => ({ values: repeatedField(1, keyValue) }),
};
/** An attribute. */
export const keyValue: MessageDescriptor = {
  fields: () => ({ key: field(1, 'string'), value: field(2, anyValue), keyStrindex: field(3, 'int64') }),
};

const entityRef: MessageDescriptor = {
  fields: () => ({
    schemaUrl: field(1, 'string'),
    type: field(2, 'string'),
    idKeys: repeatedField(3, 'string'),
    descriptionKeys: repeatedField(4, 'string'),
  }),
};
const resource: MessageDescriptor = {
  lengthBytes: 2,
  fields: () => ({
    attributes: repeatedField(1, keyValue),
    droppedAttributesCount: field(2, 'uint32'),
    entityRefs: repeatedField(3, entityRef),
  }),
};
const scope: MessageDescriptor = {
  fields: () => ({
    name: field(1, 'string'),
    version: field(2, 'string'),
    attributes: repeatedField(3, keyValue),
    droppedAttributesCount: field(4, 'uint32'),
  }),
};

/** What the lists of a signal are called. */
interface ExportNames {
  readonly resources: string;
  readonly scopes: string;
  readonly records: string;
}

/** `Export…ServiceRequest`: resources with scopes with records. */
export function exportRequest(names: ExportNames, record: MessageDescriptor): MessageDescriptor {
  const wrapper = (fields: Readonly<Record<string, FieldDescriptor>>): MessageDescriptor => ({
    lengthBytes: 5,
    fields: () => ({ ...fields, schemaUrl: field(3, 'string') }),
  });
  const scopeItems = wrapper({ scope: field(1, scope), [names.records]: repeatedField(2, record) });
  const resourceItems = wrapper({
    resource: field(1, resource),
    [names.scopes]: repeatedField(2, scopeItems),
  });
  return { fields: () => ({ [names.resources]: repeatedField(1, resourceItems) }) };
}
