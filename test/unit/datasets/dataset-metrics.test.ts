import { afterEach, expect, test } from 'vitest';
import { DatasetMetrics } from '../../../src/datasets/dataset-metrics.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';

type Row = readonly [database: string, dataset: string, rows: number, bytes: number];

/** A store that answers with these rows, or fails. */
class Parts {
  rows: readonly Row[] = [];
  isDown = false;
  readonly statements: string[] = [];

  async select(statement: string): Promise<Buffer> {
    this.statements.push(statement);
    if (this.isDown) throw new Error('no answer');
    return Buffer.from(this.rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
}

const parts = new Parts();
const metrics = createMetrics();
const warnings: unknown[] = [];
/** The timer that runs. */
let timer: { readonly ms: number; readonly action: () => void } | undefined;
let watch: DatasetMetrics | undefined;
afterEach(() => watch?.stop());

function start(): void {
  watch = DatasetMetrics.start({
    store: parts,
    catalog: { hasEnded: (tenant, id) => tenant === 'gone' || id === 'app' },
    metrics,
    timers: {
      turn: () => Promise.resolve(),
      random: () => 0,
      after: (ms, action) => {
        timer = { ms, action };
        return () => {
          timer = undefined;
        };
      },
    },
    log: { warn: (...line: unknown[]) => warnings.push(line) } as never,
  });
}

const shown = async () =>
  (await metrics.registry.metrics()).split('\n').filter((line) => /^millrace_dataset_\w+\{/.test(line));

/** Lets the next measurement begin, and waits until it has ended. */
async function next(): Promise<void> {
  const due = timer;
  timer = undefined;
  due?.action();
  await expect.poll(() => timer).toBeDefined();
}

test('the largest datasets are shown by name, deleted ones are not, and an outage changes nothing', async () => {
  parts.rows = [
    ['t_default', 'app.2', 70, 900],
    ['t_default', 'app', 5, 800],
    ['t_acme.3', 'web', 1, 10],
    ['t_gone', 'web', 1, 9],
  ];
  start();
  await expect.poll(() => timer?.ms).toBe(limits.datasetMetricsIntervalMs);
  const first = [
    'millrace_dataset_rows{tenant="default",dataset="app"} 70',
    'millrace_dataset_rows{tenant="acme",dataset="web"} 1',
    'millrace_dataset_disk_bytes{tenant="default",dataset="app"} 900',
    'millrace_dataset_disk_bytes{tenant="acme",dataset="web"} 10',
  ];
  expect(await shown()).toEqual(first);
  expect(parts.statements[0]).toContain(`LIMIT ${limits.maxDatasetMetrics}`);

  parts.isDown = true;
  await next();
  expect(await shown()).toEqual(first);
  expect(warnings).toHaveLength(1);

  parts.isDown = false;
  parts.rows = [['t_acme.3', 'web', 2, 20]];
  await next();
  expect(await shown()).toEqual([
    'millrace_dataset_rows{tenant="acme",dataset="web"} 2',
    'millrace_dataset_disk_bytes{tenant="acme",dataset="web"} 20',
  ]);

  await watch?.stop();
  expect(timer).toBeUndefined();
});
