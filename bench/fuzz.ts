import { parseArgs } from 'node:util';
import xxhash from 'xxhash-wasm';
import { Decoder } from '../src/decode/decoder.ts';
import { DecodeOutcomes } from '../src/decode/outcomes.ts';
import { RemoteWriteKernel } from '../src/decode/remote-write-kernel.ts';
import { compileKernel } from '../test/support/kernel.ts';
import { checkOtlpInput, otlpFuzzInput } from '../test/support/otlp-fuzz.ts';
import { checkMetricsInput, metricsFuzzInput } from '../test/support/otlp-metrics-fuzz.ts';
import {
  checkInput,
  checkRepetition,
  type FuzzVerdict,
  fuzzInput,
} from '../test/support/remote-write-fuzz.ts';
import { markdownTable } from './table.ts';

/**
 * `npm run fuzz [-- --inputs n --seed n --only number]`: bodies against the decoder and its oracles, remote write and
 * OTLP in turn.
 */
const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() >>> 0) },
    only: { type: 'string' },
  },
});
const integer = (name: string, text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} ${text}: use a whole number`);
  return value;
};
const inputs = integer('inputs', values.inputs);
const seed = integer('seed', values.seed);
const first = values.only === undefined ? 0 : integer('only', values.only);
const end = values.only === undefined ? inputs : first + 1;
/** A decoder keeps the series that it has met; a new one now and then meets them for the first time again. */
const inputsPerDecoder = 10_000;
const progressEvery = 500_000;

const hashes = await xxhash();
const outcomes = new DecodeOutcomes();
const counted = new Map<string, number>();
const kernel = compileKernel();
const newDecoder = (): Decoder => new Decoder(outcomes, hashes, new RemoteWriteKernel(kernel));
let decoder = newDecoder();
let slowestMs = 0;
const startedMs = performance.now();
console.log(`inputs ${first} to ${end - 1}, seed ${seed}`);
for (let number = first; number < end; number++) {
  if (number % inputsPerDecoder === 0) decoder = newDecoder();
  const inputStartedMs = performance.now();
  const check = number % 2 === 0 ? checkRemoteWrite : number % 4 === 1 ? checkOtlp : checkOtlpMetrics;
  const verdict = check(number);
  slowestMs = Math.max(slowestMs, performance.now() - inputStartedMs);
  counted.set(verdict, (counted.get(verdict) ?? 0) + 1);
  if ((number + 1) % progressEvery === 0) console.log(`${number + 1} inputs`);
}

function checkRemoteWrite(number: number): string {
  const input = fuzzInput(seed, number);
  try {
    const verdict: FuzzVerdict = checkInput(decoder, input, 3 * number + 1);
    if (verdict === 'stored') checkRepetition(decoder, outcomes, input, 3 * number + 2);
    return `remote write, ${verdict}`;
  } catch (error) {
    console.log(`npm run fuzz -- --seed ${seed} --only ${number}`);
    console.log(`version ${input.version}, message ${input.message.toString('hex')}`);
    throw error;
  }
}

function checkOtlp(number: number): string {
  const input = otlpFuzzInput(seed, number);
  try {
    return `OTLP ${input.signal}, ${checkOtlpInput(decoder, input, 3 * number + 1)}`;
  } catch (error) {
    console.log(`npm run fuzz -- --seed ${seed} --only ${number}`);
    console.log(`${input.signal} in ${input.encoding}, body ${input.body.toString('hex')}`);
    throw error;
  }
}

function checkOtlpMetrics(number: number): string {
  const input = metricsFuzzInput(seed, number);
  try {
    return `OTLP metrics, ${checkMetricsInput(input)}`;
  } catch (error) {
    console.log(`npm run fuzz -- --seed ${seed} --only ${number}`);
    console.log(`metrics in ${input.encoding}, body ${input.body.toString('hex')}`);
    throw error;
  }
}

const seconds = (performance.now() - startedMs) / 1000;
console.log(
  `\n${markdownTable(
    ['verdict', 'inputs'],
    [...counted].sort().map(([verdict, count]) => [verdict, String(count)]),
  )}\n${end - first} inputs in ${seconds.toFixed(1)} s, the slowest ${slowestMs.toFixed(1)} ms`,
);
