import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, freePort, removeFolder, temporaryFolder } from '../lib/child.ts';

const host = '127.0.0.1';

/** Where `collector/build.sh` puts the program. */
export function collectorPath(): string {
  const hash = createHash('sha256');
  for (const name of ['main.go', 'go.mod', 'go.sum']) {
    hash.update(readFileSync(new URL(`collector/${name}`, import.meta.url)));
  }
  return join(tmpdir(), `millrace-collector-${hash.digest('hex').slice(0, 16)}`, 'collector');
}

/** Why there is no Collector to run; undefined if there is one. */
export const collectorProblem = (): string | undefined =>
  existsSync(collectorPath())
    ? undefined
    : 'the Collector is not built: test/support/peers/collector/build.sh builds it';

/** The target of a Collector pipeline. */
export interface CollectorTarget {
  readonly name: string;
  readonly signal: 'logs' | 'metrics' | 'traces';
  readonly encoding: 'json' | 'proto';
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * OpenTelemetry's Collector as a child process: it receives OTLP and sends gzipped batches of
 * 8,192, with retries.
 */
export class Collector {
  readonly child: Child;
  /** Accepts `/v1/logs`, `/v1/metrics` and `/v1/traces`. */
  readonly url: string;
  readonly #folder: string;

  private constructor(child: Child, url: string, folder: string) {
    this.child = child;
    this.url = url;
    this.#folder = folder;
  }

  /** @param endpoint where it sends to, without the path of a signal */
  static async start(endpoint: string, targets: readonly CollectorTarget[]): Promise<Collector> {
    const port = await freePort();
    const folder = temporaryFolder('collector');
    const configPath = join(folder, 'config.json');
    // JSON is YAML.
    writeFileSync(configPath, JSON.stringify(configuration(port, endpoint, targets)));
    const child = await Child.start({
      name: 'collector',
      command: collectorPath(),
      args: [`--config=file:${configPath}`],
    });
    const url = `http://${host}:${port}`;
    await child.ready(() => takesNothing(url));
    return new Collector(child, url, folder);
  }

  /** Sends what it still holds, and stops. */
  async finish(): Promise<void> {
    await this.child.stop('SIGTERM');
  }

  async dispose(): Promise<void> {
    await this.child.stop('SIGKILL');
    removeFolder(this.#folder);
  }
}

/** Whether it accepts an empty request. */
async function takesNothing(url: string): Promise<boolean> {
  try {
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${url}/v1/logs`, { method: 'POST', headers, body: '{}' });
    await reply.arrayBuffer();
    return reply.ok;
  } catch {
    return false;
  }
}

function configuration(port: number, endpoint: string, targets: readonly CollectorTarget[]): object {
  const exporter = ({ encoding, headers }: CollectorTarget): object => ({
    endpoint,
    encoding,
    headers,
    compression: 'gzip',
    retry_on_failure: {
      enabled: true,
      initial_interval: '100ms',
      max_interval: '1s',
      max_elapsed_time: '0s',
    },
    sending_queue: { enabled: true, queue_size: 1000 },
  });
  return {
    receivers: { otlp: { protocols: { http: { endpoint: `${host}:${port}` } } } },
    processors: { batch: { send_batch_size: 8192, send_batch_max_size: 8192, timeout: '500ms' } },
    exporters: Object.fromEntries(targets.map((target) => [`otlphttp/${target.name}`, exporter(target)])),
    service: {
      telemetry: { logs: { level: 'warn' }, metrics: { level: 'none' } },
      pipelines: Object.fromEntries(
        targets.map(({ name, signal }) => [
          `${signal}/${name}`,
          { receivers: ['otlp'], processors: ['batch'], exporters: [`otlphttp/${name}`] },
        ]),
      ),
    },
  };
}
