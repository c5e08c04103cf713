import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SecretBox } from '../src/auth/secret-box.ts';
import { openEmbeddedStore } from '../src/clickhouse/embedded/embedded-store.ts';
import { createLogger } from '../src/lib/log.ts';
import { createMetrics } from '../src/lib/metrics.ts';
import { quoteString } from '../src/lib/quote.ts';
import { MetadataLog } from '../src/metadata/metadata-log.ts';
import { removeFolder, temporaryFolder } from '../test/support/lib/child.ts';
import { Service } from '../test/support/service/service.ts';
import { markdownTable } from './markdown-table.ts';
import { cpuSeconds } from './proc.ts';
import { percentile, sendAll } from './sender.ts';

const keyCount = 10_000;
const secret = 'what the keys of the benchmark are sealed with';
const eventsPerRequest = 10;
const connections = 4;
/** Connections that only send bad credentials, with one request in progress on each. */
const floodConnections = 4;

/** What a flood presents: a new credential each time. */
type Flood = 'keys' | 'passwords';

interface Case {
  readonly name: string;
  readonly keys: number;
  readonly flood?: Flood;
}

const cases: readonly Case[] = [
  { name: 'one key alone', keys: 1 },
  { name: `${keyCount} keys in turn, alone`, keys: keyCount },
  { name: 'one key, flood of unknown keys', keys: 1, flood: 'keys' },
  { name: 'one key, flood of wrong passwords', keys: 1, flood: 'passwords' },
];

/**
 * Measures requests with different keys, alone and next to floods of bad credentials.
 * @param words parts of case names; empty for all cases
 */
export async function measureIdentities(
  requests: number,
  rounds: number,
  words: readonly string[],
): Promise<string> {
  const chosen = cases.filter(({ name }) => words.every((word) => name.includes(word)));
  if (chosen.length === 0) throw new Error(`identities ${words.join(' ')}: no case has all of these words`);
  const dataDir = temporaryFolder('identities');
  try {
    const keys = await makeKeys(dataDir);
    const service = await Service.start({
      dataDir,
      env: { MILLRACE_LOG_LEVEL: 'error', MILLRACE_SECRET: secret },
    });
    try {
      await run(service, keys, requests, { name: 'warm-up', keys: keyCount });
      const results = chosen.map((each) => ({ each, measured: [] as Measured[] }));
      for (let round = 0; round < rounds; round += 1) {
        for (const { each, measured } of results) measured.push(await run(service, keys, requests, each));
      }
      return report(results);
    } finally {
      await service.dispose();
    }
  } finally {
    removeFolder(dataDir);
  }
}

interface Measured {
  readonly eventsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the whole service, per request. */
  readonly cpuMsPerRequest: number;
  readonly floodPerSecond: number;
  /** Replies to the flood by their status. */
  readonly floodStatuses: ReadonlyMap<number, number>;
}

async function run(
  service: Service,
  keys: readonly string[],
  requests: number,
  each: Case,
): Promise<Measured> {
  const event = { level: 'info', message: 'order handled', duration_ms: 12.5, service: 'checkout' };
  const body = Buffer.from(JSON.stringify(Array.from({ length: eventsPerRequest }, () => event)));
  const flood = each.flood === undefined ? undefined : new FloodOf(each.flood, service.url);
  // The flood is at full strength when the measurement starts.
  if (flood !== undefined) await sleep(1000);
  flood?.reset();
  const cpuBefore = cpuSeconds(service.child.pid);
  const { wallSeconds, latenciesMs } = await sendAll({
    url: `${service.url}/api/v1/ingest`,
    headers: { 'content-type': 'application/json', 'x-p-stream': 'bench' },
    headersOf: (index) => ({ 'x-api-key': keys[index % each.keys] ?? '' }),
    bodies: Array.from({ length: requests }, () => body),
    connections,
  });
  const cpu = cpuSeconds(service.child.pid) - cpuBefore;
  const floodStatuses = new Map(flood?.statuses);
  await flood?.stop();
  await service.drained();
  const sent = [...floodStatuses.values()].reduce((sum, count) => sum + count, 0);
  return {
    eventsPerSecond: (requests * eventsPerRequest) / wallSeconds,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    cpuMsPerRequest: (cpu * 1000) / requests,
    floodPerSecond: sent / wallSeconds,
    floodStatuses,
  };
}

