import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { limits } from '../src/limits/limits.ts';
import { type Random, seededRandom } from '../test/support/lib/random.ts';
import { dashboardQueries, readStored, sendBatch } from '../test/support/service/numbered-batches.ts';
import { compareBatches, type SentBatch } from '../test/support/service/sent-and-stored.ts';
import { Service } from '../test/support/service/service.ts';
import { gaugeTitles, judge, medians, type Sample, takeSample } from './gauges.ts';
import { markdownTable } from './markdown-table.ts';

/**
 * `npm run soak [-- --minutes n --seed n]`: a moderate load for a long time, to see whether anything grows.
 *
 * It sends JSON events with an `Idempotency-Key`, remote write, and queries. Some requests are sent twice at
 * the same time, some are repeated at once, and some minutes later, as impatient senders do. The gauges are
 * read every second and their medians are printed every minute. At the end the gauges are judged, and SQL
 * must find exactly what was sent.
 */
const sendersOfEachKind = 2;
const meanPauseMs = 300;
const maxRowsPerBatch = 400;
const queryIntervalMs = 2000;
const sampleIntervalMs = 1000;
/** The share of all batches. */
const sentTwiceAtOnce = 0.03;
const repeatedSoon = 0.1;
const repeatedLate = 0.05;
const latestRepetitionMs = 120_000;
/** The share of the run: the replay window is full before the part that is judged. */
const replayWindowShare = 1 / 3;

function readArguments(): { minutes: number; seed: number } {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '30' },
      seed: { type: 'string', default: String(Date.now() >>> 0) },
    },
  });
  const minutes = Number(values.minutes);
  const seed = Number(values.seed);
  if (!(minutes >= 1)) throw new Error(`--minutes ${values.minutes}: use 1 or more`);
  if (!Number.isInteger(seed)) throw new Error(`--seed ${values.seed}: use an integer`);
  return { minutes, seed };
}

/** Everything that was sent. */
class Load {
  readonly sent: SentBatch[] = [];
  repetitions = 0;
  queries = 0;
  readonly #service: Service;
  readonly #random: Random;
  readonly #endMs: number;
  readonly #latestRepetitionMs: number;

  constructor(service: Service, random: Random, options: { endMs: number; replayWindowMs: number }) {
    this.#service = service;
    this.#random = random;
    this.#endMs = options.endMs;
    this.#latestRepetitionMs = Math.min(latestRepetitionMs, options.replayWindowMs / 2);
  }

