import { otlpBody } from '../otlp/numbered-otlp.ts';
import { buildWriteRequest, type TestSeries } from '../remote-write/remote-write-requests.ts';
import type { BatchKind, SentBatch, StoredBatch } from './sent-and-stored.ts';
import type { ServiceClient } from './service.ts';

/**
 * Requests whose rows can be found again. Each batch has a number that all its rows carry, and each row has a
 * number that is unique in its batch, so comparing what was sent with what is stored takes one SQL row per
 * batch. The bytes of a batch depend only on its number: sent again, it is the same request.
 */

const eventsDataset = 'numbered_events';
const metricsDataset = 'numbered_metrics';
const logsDataset = 'numbered_logs';
const spansDataset = 'numbered_spans';
const pointsDataset = 'numbered_points';

/**
 * Posts a batch.
 * @param keyed sends events with an `Idempotency-Key`, so that a retry is recognised; other kinds need none
 * @throws UnexpectedReply, or what `fetch` throws: then it is not known whether the batch is stored
 */
export async function sendBatch(
  service: ServiceClient,
  batch: SentBatch,
  options: { readonly keyed?: boolean } = {},
): Promise<void> {
  const key = options.keyed ? `batch ${batch.number}` : undefined;
  if (batch.kind === 'samples') await service.remoteWrite(samplesOf(batch), metricsDataset);
  else if (batch.kind === 'logs') await service.otlp('logs', bodyOf(batch), logsDataset);
  else if (batch.kind === 'spans') await service.otlp('traces', bodyOf(batch), spansDataset);
  else if (batch.kind === 'points') await service.otlp('metrics', bodyOf(batch), pointsDataset);
  else await service.ingest(eventsDataset, eventsOf(batch), key);
}

const grouped = (batch: string, item: string, dataset: string): string =>
  `SELECT ${batch} AS batch, count(*) AS stored, count(DISTINCT ${item}) AS different FROM ${dataset} GROUP BY 1`;

const batchQueries: Readonly<Record<BatchKind, string>> = {
  events: grouped('batch', 'item', eventsDataset),
  samples: grouped('value', 'item', metricsDataset),
  logs: grouped(`attributes->>'batch'`, `attributes->>'item'`, logsDataset),
  points: grouped('value', 'item', pointsDataset),
  spans: grouped(`attributes->>'batch'`, `attributes->>'item'`, spansDataset),
};

/**
 * What SQL finds of each batch. Rows that are only in the log are not found, so call `drained` first.
 * @param kinds the kinds of batches that were sent
 */
export async function readStored(
  service: ServiceClient,
  kinds: readonly BatchKind[] = ['events', 'samples'],
): Promise<StoredBatch[]> {
  const stored: StoredBatch[] = [];
  for (const kind of kinds) {
    for (const row of await service.query(batchQueries[kind])) {
      stored.push({
        number: Number(row['batch']),
        stored: Number(row['stored']),
        distinct: Number(row['different']),
      });
    }
  }
  return stored;
}

const eventsOf = (batch: SentBatch): readonly unknown[] =>
  Array.from({ length: batch.rows }, (_, row) => ({
    batch: batch.number,
    item: row,
    message: `event ${row} of batch ${batch.number}`,
  }));

/** Batch n is scraped n milliseconds later: no two samples of a series share a time. */
const firstTimestampMs = Date.now();

const bodyOf = (batch: SentBatch) => otlpBody(batch, firstTimestampMs + batch.number);

/** More series than these would fill the service's cache of series for as long as a test can run. */
const generations = 500;

/**
 * Series of later batches are partly known and partly new, until all generations were used: ten batches each.
 */
function samplesOf(batch: SentBatch): Uint8Array<ArrayBuffer> {
  const generation = String(Math.floor(batch.number / 10) % generations);
  const timestampMs = firstTimestampMs + batch.number;
  const series = Array.from(
    { length: batch.rows },
    (_, row): TestSeries => ({
      labels: { __name__: 'numbered_batch', generation, item: String(row) },
      samples: [{ value: batch.number, timestampMs }],
    }),
  );
  return new Uint8Array(buildWriteRequest(series));
}

/** Typical dashboard queries while batches arrive. */
export const dashboardQueries = [
  `SELECT count(*) AS n, max(batch) AS newest FROM ${eventsDataset}`,
  `SELECT metric_name, max(value) AS newest FROM ${metricsDataset} GROUP BY metric_name`,
  `SELECT item, message FROM ${eventsDataset} ORDER BY batch DESC LIMIT 20`,
] as const;

/** The receive times of these batches of events, one per batch, in milliseconds since 1970. */
export async function receiveTimes(
  service: ServiceClient,
  numbers: readonly number[],
): Promise<readonly number[]> {
  const rows = await service.query(
    `SELECT batch, min(p_timestamp) AS received FROM ${eventsDataset} WHERE batch IN (${numbers.join(', ')}) GROUP BY batch`,
  );
  return rows.map((row) => Date.parse(String(row['received'])));
}
