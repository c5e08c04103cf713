import { compressSync } from 'snappy';
import { type Random, seededRandom } from '../test/support/random.ts';
import { encodeWriteRequest } from '../test/support/remote-write.ts';

/** What is sent: all bodies exist before the clock starts, and every receiver gets the same ones. */
export interface Workload {
  readonly name: 'remote-write' | 'json';
  readonly unit: 'samples' | 'events';
  readonly bodies: readonly Uint8Array[];
  /** Samples or events in all bodies. */
  readonly items: number;
  /** Bytes of an item before compression, on average. */
  readonly bytesPerItem: number;
}

/** Every run, and every receiver in a run, gets the same labels, values and events. */
const seed = 20_260;

const seriesCount = 20_000;
const seriesPerRequest = 2000;
const requestsPerScrape = seriesCount / seriesPerRequest;
const scrapeIntervalMs = 15_000;

/**
 * Prometheus Remote Write 1.0. A request holds one sample of each of 2,000 series, ten requests make a scrape of
 * all 20,000, and the last scrape is of now, so that no receiver finds a sample too old.
 */
export function remoteWriteWorkload(requests: number): Workload {
  const random = seededRandom(seed);
  const series = Array.from({ length: seriesCount }, (_, index) => ({
    labels: seriesLabels(index, random),
    value: random.integer(0, 1_000_000),
  }));
  const firstMs = Date.now() - Math.ceil(requests / requestsPerScrape) * scrapeIntervalMs;
  let rawBytes = 0;
  const bodies = Array.from({ length: requests }, (_, request) => {
    const first = (request % requestsPerScrape) * seriesPerRequest;
    const timestampMs = firstMs + Math.floor(request / requestsPerScrape) * scrapeIntervalMs;
    const timeseries = series.slice(first, first + seriesPerRequest).map((one, index) => {
      // Three of four are counters of whole numbers, the fourth is a gauge with a fraction.
      one.value += index % 4 === 0 ? random.integer(-1000, 1000) / 7 : random.integer(0, 50);
      return { labels: one.labels, samples: [{ value: one.value, timestampMs }] };
    });
    const raw = encodeWriteRequest(timeseries);
    rawBytes += raw.length;
    return compressSync(raw);
  });
  const items = requests * seriesPerRequest;
  return { name: 'remote-write', unit: 'samples', bodies, items, bytesPerItem: rawBytes / items };
}

/** Ten labels, sorted by name, as a scraped Kubernetes service has them; the pod names do not compress. */
function seriesLabels(index: number, random: Random): ReadonlyArray<readonly [string, string]> {
  const pod = Math.floor(index / 200);
  const hash = (digits: number): string =>
    random
      .integer(0, 16 ** digits - 1)
      .toString(16)
      .padStart(digits, '0');
  return [
    ['__name__', `http_server_requests_${index % 200}_total`],
    ['cluster', `eu-west-${pod % 3}`],
    ['container', 'checkout-v2'],
    ['endpoint', `/orders/${index % 50}`],
    ['instance', `10.20.${pod % 256}.${index % 256}:9090`],
    ['job', 'pods'],
    ['method', index % 2 === 0 ? 'GET' : 'POST'],
    ['namespace', `team-${pod % 17}`],
    ['pod', `checkout-${hash(9)}-${hash(5)}`],
    ['status', String(200 + (index % 5) * 100)],
  ];
}

const eventsPerRequest = 1000;
const levels = ['debug', 'info', 'info', 'info', 'info', 'info', 'warn', 'error'];
const services = ['checkout', 'payment', 'catalog', 'search', 'shipping', 'account'];
const paths = ['/api/v1/orders', '/api/v1/cart', '/api/v1/items', '/login', '/search', '/healthz'];

/** JSON logs: arrays of 1,000 flat events of 8 fields and about 170 bytes. */
export function jsonWorkload(requests: number): Workload {
  const random = seededRandom(seed);
  const firstMs = Date.now() - requests * 1000;
  const pick = (choices: readonly string[]): string => choices[random.integer(0, choices.length - 1)] ?? '';
  let rawBytes = 0;
  const bodies = Array.from({ length: requests }, (_, request) => {
    const events = Array.from({ length: eventsPerRequest }, (_, index) => ({
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
  const items = requests * eventsPerRequest;
  return { name: 'json', unit: 'events', bodies, items, bytesPerItem: rawBytes / items };
}