  /** Returns when the time is over and every reply has arrived. */
  async run(): Promise<void> {
    // The datasets exist before the first query.
    for (const kind of ['events', 'samples'] as const) await this.#send(kind);
    const senders = Array.from({ length: sendersOfEachKind }, () => [
      this.#sendOnAndOn('events'),
      this.#sendOnAndOn('samples'),
    ]);
    await Promise.all([...senders.flat(), this.#ask()]);
  }

  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  async #sendOnAndOn(kind: SentBatch['kind']): Promise<void> {
    const late: Promise<void>[] = [];
    while (!this.isOver) {
      const batch = await this.#send(kind);
      if (this.#random.chance(repeatedSoon)) await this.#repeat(batch);
      if (this.#random.chance(repeatedLate)) late.push(this.#repeatLater(batch));
      await sleep(this.#random.integer(0, 2 * meanPauseMs));
    }
    await Promise.all(late);
  }

  async #send(kind: SentBatch['kind']): Promise<SentBatch> {
    const rows = this.#random.integer(1, maxRowsPerBatch);
    const batch: SentBatch = { kind, number: this.sent.length, rows, acknowledged: false };
    this.sent.push(batch);
    const first = sendBatch(this.#service, batch, { keyed: true });
    if (this.#random.chance(sentTwiceAtOnce)) await this.#repeat(batch);
    await first;
    batch.acknowledged = true;
    return batch;
  }

  async #repeat(batch: SentBatch): Promise<void> {
    this.repetitions += 1;
    await sendBatch(this.#service, batch, { keyed: true });
  }

  async #repeatLater(batch: SentBatch): Promise<void> {
    const restMs = Math.max(0, this.#endMs - performance.now());
    await sleep(Math.min(restMs, this.#random.integer(1000, this.#latestRepetitionMs)));
    await this.#repeat(batch);
  }

  async #ask(): Promise<void> {
    for (; !this.isOver; this.queries += 1) {
      await this.#service.query(dashboardQueries[this.queries % dashboardQueries.length] ?? '');
      await sleep(queryIntervalMs);
    }
  }
}

/** Reads the gauges until the load is over, and prints a line a minute. */
async function watch(service: Service, load: Load): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const start = performance.now();
  console.log(`| minute | sent | ${gaugeTitles.join(' | ')} | CPU % of a core |`);
  let minuteStart: Sample | undefined;
  let ofMinute: Sample[] = [];
  while (!load.isOver) {
    const sample = await takeSample(service, (performance.now() - start) / 1000);
    samples.push(sample);
    ofMinute.push(sample);
    minuteStart ??= sample;
    const seconds = sample.atSeconds - minuteStart.atSeconds;
    if (seconds >= 60) {
      const cpu = ((sample.cpuSeconds - minuteStart.cpuSeconds) / seconds) * 100;
      const cells = [
        Math.round(sample.atSeconds / 60),
        load.sent.length,
        ...medians(ofMinute),
        cpu.toFixed(0),
      ];
      console.log(`| ${cells.join(' | ')} |`);
      minuteStart = sample;
      ofMinute = [];
    }
    await sleep(sampleIntervalMs);
  }
  return samples;
}

/** @returns whether all is well */
async function report(service: Service, load: Load, samples: readonly Sample[]): Promise<boolean> {
  const verdicts = judge(samples);
  const rows = verdicts.map(({ title, third, fourth, allowedGrowth, isSteady }) => [
    title,
    third,
    fourth,
    allowedGrowth,
    isSteady ? 'steady' : 'GROWING',
  ]);
  console.log(
    `\n${markdownTable(['gauge', 'third quarter', 'fourth quarter', 'allowed growth', 'verdict'], rows)}`,
  );
  await service.drained();
  const recognised = await service.metric('millrace_ingest_replayed_requests_total');
  const { storedRows, lostRows, duplicatedRows, problems } = compareBatches(
    load.sent,
    await readStored(service),
  );
  const figures = [
    load.sent.length,
    load.repetitions,
    recognised,
    load.queries,
    storedRows,
    lostRows,
    duplicatedRows,
  ];
  console.log(
    `\n${markdownTable(
      ['batches', 'repetitions', 'recognised', 'queries', 'rows stored', 'lost', 'doubled'],
      [figures.map(String)],
    )}`,
  );
  for (const problem of problems) console.log(problem);
  const isSteady = verdicts.every((verdict) => verdict.isSteady);
  return isSteady && problems.length === 0 && recognised === load.repetitions;
}

const { minutes, seed } = readArguments();
console.log(`${minutes} minutes, seed ${seed}`);
const replayWindowMs = Math.floor(Math.min(limits.replayWindowMs, minutes * 60_000 * replayWindowShare));
const service = await Service.start({
  env: { MILLRACE_LOG_LEVEL: 'warn', MILLRACE_REPLAY_WINDOW_MS: String(replayWindowMs) },
});
try {
  const endMs = performance.now() + minutes * 60_000;
  const load = new Load(service, seededRandom(seed), { endMs, replayWindowMs });
  const [samples] = await Promise.all([watch(service, load), load.run()]);
  const isWell = await report(service, load, samples);
  console.log(isWell ? '\nsteady' : '\nNOT steady');
  if (!isWell) process.exitCode = 1;
  if (service.child.stderr !== '') console.log(service.child.stderr);
} finally {
  await service.dispose();
}
