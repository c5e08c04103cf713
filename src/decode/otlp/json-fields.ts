/** Objects of OTLP's JSON: field names in lowerCamelCase or snake_case, unknown ones ignored, null for absent. */
import { ascii, type JsonReader } from '../json-reader.ts';
import { JsonTextCopier } from '../json-text.ts';

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
  readonly #byName = new Map<string, FieldName>();
  readonly #skipped = new JsonTextCopier();

  /** @param names in lowerCamelCase, each with the number under which it is reported */
  constructor(names: Readonly<Record<string, number>>) {
    for (const [name, id] of Object.entries(names)) {
      for (const spelling of [name, snakeCase(name)]) this.#byName.set(spelling, new FieldName(id, spelling));
    }
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
    if (predicted !== undefined && startsWith(reader, predicted.bytes)) {
      reader.position += predicted.bytes.length;
      name = predicted;
    } else {
      const start = reader.position;
      const close = reader.closeString();
      const text = reader.escaped
        ? reader.unescape(start, close).view().toString('utf8')
        : reader.bytes.toString('utf8', start, close);
      name = this.#byName.get(text) ?? this.#unknown;
      if (name.id >= 0) previous.next = name;
    }
    if (!reader.take(ascii.colon)) throw reader.syntaxError('expected ":" after the field name');
    return name;
  }
}

function startsWith({ bytes, position }: JsonReader, expected: Buffer): boolean {
  for (let index = 0; index < expected.length; index++) {
    if (bytes[position + index] !== expected[index]) return false;
  }
  return true;
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
