/**
 * Random bodies, each made only from a seed and its number, so that a failure can be reproduced. Making a
 * request and asking the oracle takes much longer than decoding it, so eight consecutive bodies come from one
 * request: the request in both encodings, each of these with bytes changed in two ways, and random bytes.
 */
import { type Random, seededRandom } from '../lib/random.ts';

export type Encoding = 'json' | 'protobuf';

/** A request in both encodings, and what must be stored of either. */
export interface RequestBodies<Expected> {
  readonly json: Buffer;
  readonly protobuf: Buffer;
  readonly expected: () => Expected;
}

export interface FuzzBody<Expected> {
  readonly encoding: Encoding;
  readonly body: Buffer;
  /** What must be stored, if the body was not changed. */
  readonly expected: (() => Expected) | undefined;
}

const forms = ['whole', 'damaged', 'damaged', 'bytes'] as const;
const bodiesPerRequest = 2 * forms.length;

export class FuzzBodies<Expected> {
  readonly #make: (random: Random) => RequestBodies<Expected>;
  #madeOf = '';
  #made: RequestBodies<Expected> | undefined;

  /** @param make makes a request from nothing but its argument */
  constructor(make: (random: Random) => RequestBodies<Expected>) {
    this.#make = make;
  }

  get(seed: number, number: number): FuzzBody<Expected> {
    const { json, protobuf, expected } = this.#request(seed, Math.floor(number / bodiesPerRequest));
    const random = randomOf(seed, number);
    const encoding = number % 2 === 0 ? 'json' : 'protobuf';
    const whole = encoding === 'json' ? json : protobuf;
    const form = forms[Math.floor((number % bodiesPerRequest) / 2)];
    if (form === 'whole') return { encoding, body: whole, expected };
    const body = form === 'bytes' ? randomBytes(random, encoding) : mutate(random, whole);
    return { encoding, body, expected: undefined };
  }

  #request(seed: number, number: number): RequestBodies<Expected> {
    const of = `${seed} ${number}`;
    if (this.#made === undefined || this.#madeOf !== of) {
      const made = this.#make(randomOf(~seed, number));
      let known: Expected | undefined;
      const expected = (): Expected => {
        known ??= made.expected();
        return known;
      };
      this.#made = { ...made, expected };
      this.#madeOf = of;
    }
    return this.#made;
  }
}

const randomOf = (seed: number, number: number): Random =>
  seededRandom((seed ^ Math.imul(number + 1, 0x9e37_79b1)) >>> 0);

const tokens = [
  ...['{', '}', '[', ']', ':', ',', '"x"', 'null', '1e9', '"\\ud800"'],
  ...['"resourceLogs"', '"scopeLogs"', '"spans"', '"resourceMetrics"', '"dataPoints"'],
];

/** Half of the random JSON consists of JSON tokens, since random bytes rarely get beyond the first one. */
function randomBytes(random: Random, encoding: Encoding): Buffer {
  const length = random.integer(0, 200);
  if (encoding === 'json' && random.chance(0.5)) {
    return Buffer.from(Array.from({ length }, () => tokens[random.integer(0, tokens.length - 1)]).join(''));
  }
  return Buffer.from(Array.from({ length }, () => random.integer(0, 255)));
}

function mutate(random: Random, whole: Buffer): Buffer {
  let body = Buffer.from(whole);
  for (let changes = random.integer(1, 4); changes > 0 && body.length > 0; changes--) {
    const at = random.integer(0, body.length - 1);
    const count = random.integer(1, 8);
    const kind = random.integer(0, 3);
    if (kind === 0) body[at] = random.integer(0, 255);
    else if (kind === 1) body = Buffer.concat([body.subarray(0, at), body.subarray(at + count)]);
    else if (kind === 2) body = Buffer.concat([body.subarray(0, at + count), body.subarray(at)]);
    else body = body.subarray(0, at);
  }
  return body;
}
