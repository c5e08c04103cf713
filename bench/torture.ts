import { parseArgs } from 'node:util';
import { runKillRounds } from '../test/support/kill-rounds.ts';
import { runStoreKillRounds } from '../test/support/store-kill-rounds.ts';
import { markdownTable } from './table.ts';

/**
 * `npm run torture [-- --rounds n --store-rounds n --seed n]`: the long versions of the tests that kill. First
 * the service itself in the middle of ingest, over and over on one data directory; then the ClickHouse server
 * behind a service. 0 rounds leave a part out.
 */
interface Summary {
  readonly killed: string;
  readonly rounds: number;
  readonly kills: number;
  readonly acknowledgedRows: number;
  readonly unansweredBatches: number;
  readonly storedRows: number;
  readonly lostRows: number;
  readonly duplicatedRows: number;
  /** Of all rounds. */
  readonly problems: readonly string[];
}

async function killService(rounds: number, seed: number): Promise<Summary> {
  const reports = await runKillRounds({
    rounds,
    seed,
    onRound: ({ round, killedAfterMs, acknowledgedRows, lostRows, duplicatedRows, problems }) => {
      console.log(
        `round ${round}: killed after ${killedAfterMs} ms, ${acknowledgedRows} rows acknowledged, ${lostRows} lost, ${duplicatedRows} doubled`,
      );
      for (const problem of problems) console.log(`  ${problem}`);
    },
  });
  const sum = (figure: (report: (typeof reports)[number]) => number): number =>
    reports.reduce((total, report) => total + figure(report), 0);
  const last = reports.at(-1);
  if (last === undefined) throw new Error('There was no round');
  return {
    killed: 'service',
    rounds,
    kills: rounds + sum((report) => report.killsInReplay),
    acknowledgedRows: sum((report) => report.acknowledgedRows),
    unansweredBatches: sum((report) => report.unansweredBatches),
    storedRows: last.storedRows,
    lostRows: last.lostRows,
    duplicatedRows: last.duplicatedRows,
    problems: reports.flatMap((report) => report.problems),
  };
}

async function killStore(rounds: number, seed: number): Promise<Summary> {
  const report = await runStoreKillRounds({
    rounds,
    seed,
    onRound: ({ round, killedAfterMs, when, awayMs, acknowledgedRows }) => {
      console.log(
        `store round ${round}: killed after ${killedAfterMs} ms ${when} an insert, away for ${awayMs} ms, ${acknowledgedRows} rows acknowledged so far`,
      );
    },
  });
  for (const problem of report.problems) console.log(`  ${problem}`);
  console.log(`${report.failedInserts} inserts failed and were tried again`);
  // A request that the service refuses ends the run.
  return { killed: 'ClickHouse server', rounds, kills: rounds, unansweredBatches: 0, ...report };
}

const summaryTable = (summaries: readonly Summary[]): string =>
  markdownTable(
    [
      'killed',
      'rounds',
      'kills',
      'rows acknowledged',
      'batches unanswered',
      'rows stored',
      'lost',
      'doubled',
    ],
    summaries.map((summary) => [
      summary.killed,
      String(summary.rounds),
      String(summary.kills),
      String(summary.acknowledgedRows),
      String(summary.unansweredBatches),
      String(summary.storedRows),
      String(summary.lostRows),
      String(summary.duplicatedRows),
    ]),
  );

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '25' },
    'store-rounds': { type: 'string', default: '25' },
    seed: { type: 'string', default: String(Date.now() >>> 0) },
  },
});

function wholeNumber(option: keyof typeof values): number {
  const value = Number(values[option]);
  if (!Number.isInteger(value) || value < 0) {
    throw new Error(`--${option} ${values[option]}: use a whole number, 0 or more`);
  }
  return value;
}

const rounds = wholeNumber('rounds');
const storeRounds = wholeNumber('store-rounds');
const seed = wholeNumber('seed');
console.log(`${rounds} rounds, ${storeRounds} of the store, seed ${seed}`);
const summaries: Summary[] = [];
if (rounds > 0) summaries.push(await killService(rounds, seed));
if (storeRounds > 0) summaries.push(await killStore(storeRounds, seed));
console.log(`\n${summaryTable(summaries)}`);
if (summaries.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
