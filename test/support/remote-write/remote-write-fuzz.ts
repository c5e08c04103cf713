/**
 * Random Remote Write messages of both versions: whole ones with fields in odd orders and forms, values at
 * their bounds and contradictions in them; the same with bytes changed; and bytes at random. An input depends
 * only on a seed and a number, so that a failure can be reproduced.
 */
import { isDeepStrictEqual } from 'node:util';
import { compressSync } from 'snappy';
import type { Decoder } from '../../../src/decode/decoder.ts';
import type { DecodeOutcomes } from '../../../src/decode/outcomes.ts';
import type { DecodeResult } from '../../../src/decode/task.ts';
import { limits } from '../../../src/limits/limits.ts';
import { sampleRows } from '../clickhouse/sample-rows.ts';
import {
  bytesField,
  doubleField,
  fixed64,
  message,
  packed,
  varint,
  varintField,
  zigzag,
} from '../decode/wire.ts';
import { type Random, seededRandom } from '../lib/random.ts';
import { type Expected, expectedRows, storedRows, type Version } from './remote-write-oracle.ts';

export interface FuzzInput {
  readonly version: Version;
  readonly message: Buffer;
  /** Made by the rules of the wire format, whatever it says. */
  readonly isWellFormed: boolean;
  /** As sent. */
  readonly body: Buffer;
  /** False if the compressed form was damaged, so that nobody knows what is in it. */
  readonly isBodyWhole: boolean;
}

/** What became of an input. */
export type FuzzVerdict = 'stored' | 'partly stored' | 'refused' | 'unreadable';

export function fuzzInput(seed: number, number: number): FuzzInput {
  const random = seededRandom((seed ^ Math.imul(number + 1, 0x9e37_79b1)) >>> 0);
  const version = random.chance(0.5) ? 1 : 2;
  const generator = new Generator(random, version);
  const kind = random.integer(0, 9);
  const whole = kind === 9 ? generator.bytes() : generator.request();
  const isWellFormed = kind < 5;
  const text = isWellFormed || kind === 9 ? whole : mutate(random, whole);
  const block = compressSync(text);
  const isBodyWhole = !random.chance(0.1);
  return {
    version,
    message: text,
    isWellFormed,
    body: isBodyWhole ? block : mutate(random, block),
    isBodyWhole,
  };
}

/**
 * Decodes an input, compares with the oracle, and decodes what is stored again, when its series are known.
 * @param number of the input: it has a dataset of its own, and three tasks
 * @throws Error when the decoder did anything but store what it must and refuse what it must
 */
export function checkInput(
  decoder: Decoder,
  outcomes: DecodeOutcomes,
  input: FuzzInput,
  number: number,
): FuzzVerdict {
  const [dataset, sequence] = [`d${number}`, 3 * number + 1];
  const result = decode(decoder, input, dataset, sequence);
  const verdict = checkResult(result, input);
  if (!result.ok) return verdict;
  // Series that are known take another way through the decoder.
  outcomes.commit(sequence);
  compareSamples(decode(decoder, input, dataset, sequence + 1), result);
  if (number % 4 > 0) return verdict;
  // Here some are known and others are not.
  compareSamples(decode(decoder, input, 'known', sequence + 2), result);
  outcomes.commit(sequence + 2);
  return verdict;
}

function checkResult(result: DecodeResult, input: FuzzInput): FuzzVerdict {
  if (!result.ok && (result.code === 'internal' || result.stack !== undefined)) {
    throw new Error(`The decoder failed: ${result.stack ?? result.message}`);
  }
  if (!input.isBodyWhole) return result.ok ? 'stored' : 'unreadable';
  if (result.ok) {
    compareStored(result, expectedRows(input.version, input.message), input.isWellFormed);
    return result.refused === undefined ? 'stored' : 'partly stored';
  }
  if (result.code === 'bad_series') {
    const expected = expectedRows(input.version, input.message);
    // A problem of a series may be reported before the bytes after it turn out not to be a message.
    if (typeof expected === 'object') throw new Error(`Refused for nothing: ${result.message}`);
    return 'refused';
  }
  if (input.isWellFormed && expectedRows(input.version, input.message) !== 'refused') {
    throw new Error(`A well-formed message was not read: ${result.message}`);
  }
  return 'unreadable';
}