/** Sends bad credentials, each once, as fast as it gets replies. */
class FloodOf {
  statuses = new Map<number, number>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: floodConnections });
  readonly #running: Promise<unknown>;
  #stopped = false;

  constructor(kind: Flood, url: string) {
    this.#running = Promise.all(Array.from({ length: floodConnections }, () => this.#send(kind, url)));
  }

  reset(): void {
    this.statuses = new Map();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    this.#agent.destroy();
  }

  async #send(kind: Flood, url: string): Promise<void> {
    while (!this.#stopped) {
      const guess = randomUUID();
      const headers: Record<string, string> =
        kind === 'keys'
          ? { 'x-api-key': guess }
          : { authorization: `Basic ${Buffer.from(`admin:${guess}`).toString('base64')}` };
      const status = await new Promise<number>((resolve, reject) => {
        request(`${url}/api/v1/about`, { agent: this.#agent, headers }, (reply) => {
          reply.resume().once('end', () => resolve(reply.statusCode ?? 0));
        })
          .once('error', reject)
          .end();
      });
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    }
  }
}

/**
 * Keys as the service stores them, written directly to the metadata log: creating them one by
 * one would take minutes.
 */
async function makeKeys(dataDir: string): Promise<readonly string[]> {
  const store = await openEmbeddedStore(join(dataDir, 'store'), createMetrics(), createLogger('error'));
  const box = new SecretBox(secret);
  const keys = Array.from({ length: keyCount }, () => randomUUID());
  const at = new Date().toISOString();
  const row = (kind: string, name: string, value: unknown): string =>
    `('bench', 'default', ${[kind, name, JSON.stringify(value), randomUUID(), ''].map(quoteString).join(', ')})`;
  const rows = keys.map((key, index) => {
    const shown = { roles: ['bench'], createdBy: 'bench', createdAt: at, modifiedAt: at };
    const sealed = box.seal(key, `api key default/${index}`);
    const value = { keyId: String(index), digest: box.digest(key), sealed, ending: key.slice(-4), ...shown };
    return row('apiKey', `bench ${index}`, value);
  });
  try {
    await new MetadataLog(store, 'bench').prepare();
    rows.unshift(row('role', 'bench', [{ privilege: 'ingestor' }]));
    for (let first = 0; first < rows.length; first += 1000) {
      await store.command(
        `INSERT INTO \`millrace\`.\`metadata\` (node, tenant, kind, key, value, id, base)
         VALUES ${rows.slice(first, first + 1000).join(', ')}`,
      );
    }
  } finally {
    await store.close();
  }
  return keys;
}

function report(
  results: ReadonlyArray<{ readonly each: Case; readonly measured: readonly Measured[] }>,
): string {
  const rows = results.map(({ each, measured }) => {
    const median = (figure: (of: Measured) => number): number =>
      percentile(Float64Array.from(measured, figure).sort(), 0.5);
    const statuses = new Set(measured.flatMap(({ floodStatuses }) => [...floodStatuses.keys()]));
    return [
      each.name,
      median((of) => of.eventsPerSecond).toFixed(0),
      median((of) => of.p50Ms).toFixed(1),
      median((of) => of.p99Ms).toFixed(1),
      median((of) => of.cpuMsPerRequest).toFixed(2),
      each.flood === undefined ? '' : median((of) => of.floodPerSecond).toFixed(0),
      [...statuses].sort().join(', '),
    ];
  });
  const header = [
    'senders',
    'events / s',
    'ack p50 ms',
    'ack p99 ms',
    'CPU ms / request',
    'flood / s',
    'flood gets',
  ];
  return markdownTable(header, rows);
}
