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
  | 'fixed64'
  | 'sfixed64'
  | 'double'
  /** An enum by the names of its values. */
  | ReadonlyMap<string, number>
  | MessageShape;

export interface FieldShape {
  readonly number: number;
  readonly type: FieldType;
  readonly repeated?: true;
}

/** A kind of message. */
export interface MessageShape {
  /** By their names in JSON. A function, since a message may hold others of its kind. */
  readonly fields: () => Readonly<Record<string, FieldShape>>;
  /** Whether such a message is usually longer than 127 bytes, so that its length takes more than one. */
  readonly isLarge?: true;
  /** Whether it is a list in a value of an attribute, which may hold such values in turn. */
  readonly isList?: true;
}