/** @throws Error when other samples came out, or other counts or refusals */
function compareSamples(again: DecodeResult, first: DecodeResult & { ok: true }): void {
  const [rows, rowsAgain] = [first, again].map(sampleRows);
  if (!isDeepStrictEqual(rowsAgain, rows)) {
    throw new Error(`Other samples\n${JSON.stringify(rowsAgain)}\nthan before\n${JSON.stringify(rows)}`);
  }
  if (!again.ok || !isDeepStrictEqual([again.counts, again.refused], [first.counts, first.refused])) {
    throw new Error(`Other counts or refusals\n${JSON.stringify({ again, first })}`);
  }
}

const decode = (decoder: Decoder, input: FuzzInput, dataset: string, sequence: number): DecodeResult =>
  decoder.decode({
    tenant: 'default',
    dataset,
    format: input.version === 1 ? 'remote-write-1' : 'remote-write-2',
    encoding: 'snappy',
    receivedMicros: 1_763_640_000_000_000,
    body: input.body,
    maxDecodedBytes: 1 << 20,
    sequence,
  });

/** The samples that the kernel takes come behind those that it leaves; a table has no order of its own. */
const inAnyOrder = <Rows extends { readonly samples: readonly string[] }>(rows: Rows): Rows => ({
  ...rows,
  samples: rows.samples.toSorted(),
});

function compareStored(result: DecodeResult & { ok: true }, expected: Expected, isWellFormed: boolean): void {
  if (expected === 'ambiguous') return;
  // The points of a series that is refused are passed over, whatever is in them.
  if (expected === undefined && result.refused !== undefined) return;
  if (expected === undefined) throw new Error('protobufjs cannot read what was stored');
  if (expected === 'refused') throw new Error('Stored what must be refused');
  const { metadata, ...points } = inAnyOrder(storedRows(result));
  const { metadata: expectedMetadata, ...expectedPoints } = inAnyOrder(expected);
  if (!isDeepStrictEqual(points, expectedPoints)) {
    throw new Error(
      `Other rows\n${JSON.stringify(points)}\nthan expected\n${JSON.stringify(expectedPoints)}`,
    );
  }
  // A field that comes twice is merged by protobufjs; nobody sends that.
  if (isWellFormed && !isDeepStrictEqual(metadata, expectedMetadata)) {
    throw new Error(`Other metadata ${JSON.stringify(metadata)} than ${JSON.stringify(expectedMetadata)}`);
  }
}

/** Bytes overwritten, cut out, doubled or moved in. */
function mutate(random: Random, bytes: Buffer): Buffer {
  let result = Buffer.from(bytes);
  for (let round = random.integer(1, 3); round > 0; round--) {
    const at = random.integer(0, result.length);
    const length = random.integer(1, 4);
    const before = result.subarray(0, at);
    const fresh = Buffer.allocUnsafe(length);
    for (let index = 0; index < length; index++) fresh[index] = random.integer(0, 255);
    const kind = random.integer(0, 4);
    if (kind === 0) result = Buffer.concat([before, fresh, result.subarray(at + length)]);
    else if (kind === 1) result = Buffer.concat([before, result.subarray(at + length)]);
    else if (kind === 2) result = Buffer.concat([before, fresh, result.subarray(at)]);
    else if (kind === 3) result = Buffer.concat([before, result.subarray(Math.floor(at / 2))]);
    else if (at < result.length) result[at] = (result[at] ?? 0) ^ (1 << random.integer(0, 7));
  }
  return result;
}

const words = ['__name__', 'job', 'instance', 'a', 'ä', 'up', 'x', '', 'zone', 'le', '漢字', 'v'.repeat(130)];
/** What the generator makes again and again is made once. */
const wordBytes = new Map(words.map((word) => [word, Buffer.from(word)]));
const bytesOf = (word: string): Buffer => wordBytes.get(word) ?? Buffer.from(word);
/** Tables of the same symbols, the empty one first and the others beginning with each of them. */
const symbolTables = words
  .filter((word) => word !== '')
  .map((_, first, all) => {
    const symbols = ['', ...all.slice(first), ...all.slice(0, first)];
    const fields = symbols.map((symbol) => bytesField(4, bytesOf(symbol)));
    return {
      refs: new Map(symbols.map((symbol, ref) => [symbol, ref])),
      whole: Buffer.concat(fields),
      // Nothing of an earlier request may remain in the missing ones.
      cut: Buffer.concat(fields.slice(0, 8)),
    };
  });
