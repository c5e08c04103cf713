import { type RunReport, simulate } from './simulate.ts';

export interface SimulationOptions {
  readonly runs: number;
  /** Of the first run; the others count on from it, so that each can be repeated alone. */
  readonly seed: number;
  readonly traced?: boolean;
  readonly onFailure: (report: RunReport) => void;
}

export interface SimulationTotals {
  readonly runs: number;
  readonly failed: number;
  readonly lives: number;
  readonly steps: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly unanswered: number;
}

/** Runs one simulation after another. */
export async function simulateMany(options: SimulationOptions): Promise<SimulationTotals> {
  const { runs, seed, traced = false, onFailure } = options;
  const totals = { runs, failed: 0, lives: 0, steps: 0, acknowledged: 0, refused: 0, unanswered: 0 };
  for (let run = 0; run < runs; run += 1) {
    const report = await simulate(seed + run, traced);
    if (report.violations.length > 0) {
      totals.failed += 1;
      onFailure(report);
    }
    for (const figure of ['lives', 'steps', 'acknowledged', 'refused', 'unanswered'] as const) {
      totals[figure] += report[figure];
    }
  }
  return totals;
}
