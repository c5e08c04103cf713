import type { JsonSchema } from '../../../bench/reference/openapi.ts';
import { type Random, seededRandom } from '../lib/random.ts';

/** Values for members of a name that mean something, beside those of their schema. */
export type Hints = Readonly<Record<string, readonly unknown[]>>;

/**
 * Random JSON from a JSON Schema: what it allows, and with a damage in a part of the cases what it does not.
 */
export class SchemaValues {
  readonly #random: Random;
  readonly #resolve: (schema: JsonSchema) => JsonSchema;
  readonly #hints: Hints;
  /** How likely a value is not what its schema says. */
  #damage = 0;

  constructor(seed: number, resolve: (schema: JsonSchema) => JsonSchema, hints: Hints) {
    this.#random = seededRandom(seed);
    this.#resolve = resolve;
    this.#hints = hints;
  }

  get random(): Random {
    return this.#random;
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.#random.integer(0, values.length - 1)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  }

  /** @param damage how likely each part of the value is not what its schema says */
  value(schema: JsonSchema, damage: number): unknown {
    this.#damage = damage;
    return this.#value(schema, '', 0);
  }

  #value(given: JsonSchema, name: string, depth: number): unknown {
    const schema = this.#resolve(given);
    if (this.#random.chance(this.#damage)) return this.#anything(depth);
    const hints = this.#hints[name];
    if (hints !== undefined && this.#random.chance(0.8)) return this.pick(hints);
    const { enum: values, const: only, anyOf, type } = schema;
    if (only !== undefined) return only;
    if (Array.isArray(values)) return this.pick(values);
    if (Array.isArray(anyOf)) return this.#value(this.pick(anyOf as JsonSchema[]), name, depth);
    if (type === 'object') return this.#object(schema, depth);
    if (type === 'array') return this.#array(schema, name, depth);
    if (type === 'integer' || type === 'number') return this.#number(schema);
    if (type === 'string') return this.#text(schema);
    if (type === 'boolean') return this.#random.chance(0.5);
    return type === 'null' ? null : this.#anything(depth);
  }

  #object({ properties = {}, required = [], additionalProperties }: JsonSchema, depth: number): unknown {
    const needed = new Set(required as readonly string[]);
    const members = Object.entries(properties as Record<string, JsonSchema>)
      .filter(([name]) => (needed.has(name) ? !this.#random.chance(this.#damage) : this.#random.chance(0.5)))
      .map(([name, schema]): [string, unknown] => [name, this.#value(schema, name, depth + 1)]);
    const isOpen = additionalProperties !== false;
    const others = isOpen ? this.#random.integer(0, 3) : this.#random.chance(this.#damage) ? 1 : 0;
    for (let count = 0; count < others; count += 1) {
      members.push([this.pick(strayNames), this.#anything(depth + 1)]);
    }
    return Object.fromEntries(members);
  }

  #array({ items, maxItems, minItems }: JsonSchema, name: string, depth: number): unknown {
    const most = typeof maxItems === 'number' ? maxItems : 3;
    const least = typeof minItems === 'number' ? minItems : 0;
    const isTooLong = this.#random.chance(this.#damage) && most < 2000;
    const length = isTooLong ? most + 1 : this.#random.integer(least, Math.min(most, least + 3));
    return Array.from({ length }, () => this.#value((items ?? {}) as JsonSchema, name, depth + 1));
  }

  #number({ type, minimum = -5, maximum = 1e6 }: JsonSchema): number {
    const [min, max] = [Number(minimum), Number(maximum)];
    if (this.#random.chance(this.#damage)) return this.pick([min - 1, max + 1, 0.5, -0, 1e300]);
    const value = this.pick([min, max, this.#random.integer(min, Math.min(max, min + 1000))]);
    return type === 'integer' ? value : value / this.pick([1, 1, 3]);
  }

  #text({ maxLength }: JsonSchema): string {
    if (typeof maxLength === 'number' && this.#random.chance(this.#damage)) return 'x'.repeat(maxLength + 1);
    return this.pick(texts);
  }

  #anything(depth: number): unknown {
    const value = this.pick<unknown>([null, true, 0, -1.5, 1e300, '', 'x', [], {}, 'nested', 'list']);
    if (value === 'nested' && depth < 5) return { [this.pick(strayNames)]: this.#anything(depth + 1) };
    if (value === 'list' && depth < 5) return [this.#anything(depth + 1), this.#anything(depth + 1)];
    return value;
  }
}

const strayNames = ['a', 'b c', '', 'constructor', '__proto__', 'ünïcode', 'toString', '0', 'x'.repeat(300)];
const texts = [
  '',
  'a',
  'app',
  'two words',
  '"quoted"',
  "it's",
  'línea',
  '\u0000',
  '\ud800',
  '1',
  '%00',
  '../x',
  'x'.repeat(200),
];