type Symbols = (typeof symbolTables)[number];

const noonMs = 1_763_640_000_000;

class Generator {
  readonly #random: Random;
  readonly #version: Version;
  readonly #symbols: Symbols;
  /** In the buckets of the histogram under way, and around its zero. */
  #observations = 0;

  constructor(random: Random, version: Version) {
    this.#random = random;
    this.#version = version;
    const table = random.chance(0.5) ? 0 : random.integer(0, symbolTables.length - 1);
    this.#symbols = symbolTables[table] as Symbols;
  }

  bytes(): Buffer {
    const random = this.#random;
    const length = random.integer(0, 60);
    // Half of them small, like tags and lengths.
    return Buffer.from(Array.from({ length }, () => random.integer(0, random.chance(0.5) ? 45 : 255)));
  }

  request(): Buffer {
    const random = this.#random;
    const series = this.#list(4, () => bytesField(this.#version === 1 ? 1 : 5, this.#series()));
    if (this.#version === 1) {
      const metadata = this.#list(2, () => bytesField(3, this.#metadataV1()));
      return this.#fields([...series, ...metadata]);
    }
    const symbols = random.chance(0.05) ? this.#symbols.cut : this.#symbols.whole;
    // The order among the symbols is their numbering.
    return random.chance(0.1) ? message([...series, symbols]) : message([symbols, ...series]);
  }

