import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Child, freePort, removeFolder, temporaryFolder } from '../lib/child.ts';
import { answers, sumOfMetric } from '../service/service.ts';
import type { MetricPoint } from './metric-points.ts';

const host = '127.0.0.1';

/** VictoriaMetrics with a database of its own, as a child process on the loopback interface. */
export class VictoriaMetrics {
  readonly url: string;
  readonly #child: Child;
  readonly #folder: string;

  private constructor(child: Child, url: string, folder: string) {
    this.#child = child;
    this.url = url;
    this.#folder = folder;
  }

  static async start(): Promise<VictoriaMetrics> {
    const port = await freePort();
    const folder = temporaryFolder('victoria');
    const child = await Child.start({
      name: 'victoria-metrics',
      command: 'victoria-metrics',
      args: [`-storageDataPath=${join(folder, 'data')}`, `-httpListenAddr=${host}:${port}`],
    });
    const url = `http://${host}:${port}`;
    await child.ready(() => answers(`${url}/health`));
    return new VictoriaMetrics(child, url, folder);
  }

  async dispose(): Promise<void> {
    await this.#child.stop('SIGKILL');
    removeFolder(this.#folder);
  }

  /** All samples that it holds, but for those that are no numbers. */
  async points(): Promise<MetricPoint[]> {
    await fetch(`${this.url}/internal/force_flush`);
    const reply = await fetch(
      `${this.url}/api/v1/export?${new URLSearchParams({ 'match[]': '{__name__!=""}' })}`,
    );
    const lines = (await reply.text()).split('\n').filter((line) => line !== '');
    return lines.flatMap((line) => {
      const { metric, values, timestamps } = JSON.parse(line) as {
        metric: Record<string, string>;
        values: readonly (number | null)[];
        timestamps: readonly number[];
      };
      const series = JSON.stringify(Object.entries(metric).toSorted(([a], [b]) => (a < b ? -1 : 1)));
      return values.flatMap((value, index) =>
        value === null ? [] : [{ series, timestampMs: timestamps[index] ?? Number.NaN, value }],
      );
    });
  }
}

export interface VmagentOptions {
  /** Addresses to scrape every second by job, given the port that this vmagent will listen on. */
  readonly targets: (port: number) => Readonly<Record<string, string>>;
  /** For all targets that ask for it. */
  readonly credentials: { readonly username: string; readonly password: string };
  /** Where each sample goes; headers as `Name: value`. */
  readonly remoteWrite: ReadonlyArray<{
    readonly url: string;
    readonly username?: string;
    readonly password?: string;
    readonly header?: string;
  }>;
}

/** VictoriaMetrics' agent as a child process: it scrapes, and writes each sample to every address. */
export class Vmagent {
  readonly child: Child;
  readonly #url: string;
  readonly #folder: string;

  private constructor(child: Child, url: string, folder: string) {
    this.child = child;
    this.#url = url;
    this.#folder = folder;
  }

  static async start({ targets, credentials, remoteWrite }: VmagentOptions): Promise<Vmagent> {
    const port = await freePort();
    const folder = temporaryFolder('vmagent');
    const jobs = Object.entries(targets(port)).map(([job_name, target]) => ({
      job_name,
      basic_auth: credentials,
      static_configs: [{ targets: [target] }],
    }));
    writeConfig(folder, { global: { scrape_interval: '1s' }, scrape_configs: jobs });
    const each = (flag: string, value: (to: VmagentOptions['remoteWrite'][number]) => string | undefined) =>
      remoteWrite.map((to) => `-remoteWrite.${flag}=${value(to) ?? ''}`);
    const child = await Child.start({
      name: 'vmagent',
      command: 'vmagent',
      args: [
        `-promscrape.config=${configPath(folder)}`,
        `-httpListenAddr=${host}:${port}`,
        `-remoteWrite.tmpDataPath=${join(folder, 'queue')}`,
        ...each('url', ({ url }) => url),
        ...each('basicAuth.username', ({ username }) => username),
        ...each('basicAuth.password', ({ password }) => password),
        ...each('headers', ({ header }) => header),
      ],
    });
    const url = `http://${host}:${port}`;
    await child.ready(() => answers(`${url}/health`));
    return new Vmagent(child, url, folder);
  }

  async dispose(): Promise<void> {
    await this.child.stop('SIGKILL');
    removeFolder(this.#folder);
  }

  /** Scrapes nothing from now on, and waits until all that was scraped has been sent and answered. */
  async finish(): Promise<void> {
    writeConfig(this.#folder, { scrape_configs: [] });
    await fetch(`${this.#url}/-/reload`, { method: 'POST' });
    const deadline = performance.now() + 60_000;
    let last = '';
    for (;;) {
      // Stale markers follow targets that went away, so the numbers must come to rest first.
      await sleep(4000);
      const text = await (await fetch(`${this.#url}/metrics`)).text();
      const pending = sumOfMetric(text, 'vmagent_remotewrite_pending_data_bytes');
      const pushed = sumOfMetric(text, 'vmagent_remotewrite_requests_total');
      const now = `${pending} bytes pending, ${pushed} requests answered`;
      if (pending === 0 && now === last) return;
      if (performance.now() > deadline) throw new Error(`${now}\n${this.child.report()}`);
      last = now;
    }
  }

  /** Packets that were given up. */
  async dropped(): Promise<number> {
    const text = await (await fetch(`${this.#url}/metrics`)).text();
    return sumOfMetric(text, 'vmagent_remotewrite_packets_dropped_total');
  }
}

const configPath = (folder: string): string => join(folder, 'scrape.yml');
const writeConfig = (folder: string, config: object): void =>
  writeFileSync(configPath(folder), JSON.stringify(config));
