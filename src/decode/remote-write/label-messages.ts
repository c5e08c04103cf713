import { isAscii } from 'node:buffer';
import type { LabelHash } from '../metrics/label-hash.ts';
import type { LabelFields, LabelList } from '../metrics/label-list.ts';
import { fieldTag, ProtobufReader } from '../wire/protobuf-reader.ts';

const labelField = fieldTag(1, 'bytes');
const labelName = fieldTag(1, 'bytes');
const labelValue = fieldTag(2, 'bytes');

/** Another hash function for parts of one message, with the results of `LabelHash.compute`. */
export interface MessageHash {
  hashInto(hash: LabelHash, start: number, end: number): void;
}

/**
 * Labels as Remote Write 1.0 has them: a message for each, usually side by side. Their key is a hash of the
 * bytes from the first to the last one. Other fields in between do no harm but make the key differ.
 */
export class LabelMessages implements LabelFields {
  readonly bytes: Buffer;
  /** A cursor of its own: labels are read when the walk is elsewhere. */
  readonly #reader: ProtobufReader;
  readonly #messageHash: MessageHash | undefined;
  #start = 0;
  #end = 0;

  constructor(message: Buffer, messageHash?: MessageHash) {
    this.bytes = message;
    this.#reader = new ProtobufReader(message);
    this.#messageHash = messageHash;
  }

  begin(): void {
    this.#start = 0;
    this.#end = 0;
  }

  take(reader: ProtobufReader, tag: number, fieldStart: number, end: number): boolean {
    if (tag !== labelField) return false;
    if (this.#end === 0) this.#start = fieldStart;
    this.#end = reader.lengthEnd(end);
    reader.position = this.#end;
    return true;
  }

  problem(): undefined {
    return undefined;
  }

  hash(hash: LabelHash): void {
    if (this.#messageHash === undefined) hash.compute(this.#reader.view, this.#start, this.#end);
    else this.#messageHash.hashInto(hash, this.#start, this.#end);
  }

  isAscii(): boolean {
    return isAscii(this.bytes.subarray(this.#start, this.#end));
  }

  readInto(list: LabelList): void {
    const reader = this.#reader;
    const end = this.#end;
    reader.position = this.#start;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === labelField) readLabel(reader, reader.lengthEnd(end), list);
      else reader.skip(tag, end);
    }
  }
}

function readLabel(reader: ProtobufReader, end: number, list: LabelList): void {
  let nameStart = 0;
  let nameEnd = 0;
  let valueStart = 0;
  let valueEnd = 0;
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === labelName) {
      nameEnd = reader.lengthEnd(end);
      nameStart = reader.position;
      reader.position = nameEnd;
    } else if (tag === labelValue) {
      valueEnd = reader.lengthEnd(end);
      valueStart = reader.position;
      reader.position = valueEnd;
    } else {
      reader.skip(tag, end);
    }
  }
  list.add(nameStart, nameEnd, valueStart, valueEnd);
}
