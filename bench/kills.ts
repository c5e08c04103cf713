import { runKillRounds } from '../test/support/service/kill-rounds.ts';
import { runStoreKillRounds } from '../test/support/service/store-kill-rounds.ts';
import { markdownTable } from './markdown-table.ts';

export interface KillOptions {
  /** How often the service is killed (SIGKILL) during ingest, on one data directory. */
  readonly rounds: number;
  /** How often the ClickHouse server behind a service is killed. */
  readonly storeRounds: number;
  readonly seed: number;
}

/**
 * Kills the service, then the ClickHouse server, and prints a table of what became of the rows.
 * 0 rounds skip a part.
 * @returns whether nothing was lost or doubled
 */
export async function keptThroughKills({ rounds, storeRounds, seed }: KillOptions): Promise<boolean> {
  console.log(`${rounds} rounds, ${storeRounds} of the store, seed ${seed}`);
  const summaries: Summary[] = [];
  if (rounds > 0) summaries.push(await killService(rounds, seed));
  if (storeRounds > 0) summaries.push(await killStore(storeRounds, seed));
  console.log(`\n${summaryTable(summaries)}`);
  return summaries.every(({ problems }) => problems.length === 0);
}

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
    onRound: ({ round, killedAfterMs, when, awayMs, acknowledgedRows, waitingSegments }) => {
      console.log(
        `store round ${round}: killed after ${killedAfterMs} ms ${when} an insert, away for ${awayMs} ms, ${acknowledgedRows} rows acknowledged so far, ${waitingSegments} segments waiting`,
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
