import { isAscii } from 'node:buffer';
import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import { LabelHash } from '../metrics/label-hash.ts';
import type { LabelFields, LabelList } from '../metrics/label-list.ts';
import { fieldTag, type ProtobufReader, type TextRange } from '../wire/protobuf-reader.ts';

const initialCapacity = 256;

/** Metric and type, help, unit: halves of what a description's key is made of. */
const descriptionParts = Uint32Array.of(0, 1, 2);

/** Another hash function for what names symbols, with the results of `LabelHash.combine`. */
export interface SymbolHash {
  /** Symbols that it knows, the first of the request; all it is given must be of these. */
  readonly symbolCount: number;
  /** Replaces these by all of the request, or by none if they are too many for it. */
  takeSymbols(places: Uint32Array, count: number): void;
  hashRefs(hash: LabelHash, refs: Uint32Array, count: number): void;
  hashDescription(hash: LabelHash, metricId: number, type: number, help: number, unit: number): void;
}

/** The strings of a Remote Write 2.0 request, each as its place in the message and its hash. */
export class SymbolTable {
  readonly bytes: Buffer;
  count = 0;
  /** The place of symbol i is `[places[2 * i], places[2 * i + 1])`. */
  places = new Uint32Array(2 * initialCapacity);
  readonly #view: DataView;
  readonly #other: SymbolHash | undefined;
  /** The hash of symbol i has its halves at 2 * i and 2 * i + 1. */
  #hashes: Int32Array | undefined;
  /** Metric and type, hash of the help, hash of the unit. */
  readonly #description = new Int32Array(6);
  /** From the first to the last symbol; nothing else of any size is between them. */
  #regionStart = 0;
  #isAscii: boolean | undefined;

  constructor(reader: ProtobufReader, other?: SymbolHash) {
    this.bytes = reader.bytes;
    this.#view = reader.view;
    this.#other = other;
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
  }

  /** All symbols are there. */
  finish(): void {
    if (this.#other !== undefined && this.#other.symbolCount !== this.count) {
      this.#other.takeSymbols(this.places, this.count);
    }
  }

  #grow(): void {
    const places = new Uint32Array(2 * this.places.length);
    places.set(this.places);
    this.places = places;
  }

  /** The key of a list of symbols: equal only if their strings are. */
  hashRefs(hash: LabelHash, refs: Uint32Array, count: number): void {
    const other = this.#otherHash();
    if (other === undefined) hash.combine(this.#ownHashes(), refs, count);
    else other.hashRefs(hash, refs, count);
  }

  /** The key of a description of a metric; `help` and `unit` are symbols. */
  hashDescription(hash: LabelHash, metricId: number, type: number, help: number, unit: number): void {
    const other = this.#otherHash();
    if (other !== undefined) {
      other.hashDescription(hash, metricId, type, help, unit);
      return;
    }
    const hashes = this.#ownHashes();
    const key = this.#description;
    key[0] = metricId;
    key[1] = type;
    key.set(hashes.subarray(2 * help, 2 * help + 2), 2);
    key.set(hashes.subarray(2 * unit, 2 * unit + 2), 4);
    hash.combine(key, descriptionParts, descriptionParts.length);
  }

  /** Undefined if it does not know all the symbols. */
  #otherHash(): SymbolHash | undefined {
    return this.#other?.symbolCount === this.count ? this.#other : undefined;
  }

  /** Made for the first key, when all the symbols are there. */
  #ownHashes(): Int32Array {
    if (this.#hashes !== undefined) return this.#hashes;
    const hash = new LabelHash('symbols');
    const hashes = new Int32Array(2 * this.count);
    for (let at = 0; at < hashes.length; at += 2) {
      hash.compute(this.#view, this.places[at] as number, this.places[at + 1] as number);
      hashes[at] = hash.low;
      hashes[at + 1] = hash.high;
    }
    this.#hashes = hashes;
    return hashes;
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

/**
 * Labels as Remote Write 2.0 has them: references to symbols, name and value in turn. Their key hashes
 * hashes.
 */
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
    this.#symbols.hashRefs(hash, this.#refs, this.#count);
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
