import { isAscii } from 'node:buffer';
import { AppError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { LabelHash } from './label-hash.ts';
import type { LabelFields, LabelList } from './label-list.ts';
import { fieldTag, type ProtobufReader, type TextRange } from './protobuf-reader.ts';

const initialCapacity = 256;

/** The strings of a Remote Write 2.0 request, each as its place in the message and its hash. */
export class SymbolTable {
  readonly bytes: Buffer;
  count = 0;
  /** The place of symbol i is `[places[2 * i], places[2 * i + 1])`. */
  places = new Uint32Array(2 * initialCapacity);
  /** The hash of symbol i has its halves at 2 * i and 2 * i + 1. */
  hashes = new Int32Array(2 * initialCapacity);
  readonly #view: DataView;
  readonly #hash: LabelHash;
  /** From the first to the last symbol; nothing else of any size is between them. */
  #regionStart = 0;
  #isAscii: boolean | undefined;

  constructor(reader: ProtobufReader, hash: LabelHash) {
    this.bytes = reader.bytes;
    this.#view = reader.view;
    this.#hash = hash;
  }

  /** Adds the string `[start, end)` of the message. */
  add(start: number, end: number): void {
    if (this.count === limits.maxSymbolsPerRequest) {
      throw new AppError(
        'body_too_large',
        `The request has more than ${limits.maxSymbolsPerRequest} symbols`,
      );
    }
    if (this.count === 0) this.#regionStart = start;
    const at = 2 * this.count++;
    if (at === this.places.length) this.#grow();
    this.places[at] = start;
    this.places[at + 1] = end;
    this.#hash.compute(this.#view, start, end);
    this.hashes[at] = this.#hash.low;
    this.hashes[at + 1] = this.#hash.high;
  }

  #grow(): void {
    const places = new Uint32Array(2 * this.places.length);
    places.set(this.places);
    this.places = places;
    const hashes = new Int32Array(2 * this.hashes.length);
    hashes.set(this.hashes);
    this.hashes = hashes;
  }

  start(symbol: number): number {
    return this.places[2 * symbol] as number;
  }

  end(symbol: number): number {
    return this.places[2 * symbol + 1] as number;
  }

  /** Whether the first symbol is the empty string, which a reference of 0 means; true without symbols. */
  get beginsEmpty(): boolean {
    return this.count === 0 || this.start(0) === this.end(0);
  }

  /** Whether all symbols are ASCII. */
  get isAscii(): boolean {
    if (this.#isAscii === undefined) {
      const regionEnd = this.count === 0 ? this.#regionStart : this.end(this.count - 1);
      this.#isAscii = isAscii(this.bytes.subarray(this.#regionStart, regionEnd));
    }
    return this.#isAscii;
  }

  range(symbol: number): TextRange {
    return { start: this.start(symbol), end: this.end(symbol) };
  }
}

const packedRefs = fieldTag(1, 'bytes');
const singleRef = fieldTag(1, 'varint');

/** Labels as Remote Write 2.0 has them: references to symbols, name and value in turn. Their key hashes hashes. */
export class LabelRefs implements LabelFields {
  readonly bytes: Buffer;
  readonly #symbols: SymbolTable;
  readonly #refs = new Uint32Array(2 * limits.maxLabelsPerSeries);
  /** References, those that found no room too. */
  #count = 0;
  /** The first reference beyond the last symbol. */
  #outOfRange: number | undefined;

  constructor(symbols: SymbolTable) {
    this.bytes = symbols.bytes;
    this.#symbols = symbols;
  }

  begin(): void {
    this.#count = 0;
    this.#outOfRange = undefined;
  }

  take(reader: ProtobufReader, tag: number, _: number, end: number): boolean {
    if (tag === packedRefs) {
      const fieldEnd = reader.lengthEnd(end);
      while (reader.position < fieldEnd) this.#add(reader.uint32(fieldEnd));
    } else if (tag === singleRef) this.#add(reader.uint32(end));
    else return false;
    return true;
  }

  #add(ref: number): void {
    if (ref >= this.#symbols.count) this.#outOfRange ??= ref;
    if (this.#count < this.#refs.length) this.#refs[this.#count] = ref;
    this.#count++;
  }

  problem(): string | undefined {
    if (this.#outOfRange !== undefined) {
      return `the label reference ${this.#outOfRange} is beyond the ${this.#symbols.count} symbols of the request`;
    }
    if (this.#count % 2 === 1) {
      return `it has ${this.#count} label references, which must come in pairs of name and value`;
    }
    if (this.#count > this.#refs.length) {
      return `it has ${this.#count / 2} labels, at most ${limits.maxLabelsPerSeries} are allowed`;
    }
    return undefined;
  }

  hash(hash: LabelHash): void {
    hash.combine(this.#symbols.hashes, this.#refs, this.#count);
  }

  isAscii(): boolean {
    return this.#symbols.isAscii;
  }

  readInto(list: LabelList): void {
    const symbols = this.#symbols;
    const count = Math.min(this.#count, this.#refs.length);
    for (let index = 0; index + 1 < count; index += 2) {
      const name = this.#refs[index] as number;
      const value = this.#refs[index + 1] as number;
      if (name >= symbols.count || value >= symbols.count) return;
      list.add(symbols.start(name), symbols.end(name), symbols.start(value), symbols.end(value));
    }
  }
}
