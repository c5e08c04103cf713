import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import xxhash from 'xxhash-wasm';
import { Decoder } from '../src/decode/decoder.ts';
import { DecodeOutcomes } from '../src/decode/outcomes.ts';
import { RemoteWriteKernel } from '../src/decode/remote-write/remote-write-kernel.ts';
import { checkOtlpInput, otlpFuzzInput } from '../test/support/otlp/otlp-fuzz.ts';
import { checkMetricsInput, metricsFuzzInput } from '../test/support/otlp/otlp-metrics-fuzz.ts';
import { checkInput, fuzzInput } from '../test/support/remote-write/remote-write-fuzz.ts';
import { markdownTable } from './markdown-table.ts';

const usage = `npm run fuzz [-- <option> …]: bodies against the decoder and its oracles

  --protocol <name>    remote-write, otlp, or all, which is both in turn (default: all)
  --inputs n           how many (default: 1000000)
  --seed n             the same seed and protocol make the same inputs (default: another one each time)
  --only number        that input alone`;

/** One input: its description, and its check against the oracle, which returns a verdict to count. */
interface FuzzCase {
  readonly text: () => string;
  /** @throws Error if the decoder stored or refused anything else than it must */
  readonly check: () => string;
}

const hashes = await xxhash();
const outcomes = new DecodeOutcomes();
const kernel = new WebAssembly.Module(
  readFileSync(new URL('../src/decode/remote-write/kernel/kernel.wasm', import.meta.url)),
);
/** A decoder remembers series. A new decoder from time to time sees them for the first time again. */
const inputsPerDecoder = 10_000;
const newDecoder = (): Decoder => new Decoder(outcomes, hashes, new RemoteWriteKernel(kernel));
let decoder = newDecoder();

function remoteWrite(seed: number, number: number): FuzzCase {
  const input = fuzzInput(seed, number);
  const check = (): string => `remote write, ${checkInput(decoder, outcomes, input, number)}`;
  return { text: () => `version ${input.version}, message ${input.message.toString('hex')}`, check };
}

function otlpRecords(seed: number, number: number): FuzzCase {
  const input = otlpFuzzInput(seed, number);
  const { signal, encoding, body } = input;
  return {
    text: () => `${signal} in ${encoding}, body ${body.toString('hex')}`,
    check: () => `OTLP ${signal}, ${checkOtlpInput(decoder, input, 3 * number + 1)}`,
  };
}

function otlpMetrics(seed: number, number: number): FuzzCase {
  const input = metricsFuzzInput(seed, number);
  return {
    text: () => `metrics in ${input.encoding}, body ${input.body.toString('hex')}`,
    check: () => `OTLP metrics, ${checkMetricsInput(input)}`,
  };
}

/** What the inputs are, in turn. */
const protocols = {
  all: [remoteWrite, otlpRecords, otlpMetrics],
  'remote-write': [remoteWrite],
  otlp: [otlpRecords, otlpMetrics],
} as const satisfies Record<string, readonly ((seed: number, number: number) => FuzzCase)[]>;
type Protocol = keyof typeof protocols;

interface FuzzOptions {
  readonly protocol: Protocol;
  readonly seed: number;
  readonly first: number;
  readonly end: number;
}

function readOptions(): FuzzOptions {
  const { values } = parseArgs({
    options: {
      protocol: { type: 'string', default: 'all' },
      inputs: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: String(Date.now() >>> 0) },
      only: { type: 'string' },
    },
  });
  const { protocol, only } = values;
  const isProtocol = (name: string): name is Protocol => Object.hasOwn(protocols, name);
  if (!isProtocol(protocol))
    throw new Error(`--protocol ${protocol}: use ${Object.keys(protocols).join(', ')}`);
  const first = only === undefined ? 0 : integer('only', only);
  const end = only === undefined ? integer('inputs', values.inputs) : first + 1;
  return { protocol, seed: integer('seed', values.seed), first, end };
}

function integer(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} ${text}: use a whole number`);
  return value;
}

const progressEvery = 100_000;

/** @returns how many inputs had which verdict */
function fuzz({ protocol, seed, first, end }: FuzzOptions): ReadonlyMap<string, number> {
  const kinds = protocols[protocol];
  const counted = new Map<string, number>();
  for (let number = first; number < end; number++) {
    if (number % inputsPerDecoder === 0) decoder = newDecoder();
    const kind = kinds[number % kinds.length] ?? kinds[0];
    const input = kind(seed, Math.floor(number / kinds.length));
    try {
      const verdict = input.check();
      counted.set(verdict, (counted.get(verdict) ?? 0) + 1);
    } catch (error) {
      console.log(`npm run fuzz -- --protocol ${protocol} --seed ${seed} --only ${number}\n${input.text()}`);
      throw error;
    }
    if ((number + 1) % progressEvery === 0) console.log(`${number + 1} inputs`);
  }
  return counted;
}

function main(options: FuzzOptions): void {
  const { protocol, seed, first, end } = options;
  // Most inputs are refused, and stack traces are slow. A failing input can be run alone, with its stack
  // trace.
  if (end - first > 1) Error.stackTraceLimit = 0;
  console.log(`${protocol}: inputs ${first} to ${end - 1}, seed ${seed}`);
  const started = process.cpuUsage();
  const counted = fuzz(options);
  const { user, system } = process.cpuUsage(started);
  const rows = [...counted].sort().map(([verdict, count]) => [verdict, String(count)]);
  const seconds = (user + system) / 1e6;
  const rate = ((end - first) / seconds).toFixed(0);
  console.log(`\n${markdownTable(['verdict', 'inputs'], rows)}`);
  console.log(`\n${end - first} inputs in ${seconds.toFixed(1)} CPU seconds, ${rate} a second`);
}

let options: FuzzOptions | undefined;
try {
  options = readOptions();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error(`\n${usage}`);
  process.exitCode = 2;
}
if (options !== undefined) main(options);
