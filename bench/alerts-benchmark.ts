import { setTimeout as sleep } from 'node:timers/promises';
import { authorization, Service, sumOfMetric } from '../test/support/service/service.ts';
import { markdownTable } from './markdown-table.ts';
import { cpuSeconds } from './proc.ts';

const alertCount = 1000;
const creationsAtOnce = 8;
const batches = 100;
const eventsPerBatch = 1000;

interface Case {
  readonly name: string;
  readonly query: string;
}

/** Half of the hosts are over the threshold in the second case, in every other minute. */
const cases: readonly Case[] = [
  { name: 'nothing changes', query: "SELECT count(*) AS value FROM bench WHERE level = 'missing'" },
  {
    name: 'each one fires and resolves every other minute',
    query:
      "SELECT count(*) * (extract(minute FROM now())::int % 2) AS value FROM bench WHERE level = 'error'",
  },
];

/**
 * A thousand alerts a minute over a dataset with 100,000 rows in their window: CPU time of the service and
 * its engine, and how late evaluations begin.
 * @param minutes to measure each case for
 * @returns a Markdown table
 */
export async function measureAlerts(minutes: number): Promise<string> {
  const rows: string[][] = [];
  for (const each of cases) {
    rows.push([each.name, ...(await measureCase(each, minutes))]);
    console.log(`${each.name}: measured`);
  }
  return markdownTable(
    [
      `${alertCount} alerts a minute`,
      'evaluations',
      'failed',
      'CPU % of a core',
      'idle %',
      'lag p50 ms',
      'lag p99 ms',
      'took p99 ms',
    ],
    rows,
  );
}

async function measureCase({ query }: Case, minutes: number): Promise<string[]> {
  const service = await Service.start({ env: { MILLRACE_LOG_LEVEL: 'warn' } });
  try {
    const { pid } = service.child;
    for (let batch = 0; batch < batches; batch += 1) {
      await service.ingest(
        'bench',
        Array.from({ length: eventsPerBatch }, (_, index) => ({
          level: index % 10 === 0 ? 'error' : 'info',
          host: `host-${index % 50}`,
          message: `request ${batch * eventsPerBatch + index} took ${index} ms`,
        })),
      );
    }
    await service.drained();
    const idle = await cpuShare(pid, 20_000);
    const indexes = Array.from({ length: alertCount }, (_, index) => index);
    await Promise.all(
      Array.from({ length: creationsAtOnce }, async () => {
        for (let index = indexes.pop(); index !== undefined; index = indexes.pop()) {
          await create(service, `alert ${index}`, query);
        }
      }),
    );
    // Each was evaluated when it was made; from now on it is by the schedule.
    await sleep(60_000);
    const before = await service.metrics();
    const busy = await cpuShare(pid, minutes * 60_000);
    const after = await service.metrics();
    const count = (name: string) => sumOfMetric(after, name) - sumOfMetric(before, name);
    const lag = histogram(before, after, 'millrace_alert_evaluation_lag_seconds');
    const duration = histogram(before, after, 'millrace_alert_evaluation_duration_seconds');
    return [
      String(count('millrace_alert_evaluations_total')),
      String(failed(after) - failed(before)),
      (busy * 100).toFixed(1),
      (idle * 100).toFixed(1),
      quantile(lag, 0.5),
      quantile(lag, 0.99),
      quantile(duration, 0.99),
    ];
  } finally {
    await service.dispose();
  }
}

async function create(service: Service, title: string, query: string): Promise<void> {
  const reply = await fetch(`${service.url}/api/v1/alerts`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      title,
      query,
      queryType: 'code',
      thresholdConfig: { operator: '>', value: 10 },
      evalConfig: { rollingWindow: { evalStart: '1h', evalFrequency: 1 } },
    }),
  });
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`);
  await reply.arrayBuffer();
}

/** CPU seconds of the process and its children for each second that passes. */
async function cpuShare(pid: number, ms: number): Promise<number> {
  const [cpu, startMs] = [cpuSeconds(pid), performance.now()];
  await sleep(ms);
  return ((cpuSeconds(pid) - cpu) * 1000) / (performance.now() - startMs);
}

const failed = (metrics: string): number =>
  Number(/^millrace_alert_evaluations_total\{outcome="failed"\} (\S+)$/m.exec(metrics)?.[1] ?? 0);

type Buckets = ReadonlyArray<readonly [upperSeconds: number, count: number]>;

function histogram(before: string, after: string, name: string): Buckets {
  const read = (text: string) =>
    new Map(
      [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\S+)$`, 'gm'))].map(
        ([, le, count]) => [le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), Number(count)],
      ),
    );
  const earlier = read(before);
  return [...read(after)].map(([le, count]) => [le, count - (earlier.get(le) ?? 0)]);
}

/** The upper end of the bucket that holds the quantile, in milliseconds. */
function quantile(buckets: Buckets, part: number): string {
  const total = buckets.at(-1)?.[1] ?? 0;
  const [upper] = buckets.find(([, count]) => count >= total * part) ?? [Number.NaN];
  return `≤ ${upper * 1000}`;
}
