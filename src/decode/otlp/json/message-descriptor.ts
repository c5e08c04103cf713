/**
 * What the transcoder knows of a message: the names of its fields in JSON, their numbers and types in
 * protobuf.
 */

/** How a field is written in JSON and in protobuf. */
export type FieldType =
  | 'string'
  | 'bytes'
  /** Bytes that are hexadecimal digits in JSON. */
  | 'id'
  | 'bool'
  | 'int64'
  | 'uint64'
  | 'uint32'
  | 'sint32'
  | 'fixed32'
  | 'fixed64'
  | 'sfixed64'
  | 'double'
  /** An enum by the names of its values. */
  | ReadonlyMap<string, number>
  | MessageDescriptor;

export interface FieldDescriptor {
  readonly number: number;
  readonly type: FieldType;
  readonly repeated?: true;
}

/** A kind of message. */
export interface MessageDescriptor {
  /** By their names in JSON. A function, since a message may hold others of its kind. */
  readonly fields: () => Readonly<Record<string, FieldDescriptor>>;
  /** How many bytes the length of such a message usually takes; 1 unless given. */
  readonly lengthBytes?: 2 | 5;
  /** Whether it is a list in a value of an attribute, which may hold such values in turn. */
  readonly isList?: true;
}

export const field = (number: number, type: FieldType): FieldDescriptor => ({ number, type });

export const repeatedField = (number: number, type: FieldType): FieldDescriptor => ({
  number,
  type,
  repeated: true,
});

/** The values of an enum that are counted from zero, by their names with that prefix. */
export const enumOf = (prefix: string, ...names: readonly string[]): ReadonlyMap<string, number> =>
  new Map(names.map((name, value) => [`${prefix}_${name}`, value]));
