import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Child,
  type Exit,
  enginePid,
  freePort,
  isGone,
  removeFolder,
  temporaryFolder,
} from '../lib/child.ts';
import { packageRoot } from '../lib/package-root.ts';
import type { OtlpBody } from '../otlp/numbered-otlp.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface ServiceOptions {
  /** Kept when the service is disposed of; without it a temporary folder is made and removed. */
  readonly dataDir?: string;
  /** Further `MILLRACE_…` variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** The Node that runs it; that of this process if it is not said. */
  readonly node?: string;
}

const credentials = { username: 'admin', password: 'correct horse battery staple' };

/** `Authorization` of the administrator that every started service has. */
export const authorization = `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;

/** The built program. */
export const mainPath = join(packageRoot(), 'dist/src/main.js');

/** A reply that was not the one asked for. */
export class UnexpectedReply extends Error {
  override readonly name = 'UnexpectedReply';
  readonly status: number;
  readonly body: string;

  constructor(what: string, status: number, body: string) {
    super(`${what}: ${status} ${body}`);
    this.status = status;
    this.body = body;
  }
}

/** Sends requests to a service as its administrator. */
export class ServiceClient {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers of every request */
  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url;
    this.#headers = headers;
  }

  /** Posts JSON events; the number that was acknowledged. With a key, a repetition is recognised. */
  async ingest(dataset: string, events: readonly unknown[], idempotencyKey?: string): Promise<number> {
    const headers = {
      'content-type': 'application/json',
      'x-p-stream': dataset,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': `"${idempotencyKey}"` }),
    };
    const reply = await this.#request('/api/v1/ingest', headers, JSON.stringify(events));
    return (reply as { accepted: number }).accepted;
  }

  /** Posts a Remote Write 1.0 body: a snappy-compressed `WriteRequest`. */
  async remoteWrite(body: Uint8Array<ArrayBuffer>, dataset?: string): Promise<void> {
    const headers = {
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'x-prometheus-remote-write-version': '0.1.0',
      ...(dataset === undefined ? {} : { 'x-p-stream': dataset }),
    };
    await this.#request('/v1/prometheus/write', headers, body);
  }

  /** Posts an OTLP request. */
  async otlp(signal: 'logs' | 'traces' | 'metrics', body: OtlpBody, dataset: string): Promise<void> {
    const headers = { 'content-type': body.contentType, 'x-p-stream': dataset };
    await this.#request(`/v1/${signal}`, headers, new Uint8Array(body.bytes));
  }

  /** Runs a query; its rows. `range` takes `startTime` and `endTime`. */
  async query(sql: string, range: { startTime?: string; endTime?: string } = {}): Promise<readonly Row[]> {
    const headers = { 'content-type': 'application/json' };
    const reply = await this.#request('/api/v1/query', headers, JSON.stringify({ query: sql, ...range }));
    return reply as readonly Row[];
  }

  async #request(
    path: string,
    headers: Record<string, string>,
    body: string | Uint8Array<ArrayBuffer>,
  ): Promise<unknown> {
    const reply = await fetch(this.url + path, {
      method: 'POST',
      headers: { ...this.#headers, ...headers, authorization },
      body,
    });
    const text = await reply.text();
    if (!reply.ok) throw new UnexpectedReply(`POST ${path}`, reply.status, text);
    return text === '' ? undefined : JSON.parse(text);
  }
}

/**
 * The built service as a child process on the loopback interface, with a data directory that survives
 * restarts of the process. The port stays the same as well, so that clients can find it again.
 */
export class Service extends ServiceClient {
  static readonly credentials = credentials;
  readonly dataDir: string;
  readonly port: number;
  readonly #env: Readonly<Record<string, string>>;
  readonly #ownsDataDir: boolean;
  readonly #node: string | undefined;
  #child: Child;

  private constructor(child: Child, port: number, dataDir: string, options: ServiceOptions) {
    super(`http://127.0.0.1:${port}`);
    this.#child = child;
    this.port = port;
    this.dataDir = dataDir;
    this.#env = options.env ?? {};
    this.#ownsDataDir = options.dataDir === undefined;
    this.#node = options.node;
  }

  /**
   * Starts a service and waits until it is ready; one that fails is disposed of. The caller ends the others.
   */
  static async start(options: ServiceOptions = {}): Promise<Service> {
    const port = await freePort();
    const dataDir = options.dataDir ?? temporaryFolder('data');
    const child = await launch(port, dataDir, options.env ?? {}, options.node);
    const service = new Service(child, port, dataDir, options);
    try {
      await service.ready();
    } catch (error) {
      await service.dispose();
      throw error;
    }
    return service;
  }

  get child(): Child {
    return this.#child;
  }

  /** Starts the process again on the same data directory; the last one must have ended. */
  async restart(timeoutMs?: number): Promise<void> {
    await this.launch();
    await this.ready(timeoutMs);
  }

  /** Starts the process again and returns at once, ready or not. */
  async launch(): Promise<void> {
    if (this.#child.exit === undefined) throw new Error('The service still runs');
    this.#child = await launch(this.port, this.dataDir, this.#env, this.#node);
  }

  async ready(timeoutMs?: number): Promise<void> {
    await this.#child.ready(() => answers(`${this.url}/api/v1/readiness`), timeoutMs);
  }

  /**
   * SIGKILL to the whole process group, and its end awaited: that of the engine, too, which has
   * files open until then.
   */
  async kill(): Promise<void> {
    const engine = enginePid(join(this.dataDir, 'store'));
    await this.#child.stop('SIGKILL');
    for (let waits = 0; engine > 0 && !isGone(engine); waits += 1) {
      if (waits === 1000) throw new Error(`the engine ${engine} outlives its service`);
      await sleep(20);
    }
  }

  async stop(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<Exit> {
    return await this.#child.stop(signal);
  }

  /** Ends the process, whatever state it is in, and removes the folder made for it. */
  async dispose(): Promise<void> {
    await this.kill();
    if (this.#ownsDataDir) removeFolder(this.dataDir);
  }

  /** The same service, asked about one of its tenants. */
  within(tenant: string): ServiceClient {
    return new ServiceClient(this.url, { 'x-p-tenant': tenant });
  }

  /** One value of `/metrics`: the sum over the labels of a metric. */
  async metric(name: string): Promise<number> {
    return sumOfMetric(await this.metrics(), name);
  }

  /** All of `/metrics`, for several values of one moment. */
  async metrics(): Promise<string> {
    const reply = await fetch(`${this.url}/metrics`, { headers: { authorization } });
    const text = await reply.text();
    if (reply.status !== 200) throw new UnexpectedReply('GET /metrics', reply.status, text);
    return text;
  }

  /** Waits until everything that was acknowledged is in the store. */
  async drained(timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    const left = async () => {
      // Once: a reply has a thousand lines, and benchmarks count what they cost.
      const metrics = await this.metrics();
      return sumOfMetric(metrics, 'millrace_wal_segments') + sumOfMetric(metrics, 'millrace_wal_bytes');
    };
    while ((await left()) > 0) {
      if (performance.now() > deadline) {
        throw new Error(`The log is not in the store after ${timeoutMs} ms\n${this.#child.report()}`);
      }
      await sleep(100);
    }
  }
}

async function launch(
  port: number,
  dataDir: string,
  env: Readonly<Record<string, string>>,
  node = process.execPath,
): Promise<Child> {
  return await Child.start({
    name: 'millrace',
    command: node,
    args: [mainPath],
    env: {
      MILLRACE_HTTP_ADDR: `127.0.0.1:${port}`,
      MILLRACE_DATA_DIR: dataDir,
      MILLRACE_PG_ADDR: 'off',
      MILLRACE_ADMIN_USERNAME: credentials.username,
      MILLRACE_ADMIN_PASSWORD: credentials.password,
      ...env,
    },
  });
}

/** Whether a GET is answered with 2xx in time; a connection that is refused counts as no. */
export async function answers(url: string, timeoutMs = 60_000): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    await reply.arrayBuffer();
    return reply.ok;
  } catch {
    return false;
  }
}

/**
 * The sum of a metric's samples in the Prometheus text format.
 * @throws Error when there is no such metric: a misspelt name must not read as zero
 */
export function sumOfMetric(text: string, name: string): number {
  const samples = text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  if (samples.length === 0) throw new Error(`There is no metric ${name}`);
  return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
