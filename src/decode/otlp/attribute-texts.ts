import { ByteWriter } from '../../lib/byte-writer.ts';
import { ProtobufReader } from '../wire/protobuf-reader.ts';
import { ProtobufValues } from './any-value.ts';
import { Draft, DraftText } from './draft.ts';

/** Attributes as the names and values of labels, in memory of their own. */
export class AttributeTexts {
  /** What the offsets refer to. The caller may write into it, too, and cut it off. */
  readonly text = new ByteWriter(256);
  /** What was left out of an attribute, of the first since the caller has cleared it. */
  warning: string | undefined;
  readonly #reader: ProtobufReader;
  readonly #draft: Draft;
  readonly #values: ProtobufValues;
  readonly #key = new DraftText();
  readonly #value = new DraftText();

  constructor(message: Buffer) {
    this.#reader = new ProtobufReader(message);
    this.#draft = new Draft(message);
    this.#values = new ProtobufValues(this.#reader, this.#draft);
  }

  /**
   * Appends the text of each `KeyValue` in `[start, end)` of the message, and calls back with where its value
   * begins and ends; its name ends where its value begins.
   * @param tag of the field that holds one; others are passed over
   * @param prefix of the names
   * @throws AppError `bad_protobuf`
   * @returns why one of them cannot be stored, or undefined
   */
  append(
    { start, end, tag, prefix }: AttributeRange,
    onPair: (nameStart: number, valueStart: number, valueEnd: number) => void,
  ): string | undefined {
    const reader = this.#reader;
    const draft = this.#draft;
    let problem: string | undefined;
    reader.position = start;
    for (let pairEnd = reader.nextField(tag, end); pairEnd >= 0; pairEnd = reader.nextField(tag, end)) {
      draft.begin();
      this.#values.readPair(this.#key, this.#value, pairEnd);
      problem ??= draft.problem;
      this.warning ??= draft.warning;
      const nameStart = this.text.length;
      this.text.copy(prefix);
      this.#copy(this.#key);
      const valueStart = this.text.length;
      this.#copy(this.#value);
      onPair(nameStart, valueStart, this.text.length);
    }
    return problem;
  }

  #copy(text: DraftText): void {
    this.text.copy(this.#draft.bytesOf(text), text.start, text.end);
  }
}

export interface AttributeRange {
  readonly start: number;
  readonly end: number;
  readonly tag: number;
  readonly prefix: Buffer;
}
