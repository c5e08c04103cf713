/**
 * The column types that this program writes, with their layout in the `Native` format (`Serialization*.cpp`
 * of ClickHouse). A prefix precedes all data of the column:
 *
 *     numbers, dates       values of a fixed width
 *     String               varint length and bytes, for each value
 *     Nullable(T)          prefix of T; a byte for each value (1 is null), then T
 *     Array(T)             prefix of T; the end of each row's elements as UInt64, then the elements
 *     Map(K, V)            as an array whose elements are all of K, then all of V
 *     LowCardinality(T)    prefix UInt64 version; nothing if there are no values, else UInt64 flags (the
 *                          lowest byte is the index width as a power of two), UInt64 number of keys, the
 *                          keys as T, UInt64 number of values, indexes
 */
import { UnreadableBlock } from './native-reader.ts';

export type NativeType =
  | { readonly kind: 'fixed'; readonly width: number }
  | { readonly kind: 'string' }
  | { readonly kind: 'nullable'; readonly values: NativeType }
  /** The parts of each element: one for an array, key and value for a map. */
  | { readonly kind: 'list'; readonly parts: readonly NativeType[] }
  /** If null is one of the keys, the keys themselves are not nullable. */
  | { readonly kind: 'dictionary'; readonly keys: NativeType; readonly hasNull: boolean };

/** Bytes of a value. */
const fixedWidths: Readonly<Record<string, number>> = {
  Bool: 1,
  UInt8: 1,
  Int8: 1,
  UInt16: 2,
  Int16: 2,
  Date: 2,
  UInt32: 4,
  Int32: 4,
  Float32: 4,
  Date32: 4,
  DateTime: 4,
  UInt64: 8,
  Int64: 8,
  Float64: 8,
  DateTime64: 8,
};

const string: NativeType = { kind: 'string' };

/** @throws UnreadableBlock for a type that this program does not write */
export function nativeType(type: string): NativeType {
  const open = type.indexOf('(');
  const family = open < 0 ? type : type.slice(0, open);
  const width = fixedWidths[family];
  if (width !== undefined) return { kind: 'fixed', width };
  if (family === 'String') return string;
  const inside = open < 0 ? '' : type.slice(open + 1, -1);
  if (family === 'LowCardinality') {
    const plain = /^Nullable\((.*)\)$/.exec(inside)?.[1];
    return { kind: 'dictionary', keys: nativeType(plain ?? inside), hasNull: plain !== undefined };
  }
  const inner = inside === '' ? [] : splitArguments(inside).map(nativeType);
  const [first] = inner;
  if (family === 'Nullable' && first !== undefined) return { kind: 'nullable', values: first };
  if (family === 'Array' && inner.length === 1) return { kind: 'list', parts: inner };
  if (family === 'Map' && inner.length === 2) return { kind: 'list', parts: inner };
  throw new UnreadableBlock(`the type ${type} is not one that blocks are made of here`);
}

/** Splits at commas outside of parentheses. */
function splitArguments(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === ',' && depth === 0) {
      found.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  return [...found, text.slice(start).trim()];
}
