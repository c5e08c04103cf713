import { simulateMany } from '../test/sim/many.ts';
import { markdownTable } from './markdown-table.ts';

/** One mistake often shows in hundreds of rows. */
const maxShownViolations = 5;

/**
 * Simulates the durable path under seeded faults.
 * @returns whether all invariants held in every run
 */
export async function keptInSimulation(runs: number, seed: number, traced: boolean): Promise<boolean> {
  console.log(`${runs} simulated runs, seeds ${seed} to ${seed + runs - 1}`);
  const totals = await simulateMany({
    runs,
    seed,
    traced,
    onFailure: (report) => {
      console.log(
        `seed ${report.seed} failed; to see it: npm run torture -- --sim 1 --seed ${report.seed} --trace`,
      );
      for (const violation of report.violations.slice(0, maxShownViolations)) console.log(`  ${violation}`);
    },
  });
  console.log(`\n${markdownTable(Object.keys(totals), [Object.values(totals).map(String)])}`);
  return totals.failed === 0;
}
