import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Child, freePort, removeFolder, temporaryFolder } from '../lib/child.ts';
import { answers, sumOfMetric, UnexpectedReply } from '../service/service.ts';

/** A series as Prometheus' HTTP API gives it: time in seconds, value as text. */
export interface MatrixSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: ReadonlyArray<readonly [number, string]>;
}

export interface PrometheusOptions {
  /** Makes the configuration, given the port of this Prometheus. JSON is YAML. */
  readonly config: (port: number) => object;
  readonly args?: readonly string[];
}

/** Debian's Prometheus with a database of its own, as a child process on the loopback interface. */
export class Prometheus {
  readonly child: Child;
  readonly url: string;
  readonly folder: string;

  private constructor(child: Child, url: string, folder: string) {
    this.child = child;
    this.url = url;
    this.folder = folder;
  }

  static async start({ config, args = [] }: PrometheusOptions): Promise<Prometheus> {
    const port = await freePort();
    const folder = temporaryFolder('prometheus');
    writeConfig(folder, config(port));
    const child = await Child.start({
      name: 'prometheus',
      command: 'prometheus',
      args: [
        `--config.file=${configPath(folder)}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--web.enable-lifecycle',
        '--log.level=info',
        ...args,
      ],
    });
    const url = `http://127.0.0.1:${port}`;
    await child.ready(() => answers(`${url}/-/ready`));
    return new Prometheus(child, url, folder);
  }

  async dispose(): Promise<void> {
    await this.child.stop('SIGKILL');
    removeFolder(this.folder);
  }

  /** Loads another configuration. */
  async reload(config: object): Promise<void> {
    writeConfig(this.folder, config);
    const reply = await fetch(`${this.url}/-/reload`, { method: 'POST' });
    if (!reply.ok) throw new UnexpectedReply('POST /-/reload', reply.status, await reply.text());
  }

  /** All raw samples of a range selector. Staleness markers are not among them. */
  async samples(rangeSelector: string): Promise<readonly MatrixSeries[]> {
    const data = await this.#api('query', { query: rangeSelector });
    return (data as { result: readonly MatrixSeries[] }).result;
  }

  /** The label sets of all its series. */
  async series(selector: string): Promise<ReadonlyArray<Readonly<Record<string, string>>>> {
    return (await this.#api('series', { 'match[]': selector })) as ReadonlyArray<Record<string, string>>;
  }

  /** The current value of one of its own metrics, whether it scrapes itself or not. */
  async metric(name: string): Promise<number> {
    const reply = await fetch(`${this.url}/metrics`);
    return sumOfMetric(await reply.text(), name);
  }

  async #api(method: string, parameters: Record<string, string>): Promise<unknown> {
    const reply = await fetch(`${this.url}/api/v1/${method}?${new URLSearchParams(parameters)}`);
    const text = await reply.text();
    if (!reply.ok) throw new UnexpectedReply(`GET /api/v1/${method}`, reply.status, text);
    return (JSON.parse(text) as { data: unknown }).data;
  }
}

const configPath = (folder: string): string => join(folder, 'prometheus.yml');

const writeConfig = (folder: string, config: object): void =>
  writeFileSync(configPath(folder), JSON.stringify(config));

/** Waits until remote write is done: everything that was appended to the database was sent and answered. */
export async function everythingIsSent(prometheus: Prometheus): Promise<void> {
  const deadline = performance.now() + 30_000;
  let last = -1;
  for (;;) {
    // Staleness markers may follow a dropped target, so the number must be stable first.
    const appended = await prometheus.metric('prometheus_tsdb_head_samples_appended_total');
    // Each attempt counts.
    const attempts = await prometheus.metric('prometheus_remote_storage_samples_total');
    const sent = attempts - (await prometheus.metric('prometheus_remote_storage_samples_retried_total'));
    const failed = await prometheus.metric('prometheus_remote_storage_samples_failed_total');
    if (failed > 0) throw new Error(`Prometheus gave up ${failed} samples\n${prometheus.child.report()}`);
    const pending = await prometheus.metric('prometheus_remote_storage_samples_pending');
    if (pending === 0 && sent === appended && sent === last) return;
    if (performance.now() > deadline) {
      throw new Error(`Of ${appended} samples ${sent} are sent\n${prometheus.child.report()}`);
    }
    last = sent;
    await sleep(4000);
  }
}
