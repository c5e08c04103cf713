import { limits } from '../../limits/limits.ts';
import { ascii } from '../wire/json-reader.ts';
import type { EventColumns, Field } from './event-columns.ts';

/**
 * A key at a place in the events: the tree of nodes mirrors how their objects nest.
 *
 * Events of one source repeat the same keys in the same order. So each node remembers which key followed it
 * the last time, and `match` compares the bytes with that: no string is made and no map is asked.
 */
export class FieldNode {
  /** The field under the flattened name, shared by all places that flatten to it. */
  readonly field: Field;
  /** The child that came first, and the sibling that came after this one, when last seen. */
  firstChild: FieldNode | undefined;
  nextSibling: FieldNode | undefined;
  /** The key as it is written between quotes; undefined if that takes escapes. */
  readonly #key: Buffer | undefined;
  /** What the flattened names of the children begin with. */
  readonly #prefix: string;
  #children: Map<string, FieldNode> | undefined;
  /** The last row in which this key had a value, and the chain of its children that had one there. */
  #lastRow = -1;
  #touchedChild: FieldNode | undefined;
  #touchedSibling: FieldNode | undefined;

  constructor(field: Field, key: string, prefix: string) {
    this.field = field;
    this.#prefix = prefix;
    const bytes = Buffer.from(key);
    this.#key = bytes.some(needsEscape) ? undefined : bytes;
  }

  /** If this key and a closing quote are at `at`, the offset after them; otherwise -1. */
  match(bytes: Uint8Array, at: number, end: number): number {
    const key = this.#key;
    if (key === undefined) return -1;
    const quote = at + key.length;
    if (quote >= end || bytes[quote] !== ascii.quote) return -1;
    for (let index = 0; index < key.length; index++) if (bytes[at + index] !== key[index]) return -1;
    return quote + 1;
  }

  child(key: string): FieldNode | undefined {
    return this.#children?.get(key);
  }

  /** Why a key cannot be added, or undefined. */
  problemOfChild(key: string): string | undefined {
    const name = this.#prefix + key;
    const nameBytes = Buffer.byteLength(name);
    return nameBytes <= limits.maxFieldNameBytes
      ? undefined
      : `the field name "${name.slice(0, 60)}…" has ${nameBytes} bytes, at most ${limits.maxFieldNameBytes} are allowed`;
  }

  /** @throws AppError `too_many_columns` */
  addChild(key: string, columns: EventColumns): FieldNode {
    columns.countKey();
    const name = this.#prefix + key;
    const child = new FieldNode(columns.field(name), key, `${name}_`);
    this.#children ??= new Map();
    this.#children.set(key, child);
    return child;
  }

  /**
   * Notes that `row` has this key. What it had for the same key before is taken back: the last value counts,
   * whatever its type. What another key gave the same flattened name is taken back by the `Field`, once
   * there is a value: an object has none of its own, it has fields.
   */
  touch(row: number, parent: FieldNode): void {
    if (this.#lastRow === row) this.#unset(row);
    else {
      this.#lastRow = row;
      this.#touchedChild = undefined;
      this.#touchedSibling = parent.#touchedChild;
      parent.#touchedChild = this;
    }
  }

  /**
   * The chain of children holds those of the row under way only, so this takes no longer than setting them
   * did.
   */
  #unset(row: number): void {
    this.field.unset(row);
    for (let child = this.#touchedChild; child !== undefined; child = child.#touchedSibling) {
      child.#unset(row);
      child.#lastRow = -1;
    }
    this.#touchedChild = undefined;
  }

  /** Begins a row at the root of the tree. */
  beginRow(): void {
    this.#touchedChild = undefined;
  }
}

const needsEscape = (byte: number): boolean =>
  byte < ascii.space || byte === ascii.quote || byte === ascii.backslash;
