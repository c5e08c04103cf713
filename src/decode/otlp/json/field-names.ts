import { ascii, type JsonReader } from '../../wire/json-reader.ts';

/** A field name as it stands in the text. */
export class FieldName {
  /** Its number; -1 for a field that nobody knows. */
  readonly id: number;
  /** With its closing quote. */
  readonly bytes: Buffer;
  /** With both quotes and the colon: how it stands where nobody puts white space. */
  readonly compact: Buffer;
  /** The field that came behind this one the last time. */
  next: FieldName | undefined;

  constructor(id: number, name: string) {
    this.id = id;
    this.bytes = Buffer.from(`${name}"`);
    this.compact = Buffer.from(`"${name}":`);
  }
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * The field names of one kind of message, in lowerCamelCase or snake_case. The one that comes next is nearly
 * always the one that came next the last time.
 */
export class FieldNames {
  /** What stands before the first field of an object. */
  readonly start = new FieldName(-1, '');
  readonly #unknown = new FieldName(-1, '');
  /** Those in lowerCamelCase first. */
  readonly #names: readonly FieldName[];

  /** @param names in lowerCamelCase; the id of each is its index */
  constructor(names: readonly string[]) {
    const spelled = (spell: (name: string) => string): FieldName[] =>
      names.map((name, id) => new FieldName(id, spell(name)));
    this.#names = [...spelled((name) => name), ...spelled(snakeCase)];
  }

  /**
   * Reads the name at the cursor, and the colon behind it.
   * @param previous the name before it in the object, or `start`
   * @throws AppError `bad_json`
   */
  read(reader: JsonReader, previous: FieldName): FieldName {
    const predicted = previous.next;
    if (predicted !== undefined && reader.takeBytes(predicted.compact)) return predicted;
    reader.openString('a field name in double quotes');
    let name: FieldName;
    if (predicted !== undefined && reader.takeBytes(predicted.bytes)) name = predicted;
    else {
      name = this.#find(reader);
      if (name.id >= 0) previous.next = name;
    }
    if (!reader.take(ascii.colon)) throw reader.syntaxError('expected ":" after the field name');
    return name;
  }

  /** Compared one by one: that costs less than to make a string to look up. */
  #find(reader: JsonReader): FieldName {
    for (const name of this.#names) if (reader.takeBytes(name.bytes)) return name;
    const start = reader.position;
    const close = reader.closeString();
    if (!reader.escaped) return this.#unknown;
    const { buffer, length } = reader.unescape(start, close);
    const isSame = ({ bytes }: FieldName): boolean =>
      bytes.length === length + 1 && bytes.compare(buffer, 0, length, 0, length) === 0;
    return this.#names.find(isSame) ?? this.#unknown;
  }
}
