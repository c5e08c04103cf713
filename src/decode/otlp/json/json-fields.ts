/** Objects of OTLP's JSON: field names in lowerCamelCase or snake_case, unknown ones ignored, null for absent. */
import { ascii, type JsonReader } from '../../wire/json-reader.ts';
import { JsonTextCopier } from '../../wire/json-text.ts';

/** A field name as it stands in the text, with its closing quote. */
class FieldName {
  /** What the caller knows the field by; -1 for fields that nobody knows. */
  readonly id: number;
  readonly bytes: Buffer;
  /** The field that came behind this one the last time. */
  next: FieldName | undefined;

  constructor(id: number, name: string) {
    this.id = id;
    this.bytes = Buffer.from(`${name}"`);
  }
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The fields of one kind of object. Which one comes next is nearly always what came next the last time. */
export class JsonFields {
  readonly #start = new FieldName(-1, '');
  readonly #unknown = new FieldName(-1, '');
  /** Those in lowerCamelCase first. */
  readonly #names: readonly FieldName[];
  readonly #skipped = new JsonTextCopier();

  /** @param names in lowerCamelCase, each with the number under which it is reported */
  constructor(names: Readonly<Record<string, number>>) {
    const spellings = (spell: (name: string) => string): FieldName[] =>
      Object.entries(names).map(([name, id]) => new FieldName(id, spell(name)));
    this.#names = [...spellings((name) => name), ...spellings(snakeCase)];
  }

  /**
   * Reads an object, or null. `onField` is called for each field that is known and not null, with the cursor at its
   * value, and reads it.
   */
  read(reader: JsonReader, onField: (id: number) => void): void {
    if (!beginContainer(reader, ascii.openBrace, 'an object') || reader.take(ascii.closeBrace)) return;
    let name = this.#start;
    do {
      name = this.#readName(reader, name);
      if (reader.peek() === ascii.lowerN) reader.readLiteral('null');
      else if (name.id >= 0) onField(name.id);
      else this.#skipped.copy(reader);
    } while (reader.take(ascii.comma));
    if (!reader.take(ascii.closeBrace)) throw reader.syntaxError('expected "," or "}"');
  }

  #readName(reader: JsonReader, previous: FieldName): FieldName {
    reader.openString('a field name in double quotes');
    const predicted = previous.next;
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

/** Reads an array, or null. `onElement` is called with the cursor at each element, and reads it. */
export function readArray(reader: JsonReader, onElement: () => void): void {
  if (!beginContainer(reader, ascii.openBracket, 'an array') || reader.take(ascii.closeBracket)) return;
  do onElement();
  while (reader.take(ascii.comma));
  if (!reader.take(ascii.closeBracket)) throw reader.syntaxError('expected "," or "]"');
}

/** Consumes the opening byte; false if there is null instead, which is consumed. */
function beginContainer(reader: JsonReader, open: number, what: string): boolean {
  if (reader.take(open)) return true;
  if (reader.peek() !== ascii.lowerN) throw reader.syntaxError(`expected ${what}`);
  reader.readLiteral('null');
  return false;
}
