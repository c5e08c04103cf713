import { cpSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChdbConnection } from 'chdb/connection';
import { authorization, type Service } from '../test/support/service/service.ts';
import { markdownTable } from './markdown-table.ts';
import { MinimalHttpClient } from './minimal-http-client.ts';
import { cpuSeconds, residentBytes } from './proc.ts';
import { type QueryHarness, queryHarness } from './query-harness.ts';
import { startMillrace } from './receivers.ts';
import { remoteWriteWorkload } from './remote-write-workloads.ts';
import { percentile, sendAll } from './sender.ts';
import { jsonWorkload, type Workload } from './workloads.ts';

const connections = 4;
const rowsRead = 1_000_000;

/** Measures what a query costs in addition to the store's work. */
export async function measureQueries(quick: boolean): Promise<string> {
  const rounds = quick ? 100 : 1000;
  const harness = queryHarness();
  try {
    const parts = [await translations(harness, rounds), await overhead(harness, quick ? 50 : 300)];
    parts.push(await largeResult(quick ? rowsRead / 10 : rowsRead));
    parts.push(await labelPredicates(quick ? 100 : 500, quick ? 5 : 30));
    return parts.join('\n\n');
  } finally {
    await harness.close();
  }
}

/** The time of each of many runs, in ms, sorted. */
async function timed(rounds: number, run: (round: number) => Promise<unknown>): Promise<Float64Array> {
  const times = new Float64Array(rounds);
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await run(round);
    times[round] = performance.now() - start;
  }
  return times.sort();
}

const shown = (times: Float64Array): readonly string[] =>
  [0.5, 0.99].map((fraction) => percentile(times, fraction).toFixed(3));

async function translations(harness: QueryHarness, rounds: number): Promise<string> {
  const rows: string[][] = [];
  for (const [name, sql] of Object.entries(harness.queries)) {
    // A comment makes each text different, so that no translation is cached.
    const cold = await timed(rounds, (round) => harness.translate(`${sql} -- ${round}`));
    await harness.translate(sql);
    const cached = await timed(rounds, () => harness.translate(sql));
    rows.push([name, ...shown(cold), ...shown(cached)]);
  }
  return markdownTable(['translate', 'cold p50 ms', 'cold p99 ms', 'cached p50 ms', 'cached p99 ms'], rows);
}

const warmUpRounds = 200;
/** Cheap queries, enough for V8 to have compiled what a running service has compiled. */
const warmUpRequests = 3000;

/** One of two alternating measurements: its time, and the CPU time of this process and the engine's. */
class Side {
  readonly #run: () => Promise<unknown>;
  #times: number[] = [];
  #cpuSeconds = 0;

  constructor(run: () => Promise<unknown>) {
    this.#run = run;
  }

