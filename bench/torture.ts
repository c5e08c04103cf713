import { parseArgs } from 'node:util';
import { type RoundReport, runKillRounds } from '../test/support/kill-rounds.ts';
import { markdownTable } from './table.ts';

/** `npm run torture [-- --rounds n --seed n]`: kills the service in the middle of ingest, over and over. */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '25' },
    seed: { type: 'string', default: String(Date.now() >>> 0) },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: use 1 or more`);
if (!Number.isInteger(seed)) throw new Error(`--seed ${values.seed}: use an integer`);
console.log(`${rounds} rounds, seed ${seed}`);

const onRound = (report: RoundReport): void => {
  const { round, killedAfterMs, acknowledgedRows, lostRows, duplicatedRows, problems } = report;
  console.log(
    `round ${round}: killed after ${killedAfterMs} ms, ${acknowledgedRows} rows acknowledged, ${lostRows} lost, ${duplicatedRows} doubled`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
};

const reports = await runKillRounds({ rounds, seed, onRound });
const sum = (figure: (report: RoundReport) => number): number =>
  reports.reduce((total, report) => total + figure(report), 0);
const last = reports.at(-1);
console.log(
  `\n${markdownTable(
    [
      'rounds',
      'kills in replay',
      'rows acknowledged',
      'batches unanswered',
      'rows stored',
      'lost',
      'doubled',
    ],
    [
      [
        String(reports.length),
        String(sum((report) => report.killsInReplay)),
        String(sum((report) => report.acknowledgedRows)),
        String(sum((report) => report.unansweredBatches)),
        String(last?.storedRows),
        String(last?.lostRows),
        String(last?.duplicatedRows),
      ],
    ],
  )}`,
);
if (reports.some((report) => report.problems.length > 0)) process.exitCode = 1;