  #series(): Buffer {
    const random = this.#random;
    const isFirst = this.#version === 1;
    const labels = isFirst ? this.#labelMessages() : this.#labelRefs();
    const points = [
      ...this.#list(3, () => bytesField(2, this.#sample())),
      ...(random.chance(0.3) ? [bytesField(isFirst ? 4 : 3, this.#histogram())] : []),
      ...(random.chance(0.3) ? [bytesField(isFirst ? 3 : 4, this.#exemplar())] : []),
      ...(random.chance(0.3) && !isFirst ? [bytesField(5, this.#metadataV2())] : []),
    ];
    return this.#fields([...labels, ...points]);
  }

  #pairs(): [string, string][] {
    const random = this.#random;
    const pairs: [string, string][] = random.chance(0.95) ? [['__name__', this.#word() || 'up']] : [];
    // Mostly different names, now and then one twice.
    const names = words.slice(1, 7).filter(() => random.chance(0.3));
    for (const name of names) pairs.push([name, this.#word()]);
    if (random.chance(0.03)) pairs.push([this.#word(), this.#word()]);
    return pairs;
  }

  #labelMessages(): Buffer[] {
    return this.#pairs().map(([name, value]) =>
      bytesField(1, this.#fields([bytesField(1, bytesOf(name)), bytesField(2, bytesOf(value))])),
    );
  }

  #labelRefs(): Buffer[] {
    const random = this.#random;
    const refs = this.#pairs().flatMap((pair) => pair.map((text) => this.#symbols.refs.get(text) ?? -1));
    if (random.chance(0.02)) refs.push(random.integer(0, 200));
    if (random.chance(0.1)) return refs.map((ref) => varintField(1, ref));
    return refs.length === 0 ? [] : [packed(1, refs.map(varint))];
  }

  #sample(): Buffer {
    const start = this.#version === 2 && this.#random.chance(0.3) ? [varintField(3, this.#time())] : [];
    return this.#fields([doubleField(1, this.#double()), varintField(2, this.#time()), ...start]);
  }

  #exemplar(): Buffer {
    const labels = this.#version === 1 ? this.#labelMessages() : this.#labelRefs();
    return this.#fields([...labels, doubleField(2, this.#double()), varintField(3, this.#time())]);
  }

  #metadataV1(): Buffer {
    const text = (field: number) => bytesField(field, bytesOf(this.#word()));
    return this.#fields([varintField(1, this.#random.integer(0, 9)), text(2), text(4), text(5)]);
  }

  #metadataV2(): Buffer {
    const random = this.#random;
    const ref = () => random.integer(0, words.length);
    return this.#fields([varintField(1, random.integer(0, 9)), varintField(3, ref()), varintField(4, ref())]);
  }

  #histogram(): Buffer {
    const random = this.#random;
    const isFloat = random.chance(0.4);
    const isCustom = random.chance(0.2);
    this.#observations = isCustom ? 0 : 3;
    const negative = isCustom && random.chance(0.9) ? [] : this.#buckets(8, isFloat);
    const positive = this.#buckets(11, isFloat);
    const count = random.chance(0.8) ? this.#observations : random.integer(0, 60);
    const bounds = isCustom ? this.#list(40, (index) => fixed64(index * 1.5)) : [];
    const fields = [
      isFloat ? doubleField(2, count) : varintField(1, count),
      doubleField(3, random.chance(0.2) ? Number.NaN : this.#double()),
      varintField(4, zigzag(isCustom ? -53 : random.integer(-5, 9))),
      doubleField(5, isCustom && random.chance(0.9) ? 0 : 0.001),
      isFloat ? doubleField(7, isCustom ? 0 : 2.5) : varintField(6, isCustom ? 0 : 3),
      ...negative,
      ...positive,
      varintField(14, random.integer(0, random.chance(0.95) ? 3 : 5)),
      varintField(15, this.#time()),
      ...(bounds.length > 0 ? [packed(16, bounds)] : []),
      ...(random.chance(0.3) ? [varintField(17, noonMs - 5)] : []),
    ];
    return this.#fields(fields.filter(() => random.chance(0.98)));
  }

  /** Spans and buckets of a side, whose first field number this is. */
  #buckets(field: number, isFloat: boolean): Buffer[] {
    const random = this.#random;
    let buckets = 0;
    const spans = this.#list(3, (index) => {
      const length = random.integer(0, 5);
      buckets += length;
      const offset = random.integer(index === 0 || random.chance(0.03) ? -3 : 0, 5);
      return bytesField(field, this.#fields([varintField(1, zigzag(offset)), varintField(2, length)]));
    });
    if (random.chance(0.03)) buckets++;
    let inBucket = 0;
    const values = Array.from({ length: buckets }, () => {
      if (isFloat) return fixed64(random.integer(random.chance(0.01) ? -1 : 0, 9) / 4);
      const delta = random.integer(random.chance(0.01) ? -1 : Math.max(-2, -inBucket), 3);
      inBucket += delta;
      this.#observations += inBucket;
      return varint(zigzag(delta));
    });
    if (values.length === 0) return spans;
    const number = isFloat ? field + 2 : field + 1;
    if (random.chance(0.8)) return [...spans, packed(number, values)];
    const tag = varint((number << 3) | (isFloat ? 1 : 0));
    return [...spans, ...values.map((value) => Buffer.concat([tag, value]))];
  }

  /** The fields of a message; now and then in another order, or with one that nobody knows. */
  #fields(fields: readonly Buffer[]): Buffer {
    const random = this.#random;
    const all = random.chance(0.1) ? [...fields, this.#unknown()] : [...fields];
    if (random.chance(0.1) && all.length > 1) all.push(...all.splice(0, random.integer(1, all.length - 1)));
    return message(all);
  }

  #unknown(): Buffer {
    const number = this.#random.integer(20, 3000);
    switch (this.#random.integer(0, 3)) {
      case 0:
        return varintField(number, this.#random.integer(0, 2 ** 31));
      case 1:
        return doubleField(number, 1);
      case 2:
        return bytesField(number, bytesOf(this.#word()));
      default: {
        const tag = (type: number) => varint(number * 8 + type);
        return Buffer.concat([tag(3), varintField(1, 5), tag(4)]);
      }
    }
  }

  #word(): string {
    return words[this.#random.integer(0, words.length - 1)] ?? '';
  }

  #time(): number {
    const random = this.#random;
    if (random.chance(0.03))
      return random.integer(0, 1) * limits.maxSampleTimestampMs + random.integer(-1, 1);
    return noonMs + random.integer(0, 200_000_000);
  }

  #double(): number {
    const random = this.#random;
    const special = [0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.MIN_VALUE, -1e300];
    return random.chance(0.2)
      ? (special[random.integer(0, special.length - 1)] ?? 0)
      : random.integer(-1e9, 1e9) / 8;
  }

  #list<T>(most: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.#random.integer(0, most) }, (_, index) => make(index));
  }
}
