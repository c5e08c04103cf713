import { join } from 'node:path';
import { openRemoteStore, type RemoteStoreOptions } from '../../../src/clickhouse/remote/remote-store.ts';
import type { ResultStore, Store } from '../../../src/clickhouse/store.ts';
import { type ClickHouseAddress, parseClickHouseUrl } from '../../../src/lib/clickhouse-url.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { Child, freePort, removeFolder, temporaryFolder } from '../lib/child.ts';
import { packageRoot } from '../lib/package-root.ts';
import type { Fault } from './clickhouse-faults.ts';
import { type TestStore, testStore } from './test-store.ts';

const program = join(packageRoot(), 'dist/test/support/clickhouse/clickhouse-http.js');

export interface ClickHouseServerOptions {
  /** Serves HTTPS with this certificate and key. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

/**
 * A ClickHouse server with its HTTP interface, in a process of its own, with data and a port that survive
 * restarts. The engine is real; the test decides which requests fail.
 */
export class ClickHouseServer {
  static readonly user = 'millrace';
  static readonly password = 'a secret: with / and #';
  readonly port: number;
  readonly #data = temporaryFolder('clickhouse');
  readonly #tls: ClickHouseServerOptions['tls'];
  #child: Child | undefined;

  private constructor(port: number, options: ClickHouseServerOptions) {
    this.port = port;
    this.#tls = options.tls;
  }

  /** Reserves a port and a directory, and starts nothing. */
  static async prepare(options: ClickHouseServerOptions = {}): Promise<ClickHouseServer> {
    return new ClickHouseServer(await freePort(), options);
  }

  static async start(options: ClickHouseServerOptions = {}): Promise<ClickHouseServer> {
    const server = await ClickHouseServer.prepare(options);
    await server.start();
    return server;
  }

  /** With credentials, as an operator writes it. */
  get url(): string {
    const { user, password } = ClickHouseServer;
    return `${this.#origin.replace('://', `://${user}:${encodeURIComponent(password)}@`)}`;
  }

  get address(): ClickHouseAddress {
    return parseClickHouseUrl(this.url);
  }

  get #origin(): string {
    return `${this.#tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    if (this.#child?.exit === undefined && this.#child !== undefined) throw new Error('The server runs');
    const { user, password } = ClickHouseServer;
    const args = [program, '--data', this.#data, '--port', String(this.port)];
    args.push('--user', user, '--password', password);
    if (this.#tls !== undefined) args.push('--cert', this.#tls.certFile, '--key', this.#tls.keyFile);
    const child = await Child.start({
      name: 'clickhouse-http',
      command: process.execPath,
      args,
      env: { UV_THREADPOOL_SIZE: '16' },
    });
    this.#child = child;
    await child.ready(async () => child.stdout.includes('listening'));
  }

  /** Kills the server (SIGKILL), whatever it is doing. */
  async kill(): Promise<void> {
    await this.#running.stop('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#running.stop('SIGTERM');
  }

  /** From now on connections are accepted but not answered. */
  pause(): void {
    this.#running.kill('SIGSTOP');
  }

  resume(): void {
    this.#running.kill('SIGCONT');
  }

  /** Adds a fault for the next `times` statements whose text matches `statements`. */
  async expect(fault: Fault, statements: RegExp, times = 1): Promise<void> {
    await this.#control({ fault, statements: statements.source, times });
  }

  /** How many faults have not happened yet. */
  async faultsLeft(): Promise<number> {
    return Number(await this.#control(undefined));
  }

  async dispose(): Promise<void> {
    if (this.#child !== undefined && this.#child.exit === undefined) await this.kill();
    removeFolder(this.#data);
  }

  get #running(): Child {
    if (this.#child === undefined) throw new Error('The server was not started');
    return this.#child;
  }

  async #control(rule: object | undefined): Promise<string> {
    const init = rule === undefined ? {} : { method: 'POST', body: JSON.stringify(rule) };
    const reply = await fetch(`${this.#origin}/faults`, init);
    if (!reply.ok) throw new Error(`POST /faults: ${reply.status} ${await reply.text()}`);
    return await reply.text();
  }
}

/** A store on a new server. */
export async function openServerStore(): Promise<TestStore> {
  const server = await ClickHouseServer.start();
  return testStore(openStoreOn(server), () => server.dispose());
}

export const openStoreOn = (
  server: ClickHouseServer,
  options: Partial<RemoteStoreOptions> = {},
): Store & ResultStore =>
  openRemoteStore({
    address: server.address,
    queryTimeoutMs: 60_000,
    metrics: createMetrics(),
    log: createLogger('silent'),
    ...options,
  });
