import { parseArgs } from 'node:util';
import { type RoundReport, runKillRounds } from '../test/support/kill-rounds.ts';
import { keptInSimulation } from './simulations.ts';
import { markdownTable } from './table.ts';

/**
 * `npm run torture [-- --rounds n --seed n]` kills the service in the middle of ingest, over and over;
 * `npm run torture -- --sim n [--seed n] [--trace]` simulates its durable path n times under seeded faults.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '25' },
    sim: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() >>> 0) },
    trace: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
if (!Number.isInteger(seed)) throw new Error(`--seed ${values.seed}: use an integer`);
const kept =
  values.sim === undefined
    ? await keptThroughKills(count('--rounds', values.rounds))
    : await keptInSimulation(count('--sim', values.sim), seed, values.trace);
if (!kept) process.exitCode = 1;

function count(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`${option} ${text}: use 1 or more`);
  return number;
}

/** @returns whether nothing was lost or doubled */
async function keptThroughKills(rounds: number): Promise<boolean> {
  console.log(`${rounds} rounds, seed ${seed}`);
  const reports = await runKillRounds({ rounds, seed, onRound });
  const sum = (figure: (report: RoundReport) => number): number =>
    reports.reduce((total, report) => total + figure(report), 0);
  const last = reports.at(-1);
  const figures: ReadonlyArray<readonly [string, number | undefined]> = [
    ['rounds', reports.length],
    ['kills in replay', sum((report) => report.killsInReplay)],
    ['rows acknowledged', sum((report) => report.acknowledgedRows)],
    ['batches unanswered', sum((report) => report.unansweredBatches)],
    ['rows stored', last?.storedRows],
    ['lost', last?.lostRows],
    ['doubled', last?.duplicatedRows],
  ];
  const header = figures.map(([name]) => name);
  console.log(`\n${markdownTable(header, [figures.map(([, figure]) => String(figure))])}`);
  return reports.every((report) => report.problems.length === 0);
}

function onRound(report: RoundReport): void {
  const { round, killedAfterMs, acknowledgedRows, lostRows, duplicatedRows, problems } = report;
  console.log(
    `round ${round}: killed after ${killedAfterMs} ms, ${acknowledgedRows} rows acknowledged, ${lostRows} lost, ${duplicatedRows} doubled`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
}
