import { compressSync } from 'snappy';
import { type Random, seededRandom } from '../test/support/lib/random.ts';
import {
  encodeRequestV2,
  encodeWriteRequest,
  type TestMetadata,
} from '../test/support/remote-write/remote-write-requests.ts';
import { seed, type Workload } from './workloads.ts';

const seriesCount = 20_000;
const scrapeIntervalMs = 15_000;
/** Scrapes that are sent before the clock starts, if the series must be known. */
const warmUpScrapes = 10;

/**
 * How a case differs from the plain one, which has 10 labels and 2,000 samples per request,
 * and long-lived series.
 */
interface RemoteWriteCase {
  readonly seriesPerRequest?: number;
  /** Labels beyond the ten of every series. */
  readonly extraLabels?: number;
  /** The share of series that is replaced by new ones from one scrape to the next. */
  readonly churn?: number;
  readonly isWarm?: boolean;
  /** Of the protocol; 1.0 unless given. */
  readonly version?: '2.0';
}

export const remoteWriteCases = {
  'remote-write-first': {},
  'remote-write-known': { isWarm: true },
  'remote-write-labels': { extraLabels: 10 },
  'remote-write-churn-10': { churn: 0.1 },
  'remote-write-churn-100': { churn: 1 },
  'remote-write-small': { seriesPerRequest: 50 },
  'remote-write-small-known': { seriesPerRequest: 50, isWarm: true },
  'remote-write-v2': { version: '2.0' },
} as const satisfies Record<string, RemoteWriteCase>;

/**
 * Prometheus Remote Write. A request holds one sample of each of some series, several requests make a scrape
 * of all 20,000, and the last scrape is of now, so that no receiver finds a sample too old.
 * @param requests of 2,000 samples; cases with smaller ones send as many in all
 */
export function remoteWriteWorkload(name: keyof typeof remoteWriteCases, requests: number): Workload {
  const {
    seriesPerRequest = 2000,
    extraLabels = 0,
    churn = 0,
    isWarm = false,
    version,
  }: RemoteWriteCase = remoteWriteCases[name];
  const random = seededRandom(seed);
  const requestsPerScrape = seriesCount / seriesPerRequest;
  const warmUpRequests = isWarm ? warmUpScrapes * requestsPerScrape : 0;
  const total = warmUpRequests + (requests * 2000) / seriesPerRequest;
  const series = Array.from({ length: seriesCount }, (_, index) => ({
    labels: seriesLabels(index, extraLabels, random),
    value: random.integer(0, 1_000_000),
  }));
  const firstMs = Date.now() - Math.ceil(total / requestsPerScrape) * scrapeIntervalMs;
  let rawBytes = 0;
  const bodies = Array.from({ length: total }, (_, request) => {
    const first = (request % requestsPerScrape) * seriesPerRequest;
    const timestampMs = firstMs + Math.floor(request / requestsPerScrape) * scrapeIntervalMs;
    const timeseries = series.slice(first, first + seriesPerRequest).map((one, offset) => {
      if (churn > 0 && random.chance(churn)) one.labels = seriesLabels(first + offset, extraLabels, random);
      // Three of four are counters of whole numbers, the fourth is a gauge with a fraction.
      one.value += offset % 4 === 0 ? random.integer(-1000, 1000) / 7 : random.integer(0, 50);
      return {
        labels: one.labels,
        samples: [{ value: one.value, timestampMs }],
        metadata: metadataOf(first + offset),
      };
    });
    const raw = version === '2.0' ? encodeRequestV2(timeseries) : encodeWriteRequest(timeseries);
    rawBytes += raw.length;
    return compressSync(raw);
  });
  return {
    name,
    protocol: version === '2.0' ? 'remote-write-2' : 'remote-write',
    unit: 'samples',
    warmUp: bodies.slice(0, warmUpRequests),
    warmUpItems: warmUpRequests * seriesPerRequest,
    bodies: bodies.slice(warmUpRequests),
    items: (total - warmUpRequests) * seriesPerRequest,
    bytesPerItem: rawBytes / (total * seriesPerRequest),
  };
}

/** Metadata of the metric. Prometheus sends it with each series in version 2.0, and separately in 1.0. */
const metadataOf = (index: number): TestMetadata => ({
  type: index % 4 === 0 ? 2 : 1,
  help: `Requests that the service has answered on its endpoint ${index % 200}.`,
});

/** Ten labels, as a scraped Kubernetes service has them, and more; the pod names do not compress. */
function seriesLabels(
  index: number,
  extraLabels: number,
  random: Random,
): ReadonlyArray<readonly [string, string]> {
  const pod = Math.floor(index / 200);
  const hash = (digits: number): string =>
    random
      .integer(0, 16 ** digits - 1)
      .toString(16)
      .padStart(digits, '0');
  const labels: [string, string][] = [
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
  for (let extra = 0; extra < extraLabels; extra++) {
    labels.push([`x${extra}`, `v${(pod * 31 + extra) % 1000}`]);
  }
  return labels;
}
