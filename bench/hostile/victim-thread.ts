import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Victim } from './attack-setup.ts';
import { shownAnswers } from './shown-answers.ts';
import { simpleQuery, WireConnection } from './wire-connection.ts';

/**
 * The victim. It has a thread of its own, so that the attacker's work in this process does not delay its
 * clock. It asks for liveness, runs a small query and sends an event, each on its own connection, and signs
 * in as a SQL client that runs one query, one after another at a steady low rate. It reports how long the
 * slowest of each took since the last report, including those that still wait.
 */
export type VictimOptions = Victim;

export const probes = ['liveness', 'query', 'ingest', 'sqlClient'] as const;
export type Probe = (typeof probes)[number];

/** What a probe saw. */
export interface ProbeReport {
  readonly count: number;
  readonly worstMs: number;
  /** Replies other than 2xx, and broken connections. */
  readonly failures: readonly string[];
}

export type VictimReport = Readonly<Record<Probe, ProbeReport>>;

/** Any message asks for a report. The thread answers with it and starts a new one. */
const intervalsMs: Readonly<Record<Probe, number>> = {
  liveness: 50,
  query: 200,
  ingest: 200,
  sqlClient: 300,
};
const maxFailures = 3;
/** More bytes than `maxInlineBodyBytes`. */
const eventsForWorker = 200;
/** A probe that has no answer by then has failed. */
const timeoutMs = 20_000;

class ProbeLoop {
  readonly #options: VictimOptions;
  readonly #probe: Probe;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #sinceMs: number | undefined;
  #count = 0;
  #worstMs = 0;
  #number = 0;
  #failures: string[] = [];

  constructor(probe: Probe, options: VictimOptions) {
    this.#probe = probe;
    this.#options = options;
  }

  async run(): Promise<never> {
    for (;;) {
      const startedMs = performance.now();
      this.#sinceMs = startedMs;
      const failure = await this.#ask();
      const tookMs = performance.now() - startedMs;
      this.#sinceMs = undefined;
      this.#count += 1;
      this.#worstMs = Math.max(this.#worstMs, tookMs);
      if (failure !== undefined && this.#failures.length < maxFailures) this.#failures.push(failure);
      await sleep(Math.max(0, intervalsMs[this.#probe] - tookMs));
    }
  }

  report(): ProbeReport {
    const waitedMs = this.#sinceMs === undefined ? 0 : performance.now() - this.#sinceMs;
    const report = {
      count: this.#count,
      worstMs: Math.max(this.#worstMs, waitedMs),
      failures: this.#failures,
    };
    this.#count = this.#worstMs = 0;
    this.#failures = [];
    return report;
  }

  /** @returns what went wrong */
  #ask(): Promise<string | undefined> {
    return this.#probe === 'sqlClient' ? this.#askAsSqlClient() : this.#askOverHttp(this.#probe);
  }

  async #askAsSqlClient(): Promise<string | undefined> {
    const { port, localAddress, ...account } = this.#options.sqlClient;
    const connection = new WireConnection(port, localAddress);
    try {
      const refusal = await connection.signIn(account);
      if (refusal !== undefined) return `as a SQL client: ${shownAnswers([refusal])}`;
      await connection.write(simpleQuery('SELECT count(*) FROM app'));
      const wrong = (await connection.answers(1, timeoutMs)).filter(({ status }) => status !== 200);
      return wrong.length === 0 ? undefined : `as a SQL client: ${shownAnswers(wrong)}`;
    } finally {
      connection.close();
    }
  }

  #askOverHttp(probe: Exclude<Probe, 'sqlClient'>): Promise<string | undefined> {
    const { path, body, headers } = this.#request(probe);
    return new Promise((resolve) => {
      const outgoing = request(this.#options.url + path, {
        method: body === undefined ? 'GET' : 'POST',
        agent: this.#agent,
        timeout: timeoutMs,
        headers: {
          ...this.#options.headers,
          ...headers,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
      });
      outgoing.once('timeout', () => outgoing.destroy(new Error(`no answer in ${timeoutMs} ms`)));
      outgoing.once('error', (error) => resolve(error.message));
      outgoing.once('response', (reply) => {
        const status = reply.statusCode ?? 0;
        let text = '';
        reply.on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8');
        });
        reply.once('close', () => resolve(status < 300 ? undefined : `${status} ${text.slice(0, 100)}`));
      });
      outgoing.end(body);
    });
  }

  #request(probe: Exclude<Probe, 'sqlClient'>): {
    path: string;
    body?: string;
    headers?: Record<string, string>;
  } {
    this.#number += 1;
    const headers = { 'content-type': 'application/json', 'x-p-stream': 'app' };
    switch (probe) {
      case 'liveness':
        return { path: '/api/v1/liveness' };
      case 'query': {
        // Every other query has a text that was never used before.
        const own = this.#number % 2 === 0 ? ` WHERE num < ${1000 + this.#number}` : '';
        return {
          path: '/api/v1/query',
          headers,
          body: JSON.stringify({ query: `SELECT count(*) FROM app${own}` }),
        };
      }
      case 'ingest': {
        // A single event is decoded in the main thread. Every other time, there are enough events for a
        // worker.
        const count = this.#number % 2 === 0 ? eventsForWorker : 1;
        const events = Array.from({ length: count }, (_, index) => ({ level: 'info', num: index }));
        return { path: '/api/v1/ingest', headers, body: JSON.stringify(events) };
      }
    }
  }
}

const port = parentPort;
if (port !== null) {
  const options = workerData as VictimOptions;
  const loops = probes.map((probe) => ({
    probe,
    loop: new ProbeLoop(probe, options),
  }));
  for (const { loop } of loops) void loop.run();
  port.on('message', () => {
    const report = Object.fromEntries(loops.map(({ probe, loop }) => [probe, loop.report()]));
    port.postMessage(report as VictimReport);
  });
}
