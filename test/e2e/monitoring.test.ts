/** What an operator sees: `/metrics` of a loaded service, and the alert rules and dashboard made of it. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onPath, removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { packageRoot } from '../support/lib/package-root.ts';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { encodeProtobuf } from '../support/otlp/otlp-requests.ts';
import { buildWriteRequest } from '../support/remote-write/remote-write-requests.ts';
import { Service } from '../support/service/service.ts';

const pathOf = (name: string): string => join(packageRoot(), name);
const read = (name: string): string => readFileSync(pathOf(name), 'utf8');
const problem = onPath('promtool') ? undefined : 'there is no promtool on the PATH';
sayIfSkipped('metrics and alert rules with promtool', problem);

/** Something of everything that is counted. */
async function load(service: Service): Promise<void> {
  await service.ingest(
    'app',
    Array.from({ length: 500 }, (_, n) => ({ n, text: `event ${n}` })),
  );
  await service.ingest('other', [{ n: 1 }]);
  const samples = [{ value: 1, timestampMs: Date.now() }];
  await service.remoteWrite(
    new Uint8Array(buildWriteRequest([{ labels: { __name__: 'up', job: 'x' }, samples }])),
    'prom',
  );
  const logRecords = [{ severityText: 'INFO' }, { severityText: 'WARN' }, { severityText: 'WARN' }];
  const bytes = encodeProtobuf('logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
  await service.otlp('logs', { contentType: 'application/x-protobuf', bytes }, 'logs');
  await expect(service.ingest('app', [1])).rejects.toMatchObject({ status: 400 });
  await service.drained();
  await service.query('SELECT count(*) AS n FROM app');
}

describe('the metrics of a service', () => {
  const dataDir = temporaryFolder('monitoring');
  let text = '';
  /** After a start that shows datasets. */
  let withDatasets = '';

  beforeAll(async () => {
    const env = { MILLRACE_FLUSH_INTERVAL_MS: '50', MILLRACE_PG_ADDR: '127.0.0.1:0' };
    const first = await Service.start({ dataDir, env });
    try {
      await load(first);
      text = await first.metrics();
      await first.stop();
    } finally {
      await first.dispose();
    }
    const second = await Service.start({ dataDir, env: { MILLRACE_METRICS_DATASETS: 'true' } });
    try {
      // Measured after the start, which does not wait for it.
      while (!withDatasets.includes('dataset="app"')) {
        await sleep(200);
        withDatasets = await second.metrics();
      }
    } finally {
      await second.dispose();
    }
  });
  afterAll(() => removeFolder(dataDir));

  const figure = (metric: string, from = text): number => {
    const line = from.split('\n').find((each) => each.startsWith(`${metric} `));
    return Number(line?.slice(metric.length + 1));
  };

  test.skipIf(problem !== undefined)('promtool finds nothing to complain about', () => {
    for (const input of [text, withDatasets]) {
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input,
        encoding: 'utf8',
      });
      expect([stdout + stderr, status]).toEqual(['', 0]);
    }
  });

  test('tell its version and that of Node.js', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(figure(`millrace_build_info{version="${version}",node_version="${process.version}"}`)).toBe(1);
  });

  test('tell the room on the disk and in the log', () => {
    const free = figure('millrace_disk_free_bytes');
    expect(free).toBeGreaterThan(0);
    expect(free).toBeLessThanOrEqual(figure('millrace_disk_size_bytes'));
    expect(figure('millrace_disk_reserved_bytes')).toBeGreaterThan(0);
    expect(figure('millrace_wal_max_bytes')).toBeGreaterThan(figure('millrace_wal_bytes'));
    // All rows are in the store.
    expect(figure('millrace_wal_oldest_segment_age_seconds')).toBe(0);
  });

  test('tell of datasets only where it is asked for', () => {
    expect(text).not.toContain('dataset=');
    const rows = (dataset: string) =>
      figure(`millrace_dataset_rows{tenant="default",dataset="${dataset}"}`, withDatasets);
    expect([rows('app'), rows('other'), rows('prom'), rows('logs')]).toEqual([500, 1, 1, 3]);
    const bytes = figure('millrace_dataset_disk_bytes{tenant="default",dataset="app"}', withDatasets);
    expect(bytes).toBeGreaterThan(500);
  });

  test('are those that the alert rules and the dashboard use', () => {
    const declared = new Map(
      [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]),
    );
    const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as {
      panels: ReadonlyArray<{ targets: ReadonlyArray<{ expr: string }> }>;
    };
    const expressions = [
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...[...read('deploy/alerts.yml').matchAll(/^ *expr: (.*)$/gm)].map(([, expr = '']) => expr),
    ];
    const used = new Set(
      expressions.flatMap((expr) => expr.match(/\b(?:millrace|nodejs|process)_\w+/g) ?? []),
    );
    expect(used.size).toBeGreaterThan(25);
    const unknown = [...used].filter((name) => {
      const histogram = name.replace(/_(bucket|sum|count)$/, '');
      return !declared.has(name) && declared.get(histogram) !== 'histogram';
    });
    expect(unknown).toEqual([]);
    // And the other way round: whatever the service itself counts can be seen somewhere.
    const shown = [...used].map((name) => name.replace(/_(bucket|sum|count)$/, ''));
    const unseen = [...declared.keys()].filter(
      (name) => name.startsWith('millrace_') && !shown.includes(name),
    );
    expect(unseen).toEqual(['millrace_wal_segments']);
  });
});

describe('the alert rules', () => {
  const names = [...read('deploy/alerts.yml').matchAll(/^ *- alert: (\w+)$/gm)].map(([, name = '']) => name);

  test.skipIf(problem !== undefined)('fire when they should and not otherwise', () => {
    const tests = pathOf('test/support/alerts.test.yml');
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', tests], { encoding: 'utf8' });
    expect([stdout + stderr, status]).toEqual([expect.stringContaining('SUCCESS'), 0]);
  });

  test('each have a test of both, and a place in the runbook', () => {
    expect(names.length).toBeGreaterThan(20);
    const tests = read('test/support/alerts.test.yml');
    const runbook = read('docs/operations/monitoring.md');
    const rules = read('deploy/alerts.yml');
    for (const name of names) {
      expect(tests).toContain(`- name: ${name} fires\n`);
      expect(tests).toContain(`- name: ${name} does not\n`);
      expect(runbook.split('\n')).toContain(`### ${name}`);
      expect(rules).toContain(`runbook: docs/operations/monitoring.md#${name.toLowerCase()}\n`);
    }
    const sections = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name);
    expect(sections).toEqual(names);
  });
});
