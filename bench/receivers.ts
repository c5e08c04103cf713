import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Child, freePort, onPath, removeFolder, temporaryFolder } from '../test/support/lib/child.ts';
import { Prometheus } from '../test/support/peers/prometheus.ts';
import { answers, authorization, Service, UnexpectedReply } from '../test/support/service/service.ts';
import type { Workload } from './workloads.ts';

/** A running program that receives a workload. */
export interface Receiver {
  readonly child: Child;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dataDir: string;
  /** Returns when the work that the load caused is done, as far as the program shows that. */
  settled(): Promise<void>;
  /** The number of samples or events that its own query language finds. */
  count(): Promise<number>;
  dispose(): Promise<void>;
}

/** How to start a receiver, on an empty data directory. */
export interface ReceiverKind {
  readonly name: string;
  /** The program that must be on the PATH; unset for that of this repository. */
  readonly program?: string;
  readonly takes: readonly Workload['protocol'][];
  readonly start: (workload: Workload) => Promise<Receiver>;
}

/**
 * Peers write after the reply and do not say when they are done; their timers run every second or every five.
 */
const peerSettleMs = 5000;

const remoteWriteHeaders = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
} as const;

/** Where and how this service takes each protocol whose workloads do not say so themselves. */
const routes: Readonly<Partial<Record<Workload['protocol'], NonNullable<Workload['route']>>>> = {
  json: { path: '/api/v1/ingest', headers: { 'content-type': 'application/json' } },
  'remote-write': { path: '/v1/prometheus/write', headers: remoteWriteHeaders },
  'remote-write-2': {
    path: '/v1/prometheus/write',
    headers: {
      ...remoteWriteHeaders,
      'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
      'x-prometheus-remote-write-version': '2.0.0',
    },
  },
};

export const millrace: ReceiverKind = {
  name: 'millrace',
  takes: ['remote-write', 'remote-write-2', 'json', 'otlp'],
  start: (workload) => startMillrace(workload),
};

/** @param env further variables of its environment */
export async function startMillrace(
  { protocol, route: ownRoute }: Workload,
  env: Readonly<Record<string, string>> = {},
): Promise<Receiver & { readonly service: Service }> {
  const service = await Service.start({ env: { MILLRACE_LOG_LEVEL: 'warn', ...env } });
  const dataset = 'bench';
  const route = ownRoute ?? routes[protocol];
  if (route === undefined) throw new Error(`BUG: the workload does not say where ${protocol} goes`);
  return {
    service,
    child: service.child,
    url: service.url + route.path,
    headers: { ...route.headers, authorization, 'x-p-stream': dataset },
    dataDir: service.dataDir,
    settled: () => service.drained(300_000),
    count: async () => {
      const [row] = await service.query(`SELECT count(*) AS n FROM ${dataset}`);
      return Number(row?.['n']);
    },
    dispose: () => service.dispose(),
  };
}

const victoriaMetrics: ReceiverKind = {
  name: 'victoria-metrics',
  program: 'victoria-metrics',
  takes: ['remote-write'],
  start: async () => {
    const port = await freePort();
    const dataDir = temporaryFolder('victoria-metrics');
    const child = await Child.start({
      name: 'victoria-metrics',
      command: 'victoria-metrics',
      args: [
        `-storageDataPath=${dataDir}`,
        `-httpListenAddr=127.0.0.1:${port}`,
        '-loggerLevel=WARN',
        // Allows a query for the number of samples: there are up to 2 million series if each scrape has new
        // ones.
        '-search.maxUniqueTimeseries=4000000',
        '-search.maxQueryDuration=10m',
      ],
    });
    const base = `http://127.0.0.1:${port}`;
    await child.ready(() => answers(`${base}/health`));
    return {
      child,
      url: `${base}/api/v1/write`,
      headers: remoteWriteHeaders,
      dataDir,
      settled: () => sleep(peerSettleMs),
      count: () => countByPromql(base),
      dispose: async () => {
        await child.stop('SIGKILL');
        removeFolder(dataDir);
      },
    };
  },
};

const prometheus: ReceiverKind = {
  name: 'prometheus',
  program: 'prometheus',
  takes: ['remote-write'],
  start: async () => {
    const server = await Prometheus.start({
      // Four connections may overtake each other by a request; without the window such samples are refused.
      config: () => ({ storage: { tsdb: { out_of_order_time_window: '1h' } } }),
      args: ['--web.enable-remote-write-receiver'],
    });
    return {
      child: server.child,
      url: `${server.url}/api/v1/write`,
      headers: remoteWriteHeaders,
      dataDir: join(server.folder, 'data'),
      settled: () => sleep(peerSettleMs),
      count: () => countByPromql(server.url),
      dispose: () => server.dispose(),
    };
  },
};

/** Receivers to compare with. Prometheus takes long and is measured when it is asked for. */
export const peers = { 'victoria-metrics': victoriaMetrics, prometheus } as const;

export const isInstalled = ({ program }: ReceiverKind): boolean => program === undefined || onPath(program);

async function countByPromql(base: string): Promise<number> {
  const query = 'sum(count_over_time({__name__=~"http_server_requests_.*"}[1d]))';
  // A minute ahead: VictoriaMetrics moves queries about now back by 30 seconds, and would miss the last
  // scrapes.
  const time = String(Date.now() / 1000 + 60);
  const url = `${base}/api/v1/query?${new URLSearchParams({ query, time })}`;
  const reply = await fetch(url);
  const text = await reply.text();
  if (!reply.ok) throw new UnexpectedReply(`GET ${url}`, reply.status, text);
  const body = JSON.parse(text) as { data: { result: ReadonlyArray<{ value: [number, string] }> } };
  return Number(body.data.result[0]?.value[1] ?? 0);
}