  async run(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const cpuBefore = cpuSeconds(process.pid);
      const start = performance.now();
      await this.#run();
      this.#times.push(performance.now() - start);
      this.#cpuSeconds += cpuSeconds(process.pid) - cpuBefore;
    }
  }

  forget(): void {
    this.#times = [];
    this.#cpuSeconds = 0;
  }

  median(): number {
    return percentile(Float64Array.from(this.#times).sort(), 0.5);
  }

  /** Of one run, on average. */
  cpuMs(): number {
    return (this.#cpuSeconds / this.#times.length) * 1000;
  }
}

/**
 * The same query through the service and, alternating with it, as the store's SQL on an engine in this
 * process.
 */
async function overhead(harness: QueryHarness, rounds: number): Promise<string> {
  const path = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
  const server = await harness.serve(path);
  // A copy: an engine's directory belongs to one process.
  cpSync(join(path, 'engine'), join(path, 'copy'), { recursive: true });
  const direct = createChdbConnection({ path: join(path, 'copy') });
  const client = new MinimalHttpClient(server.url, authorization);
  try {
    const rows: string[][] = [];
    const ask = (sql: string) => client.post(JSON.stringify({ query: sql }));
    for (let request = 0; request < warmUpRequests; request += 1) await ask('SELECT 1 AS one');
    for (const [name, sql] of Object.entries(harness.queries)) {
      const statement = await harness.statement(sql);
      const engine = new Side(() => direct.chdb.queryAsync(statement));
      const service = new Side(() => ask(sql));
      for (const side of [engine, service]) await side.run(warmUpRounds);
      engine.forget();
      service.forget();
      for (let round = 0; round < rounds; round += 1) for (const side of [engine, service]) await side.run(1);
      const [theirs, ours] = [engine.median(), service.median()];
      const cpu = [engine, service].map((side) => side.cpuMs());
      rows.push([
        name,
        ...[theirs, ours, ours - theirs, ...cpu].map((milliseconds) => milliseconds.toFixed(3)),
      ]);
    }
    const header = ['query, cached', 'engine p50 ms', '/api/v1/query p50 ms', 'overhead ms', 'engine CPU ms'];
    return markdownTable([...header, '/api/v1/query and client CPU ms'], rows);
  } finally {
    client.close();
    await direct.close();
    await server.close();
    await rm(path, { recursive: true });
  }
}

/** All events of the JSON workload as lines of JSON, to a client that counts bytes. */
async function largeResult(events: number): Promise<string> {
  return await withService(jsonWorkload(events / 1000), async (service) => {
    const rows: string[][] = [];
    for (const format of ['ndjson', 'csv', 'arrow', 'parquet']) {
      const before = residentBytes(service.child.pid).now;
      const start = performance.now();
      const body = JSON.stringify({ query: 'SELECT * FROM bench' });
      let bytes = 0;
      await post(`${service.url}/api/v1/query?format=${format}`, body, (chunk) => {
        bytes += chunk.byteLength;
      });
      const seconds = (performance.now() - start) / 1000;
      const { peak } = residentBytes(service.child.pid);
      rows.push([
        format,
        (events / seconds).toFixed(0),
        (bytes / seconds / 1e6).toFixed(0),
        (bytes / 1e6).toFixed(0),
        (before / 1e6).toFixed(0),
        (peak / 1e6).toFixed(0),
      ]);
    }
    const header = [`${events} rows`, 'rows / s', 'MB / s', 'MB', 'RSS before MB', 'peak RSS MB'];
    return markdownTable(header, rows);
  });
}

/** Queries over samples of 20,000 series with label predicates. */
async function labelPredicates(requests: number, rounds: number): Promise<string> {
  return await withService(remoteWriteWorkload('remote-write-first', requests), async (service) => {
    const [one] = await service.query('SELECT metric_name, labels FROM bench.series LIMIT 1');
    const labels = one?.['labels'] as Readonly<Record<string, string>>;
    const [instance = ''] = Object.entries(labels).flatMap(([name, value]) =>
      name === 'instance' ? [value] : [],
    );
    const name = String(one?.['metric_name']);
    const conditions = {
      'all series': 'true',
      'one name': `metric_name = '${name}'`,
      'one label': `instance = '${instance}'`,
      'name and label': `metric_name = '${name}' AND instance = '${instance}'`,
      pattern: `instance ~ '${instance.slice(0, -1)}'`,
    };
    const rows: string[][] = [];
    for (const [title, condition] of Object.entries(conditions)) {
      const sql = `SELECT count(*) AS samples, avg(value) AS mean FROM bench WHERE ${condition}`;
      const [first] = await service.query(sql);
      const times = await timed(rounds, () => service.query(sql));
      rows.push([title, String(first?.['samples']), ...shown(times)]);
    }
    return markdownTable(['WHERE, of 20,000 series', 'samples', 'p50 ms', 'p99 ms'], rows);
  });
}

async function withService<T>(workload: Workload, use: (service: Service) => Promise<T>): Promise<T> {
  const receiver = await startMillrace(workload);
  try {
    const { url, headers } = receiver;
    await sendAll({ url, headers, bodies: workload.bodies, connections });
    await receiver.settled();
    return await use(receiver.service);
  } finally {
    await receiver.dispose();
  }
}

/** @throws Error on any status but 200, and if the reply breaks off */
async function post(url: string, body: string, onData: (chunk: Uint8Array) => void): Promise<void> {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      authorization,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const outgoing = request(url, { method: 'POST', headers });
    outgoing.once('response', resolve).once('error', reject).end(body);
  });
  for await (const chunk of reply) onData(chunk as Uint8Array);
  if (reply.statusCode !== 200 || !reply.complete) throw new Error(`POST ${url}: ${reply.statusCode}`);
}
