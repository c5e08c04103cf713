/**
 * Real senders write to the service for a minute while it is stopped, killed and restarted. Each also stores
 * what it scraped elsewhere, and in the end both must hold the same.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onPath } from '../support/lib/child.ts';
import {
  compareSamples,
  type MetricPoint,
  pointsOfMatrix,
  pointsOfRows,
} from '../support/peers/metric-points.ts';
import { OpenMetricsTarget } from '../support/peers/openmetrics-target.ts';
import { everythingIsSent, Prometheus } from '../support/peers/prometheus.ts';
import { VictoriaMetrics, Vmagent } from '../support/peers/victoria.ts';
import { Service } from '../support/service/service.ts';

/** How each run of the service ends; all runs are equally long. */
const lives = ['SIGTERM', 'SIGKILL', 'SIGTERM', 'SIGKILL'] as const;
const lifeMs = 12_000;
const host = '127.0.0.1';

const hasPrometheus = onPath('prometheus');
const hasVmagent = onPath('vmagent') && onPath('victoria-metrics');
if (!hasPrometheus) process.stdout.write('Skipped: Prometheus is not on the PATH.\n');
if (!hasVmagent) process.stdout.write('Skipped: vmagent or victoria-metrics is not on the PATH.\n');

const isNumber = ({ value }: MetricPoint): boolean => !Number.isNaN(value);
/** The samples of a dataset in the service. */
const stored = async (service: Service, dataset: string): Promise<MetricPoint[]> =>
  pointsOfRows(
    await service.query(
      `SELECT metric_name, labels, timestamp, CAST(value AS text) AS value FROM ${dataset} LIMIT 1000000`,
    ),
  ).filter(isNumber);

describe.skipIf(!hasPrometheus && !hasVmagent)('while the service is restarted again and again', () => {
  let service: Service;
  let target: OpenMetricsTarget;
  let prometheus: Prometheus | undefined;
  let victoria: VictoriaMetrics | undefined;
  let vmagent: Vmagent | undefined;

  const remoteWrite = () => ({
    global: { scrape_interval: '1s' },
    remote_write: [
      {
        url: `${service.url}/v1/prometheus/write`,
        basic_auth: Service.credentials,
        headers: { 'X-P-Stream': 'prometheus' },
        send_exemplars: true,
        queue_config: { batch_send_deadline: '1s' },
        metadata_config: { send_interval: '2s' },
      },
    ],
  });

  const startPrometheus = () =>
    Prometheus.start({
      args: ['--enable-feature=exemplar-storage'],
      config: (port) => ({
        ...remoteWrite(),
        scrape_configs: [
          { job_name: 'prometheus', static_configs: [{ targets: [`${host}:${port}`] }] },
          { job_name: 'demo', static_configs: [{ targets: [target.address] }] },
        ],
      }),
    });

  const startVmagent = (other: VictoriaMetrics) =>
    Vmagent.start({
      credentials: Service.credentials,
      targets: (port) => ({
        vmagent: `${host}:${port}`,
        millrace: `${host}:${service.port}`,
        demo: target.address,
      }),
      remoteWrite: [
        {
          url: `${service.url}/v1/prometheus/write`,
          ...Service.credentials,
          header: 'X-P-Stream: vmagent',
        },
        { url: `${other.url}/api/v1/write` },
      ],
    });

  beforeAll(async () => {
    service = await Service.start();
    target = await OpenMetricsTarget.start();
    if (hasVmagent) {
      victoria = await VictoriaMetrics.start();
      vmagent = await startVmagent(victoria);
    }
    if (hasPrometheus) prometheus = await startPrometheus();
    for (const signal of lives) {
      await sleep(lifeMs);
      if (signal === 'SIGKILL') await service.kill();
      else await service.stop(signal);
      await service.restart();
    }
    await sleep(lifeMs);
    await Promise.all([
      vmagent?.finish(),
      prometheus?.reload(remoteWrite()).then(() => prometheus && everythingIsSent(prometheus)),
    ]);
    await service.drained();
  }, 300_000);

  afterAll(async () => {
    await vmagent?.dispose();
    await victoria?.dispose();
    await prometheus?.dispose();
    await target?.dispose();
    await service?.dispose();
  });

  test.skipIf(!hasVmagent)('every sample that vmagent scraped is there once', async () => {
    if (vmagent === undefined || victoria === undefined) throw new Error('vmagent was not started');
    expect(await vmagent.dropped()).toBe(0);
    const theirs = await victoria.points();
    const { missing, doubled, different, extra } = compareSamples(theirs, await stored(service, 'vmagent'));
    // VictoriaMetrics keeps the values of a series as integers with one exponent: of small values beside
    // large ones it has fewer than fifteen digits. The samples of Prometheus below are compared bit for bit.
    const really = different.filter(
      ({ expected, actual }) => Math.abs(expected.value - actual.value) > 1e-9 * Math.abs(actual.value),
    );
    expect({ missing, doubled, different: really, extra }).toEqual({
      missing: [],
      doubled: [],
      different: [],
      extra: [],
    });
    expect(theirs.length).toBeGreaterThan(10_000);
  });

  test.skipIf(!hasPrometheus)('every sample that Prometheus scraped is there once, bit for bit', async () => {
    if (prometheus === undefined) throw new Error('Prometheus was not started');
    const theirs = pointsOfMatrix(await prometheus.samples('{__name__=~".+"}[10m]')).filter(isNumber);
    const comparison = compareSamples(theirs, await stored(service, 'prometheus'));
    expect(comparison).toEqual({ missing: [], doubled: [], different: [], extra: [] });
    expect(theirs.length).toBeGreaterThan(10_000);
  });

  test.skipIf(!hasPrometheus)('so are its exemplars, and what its metrics are', async () => {
    const exemplars = await service.query(
      "SELECT value, exemplar_labels->>'trace_id' AS trace, path FROM prometheus.exemplars ORDER BY value",
    );
    expect(exemplars.length).toBeGreaterThan(30);
    for (const { value, trace, path } of exemplars) {
      expect({ trace, path }).toEqual({ trace: `trace-${value}`, path: '/' });
    }
    expect(new Set(exemplars.map(({ trace }) => trace)).size).toBe(exemplars.length);
    const metadata = await service.query(
      "SELECT type, description FROM prometheus.metadata WHERE metric_name IN ('demo_requests', 'go_goroutines') ORDER BY type",
    );
    expect(metadata).toEqual([
      { type: 'counter', description: 'What was asked for.' },
      { type: 'gauge', description: 'Number of goroutines that currently exist.' },
    ]);
  });
});
