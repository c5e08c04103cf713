import type { MapColumn } from '../../columnar/dictionary-columns.ts';
import type { StringDictionary } from '../../columnar/string-dictionary.ts';
import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import type { DecodeBounds } from '../decode-bounds.ts';
import { type Draft, DraftText } from './draft.ts';

/**
 * The keys of an attribute list so far, in the order in which they came: a node in a tree of all lists.
 * Records of one instrumentation have the same keys in the same order, so the next key is nearly always the
 * one that came next the last time, and the order in which they are to be written is known.
 */
class Shape {
  readonly key: number;
  readonly parent: Shape | undefined;
  readonly length: number;
  /** The child that was taken last. */
  next: Shape | undefined;
  /** Made for the second: most have one. */
  #children: Map<number, Shape> | undefined;
  #only: Shape | undefined;
  #sorted: SortedKeys | undefined;

  constructor(key: number, parent: Shape | undefined) {
    this.key = key;
    this.parent = parent;
    this.length = parent === undefined ? 0 : parent.length + 1;
  }

  child(key: number): Shape | undefined {
    return this.#only?.key === key ? this.#only : this.#children?.get(key);
  }

  addChild(key: number): Shape {
    const child = new Shape(key, this);
    if (this.#only === undefined) this.#only = child;
    else {
      this.#children ??= new Map();
      this.#children.set(key, child);
    }
    return child;
  }

  sorted(dictionary: StringDictionary): SortedKeys {
    this.#sorted ??= sortKeys(this.keys(), dictionary);
    return this.#sorted;
  }

  /** The keys of the list by their indexes in the dictionary. */
  keys(): Uint32Array {
    const found = new Uint32Array(this.length);
    for (let shape: Shape = this; shape.parent !== undefined; shape = shape.parent) {
      found[shape.length - 1] = shape.key;
    }
    return found;
  }
}

/** Keys in the order of their bytes; of equal ones, the one that came first stands first. */
interface SortedKeys {
  /** The position in the list of each. */
  readonly order: Uint32Array;
  /** The index in the dictionary of each. */
  readonly keys: Uint32Array;
}

function sortKeys(keys: Uint32Array, dictionary: StringDictionary): SortedKeys {
  const texts = Array.from(keys, (key) => Buffer.from(dictionary.bytesOf(key)));
  const compare = (a: number, b: number): number =>
    Buffer.compare(texts[a] as Buffer, texts[b] as Buffer) || a - b;
  const order = Uint32Array.from(texts.keys()).sort(compare);
  return { order, keys: order.map((position) => keys[position] as number) };
}

/**
 * Collects the attributes of one record after another and writes them into a map column, sorted by the bytes
 * of their keys. Nothing is allocated for an attribute whose list looks like one before.
 */
export class AttributeList {
  readonly #draft: Draft;
  readonly #column: MapColumn;
  readonly #bounds: DecodeBounds;
  readonly #values: DraftText[] = [];
  #root = new Shape(0, undefined);
  #shapes = 0;
  /** Of the whole request. */
  #added = 0;
  #shape = this.#root;

  /** @param draft that the attributes are part of */
  constructor(draft: Draft, column: MapColumn, bounds: DecodeBounds) {
    this.#draft = draft;
    this.#bounds = bounds;
    this.#column = column;
  }

  get count(): number {
    return this.#shape.length;
  }

  begin(): void {
    // Senders with ever new lists of keys would fill the memory with them.
    if (this.#shapes > limits.maxAttributeShapes) {
      this.#root = new Shape(0, undefined);
      this.#shapes = 0;
    }
    this.#shape = this.#root;
  }

  /** Adds a pair: a key, and the value as text. */
  add(key: DraftText, value: DraftText): void {
    const draft = this.#draft;
    if (key.length > limits.maxAttributeKeyBytes) {
      draft.refuse(
        `an attribute key has ${key.length} bytes, at most ${limits.maxAttributeKeyBytes} are allowed`,
      );
      return;
    }
    if (value.length > limits.maxAttributeValueBytes) {
      draft.refuse(
        `an attribute value has ${value.length} bytes, at most ${limits.maxAttributeValueBytes} are allowed`,
      );
      return;
    }
    const position = this.#shape.length;
    if (position === limits.maxAttributesPerRecord) {
      draft.refuse(`it has more than ${limits.maxAttributesPerRecord} attributes`);
      return;
    }
    this.#step(draft.bytesOf(key), key.start, key.end);
    let kept = this.#values[position];
    if (kept === undefined) {
      kept = new DraftText();
      this.#values.push(kept);
    }
    kept.assign(value);
  }

  #step(bytes: Buffer, start: number, end: number): void {
    const shape = this.#shape;
    const { keys } = this.#column;
    const predicted = shape.next;
    if (predicted !== undefined && keys.matches(predicted.key, bytes, start, end)) {
      this.#shape = predicted;
      return;
    }
    const key = keys.key(bytes, start, end);
    if (keys.size > limits.maxAttributeKeysPerRequest) {
      throw new AppError(
        'body_too_large',
        `The request has more than ${limits.maxAttributeKeysPerRequest} different attribute keys`,
      );
    }
    let child = shape.child(key);
    if (child === undefined) {
      if (this.#added === this.#bounds.maxNewListAttributes) {
        this.#refuseList();
        return;
      }
      child = shape.addChild(key);
      this.#added++;
      this.#shapes++;
    }
    shape.next = child;
    this.#shape = child;
  }

  #refuseList(): void {
    const { maxNewListAttributes, isPreliminary } = this.#bounds;
    const problem = `the records of the request have more than ${maxNewListAttributes} attributes in lists of keys that differ from those before`;
    if (isPreliminary) throw new AppError('body_too_large', problem);
    this.#draft.refuse(problem);
  }

  /** The first value of a key; undefined if there is none. */
  valueOf(name: Buffer): DraftText | undefined {
    const key = this.#column.keys.key(name, 0, name.length);
    const position = this.#shape.keys().indexOf(key);
    return position < 0 ? undefined : this.#values[position];
  }

  /** Writes the list as a row of the column. */
  appendRow(): void {
    const column = this.#column;
    const draft = this.#draft;
    const { order, keys } = this.#shape.sorted(column.keys);
    for (let index = 0; index < order.length; index++) {
      const value = this.#values[order[index] as number] as DraftText;
      column.appendValue(keys[index] as number, draft.bytesOf(value), value.start, value.end);
    }
    column.endRow();
  }
}
