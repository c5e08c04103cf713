import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Further headers of a request, by the index of its body. */
  readonly headersOf?: (index: number) => Readonly<Record<string, string>>;
  readonly bodies: readonly Uint8Array[];
  readonly connections: number;
}

export interface LoadResult {
  /** First request to last reply. */
  readonly wallSeconds: number;
  /** Request to the end of its reply, one for each body, sorted. */
  readonly latenciesMs: Float64Array;
}

/**
 * Posts each body once, over keep-alive connections with one request in progress each.
 * @throws Error on any status but 2xx: a benchmark of refused requests measures nothing
 */
export async function sendAll(load: Load): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const latenciesMs = new Float64Array(load.bodies.length);
  let next = 0;
  const connection = async (): Promise<void> => {
    for (let index = next++; index < load.bodies.length; index = next++) {
      const body = load.bodies[index];
      if (body === undefined) throw new Error(`BUG: no body ${index}`);
      const start = performance.now();
      const headers = { ...load.headers, ...load.headersOf?.(index) };
      await post({ url: load.url, headers }, body, agent);
      latenciesMs[index] = performance.now() - start;
    }
  };
  const start = performance.now();
  try {
    await Promise.all(Array.from({ length: load.connections }, connection));
  } finally {
    agent.destroy();
  }
  return { wallSeconds: (performance.now() - start) / 1000, latenciesMs: latenciesMs.sort() };
}

/** Connections at a fixed rate: enough that a slow reply does not delay other requests. */
const openLoopConnections = 64;

/**
 * Posts each body once, at a fixed rate whatever the replies do. The latency counts from the time at which
 * the request was due, not from when it was sent, so waiting behind a slow reply counts too (the correction
 * for "coordinated omission").
 * @throws Error on any status but 2xx
 */
export async function sendAtRate(
  load: Omit<Load, 'connections'> & { readonly requestsPerSecond: number },
): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: openLoopConnections });
  const latenciesMs = new Float64Array(load.bodies.length);
  const start = performance.now();
  const request = async (body: Uint8Array, index: number): Promise<void> => {
    const dueMs = start + (index / load.requestsPerSecond) * 1000;
    await sleep(Math.max(0, dueMs - performance.now()));
    const headers = { ...load.headers, ...load.headersOf?.(index) };
    await post({ url: load.url, headers }, body, agent);
    latenciesMs[index] = performance.now() - dueMs;
  };
  try {
    await Promise.all(load.bodies.map(request));
  } finally {
    agent.destroy();
  }
  return { wallSeconds: (performance.now() - start) / 1000, latenciesMs: latenciesMs.sort() };
}

async function post(
  { url, headers }: Pick<Load, 'url' | 'headers'>,
  body: Uint8Array,
  agent: Agent,
): Promise<void> {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': body.length },
    });
    outgoing.once('response', resolve).once('error', reject).end(body);
  });
  const text = await buffer(reply);
  const status = reply.statusCode ?? 0;
  if (status < 200 || status > 299) throw new Error(`POST ${url}: ${status} ${text.toString('utf8')}`);
}

/** The value below which `fraction` of the sorted values lie. */
export function percentile(sorted: Float64Array, fraction: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))];
  if (value === undefined) throw new Error('There are no values to take a percentile of');
  return value;
}
