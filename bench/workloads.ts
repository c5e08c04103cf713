import { seededRandom } from '../test/support/lib/random.ts';

/** What is sent: all bodies exist before the clock starts, and every receiver gets the same ones. */
export interface Workload {
  readonly name: string;
  readonly protocol: 'remote-write' | 'remote-write-2' | 'json' | 'otlp';
  /**
   * The route of Millrace, if it is not the usual one of the protocol. Peers have other paths
   * and the same headers.
   */
  readonly route?: { readonly path: string; readonly headers: Readonly<Record<string, string>> };
  /** Sent before the measurement, for receivers that must know the series; often empty. */
  readonly warmUp: readonly Uint8Array[];
  /** Samples or events in the warm-up. */
  readonly warmUpItems: number;
  readonly unit: 'samples' | 'events' | 'logs' | 'spans' | 'points';
  readonly bodies: readonly Uint8Array[];
  /** Samples or events in all bodies. */
  readonly items: number;
  /** Bytes of an item before compression, on average. */
  readonly bytesPerItem: number;
}

/** Every run, and every receiver in a run, gets the same labels, values and events. */
export const seed = 20_260;

const eventsPerRequest = 1000;
const levels = ['debug', 'info', 'info', 'info', 'info', 'info', 'warn', 'error'];
const services = ['checkout', 'payment', 'catalog', 'search', 'shipping', 'account'];
const paths = ['/api/v1/orders', '/api/v1/cart', '/api/v1/items', '/login', '/search', '/healthz'];

/** JSON logs: arrays of 1,000 flat events of 8 fields and about 170 bytes. */
export function jsonWorkload(requests: number, eventsInEach = eventsPerRequest): Workload {
  const random = seededRandom(seed);
  const firstMs = Date.now() - requests * 1000;
  const pick = (choices: readonly string[]): string => choices[random.integer(0, choices.length - 1)] ?? '';
  let rawBytes = 0;
  const bodies = Array.from({ length: requests }, (_, request) => {
    const events = Array.from({ length: eventsInEach }, (_, index) => ({
      time: new Date(firstMs + request * 1000 + index).toISOString(),
      level: pick(levels),
      service: pick(services),
      path: pick(paths),
      status: 200 + random.integer(0, 3) * 100,
      duration_ms: random.integer(1, 100_000) / 100,
      cached: random.chance(0.5),
      message: `order ${random.integer(1, 9_999_999)} handled`,
    }));
    const body = Buffer.from(JSON.stringify(events));
    rawBytes += body.length;
    return body;
  });
  const items = requests * eventsInEach;
  return {
    name: 'json',
    protocol: 'json',
    unit: 'events',
    warmUp: [],
    warmUpItems: 0,
    bodies,
    items,
    bytesPerItem: rawBytes / items,
  };
}
