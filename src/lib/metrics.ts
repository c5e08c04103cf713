import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { FastCounters, FastHistograms, fastCounter, fastGauge, fastHistogram } from './fast-metrics.ts';

/** In seconds, for durations from a fraction of a millisecond to a minute. */
const durationBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/**
 * The service's metrics on `/metrics`. Labels have few values and never contain client input, but for the
 * names of datasets and tenants where an operator asks for these.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  // Process CPU, memory, descriptors, garbage collection and event-loop lag.
  collectDefaultMetrics({ register: registry });
  // Gauges with the suffix of counters; the same without it have the numbers by type.
  for (const what of ['handles', 'requests', 'resources']) {
    registry.removeSingleMetric(`nodejs_active_${what}_total`);
  }
  return {
    registry,
    buildInfo: new Gauge({
      name: 'millrace_build_info',
      help: 'Always 1: the versions of the service and of Node.js.',
      labelNames: ['version', 'node_version'] as const,
      registers,
    }),
    datasetRows: new Gauge({
      name: 'millrace_dataset_rows',
      help: 'Rows (events, log records, spans or samples) of the largest datasets in the store; with MILLRACE_METRICS_DATASETS=true.',
      labelNames: ['tenant', 'dataset'] as const,
      registers,
    }),
    datasetBytes: new Gauge({
      name: 'millrace_dataset_disk_bytes',
      help: 'Bytes that the largest datasets take on the disk of the store; with MILLRACE_METRICS_DATASETS=true.',
      labelNames: ['tenant', 'dataset'] as const,
      registers,
    }),
    documents: new Gauge({
      name: 'millrace_documents',
      help: 'Dashboards, filters, alerts, targets, silences and lists of favourites of all tenants, by kind.',
      labelNames: ['kind'] as const,
      registers,
    }),
    documentChanges: new Counter({
      name: 'millrace_document_changes_total',
      help: 'Changes of documents that this node made, by kind and outcome: made, or repeated because another node was first.',
      labelNames: ['kind', 'outcome'] as const,
      registers,
    }),
    httpRequests: new FastCounters({
      name: 'millrace_http_requests_total',
      help: 'Requests answered, by route pattern, method and status.',
      labelNames: ['route', 'method', 'status'] as const,
      registers,
    }),
    httpDuration: new FastHistograms({
      name: 'millrace_http_request_duration_seconds',
      help: 'Seconds from the request line to the end of the reply.',
      labelNames: ['route'] as const,
      buckets: durationBuckets,
      registers,
    }),
    httpRequestBytes: new FastCounters({
      name: 'millrace_http_request_body_bytes_total',
      help: 'Body bytes received, as sent (before decompression).',
      labelNames: ['route'] as const,
      registers,
    }),
    rejects: new Counter({
      name: 'millrace_rejects_total',
      help: 'Requests refused, by error code.',
      labelNames: ['code'] as const,
      registers,
    }),
    events: fastCounter({
      name: 'millrace_ingested_events_total',
      help: 'JSON events acknowledged.',
      registers,
    }),
    logs: fastCounter({
      name: 'millrace_ingested_logs_total',
      help: 'OTLP log records acknowledged.',
      registers,
    }),
    spans: fastCounter({
      name: 'millrace_ingested_spans_total',
      help: 'OTLP spans acknowledged.',
      registers,
    }),
    samples: fastCounter({
      name: 'millrace_ingested_samples_total',
      help: 'Metric samples acknowledged.',
      registers,
    }),
    histograms: fastCounter({
      name: 'millrace_ingested_histograms_total',
      help: 'Native histograms acknowledged.',
      registers,
    }),
    exemplars: fastCounter({
      name: 'millrace_ingested_exemplars_total',
      help: 'Exemplars acknowledged.',
      registers,
    }),
    replayedRequests: new Counter({
      name: 'millrace_ingest_replayed_requests_total',
      help: 'Retries of stored requests, which were answered and not stored again.',
      registers,
    }),
    auditRowsLost: new Counter({
      name: 'millrace_audit_rows_lost_total',
      help: 'Audit rows that were not stored; they are only in the log.',
      registers,
    }),
    inflightBodyBytes: fastGauge({
      name: 'millrace_ingest_inflight_body_bytes',
      help: 'Bodies received and not yet acknowledged.',
      registers,
    }),
    decodeQueue: new Gauge({
      name: 'millrace_decode_queue_requests',
      help: 'Requests that wait for a decoding worker.',
      registers,
    }),
    walFsync: fastHistogram({
      name: 'millrace_wal_fsync_duration_seconds',
      help: 'Duration of one write to the log, including fdatasync.',
      buckets: durationBuckets,
      registers,
    }),
    walGroupRecords: fastHistogram({
      name: 'millrace_wal_group_records',
      help: 'Requests that shared one write and fdatasync.',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
      registers,
    }),
    walTornBytes: new Counter({
      name: 'millrace_wal_torn_bytes_total',
      help: 'Bytes of incomplete records cut from the end of the log at start.',
      registers,
    }),
    walDamagedBytes: new Counter({
      name: 'millrace_wal_damaged_bytes_total',
      help: 'Damaged bytes of the log that were set aside.',
      registers,
    }),
    alertEvaluations: new Counter({
      name: 'millrace_alert_evaluations_total',
      help: 'Evaluations of alerts on this node, by outcome: ok or failed.',
      labelNames: ['outcome'] as const,
      registers,
    }),
    alertEvaluationDuration: new Histogram({
      name: 'millrace_alert_evaluation_duration_seconds',
      help: 'Duration of one evaluation of an alert, with all of its tries.',
      buckets: durationBuckets,
      registers,
    }),
    alertEvaluationLag: new Histogram({
      name: 'millrace_alert_evaluation_lag_seconds',
      help: 'From the time at which an alert is due to the begin of its evaluation.',
      buckets: durationBuckets,
      registers,
    }),
    storeUp: new Gauge({
      name: 'millrace_store_up',
      help: '1 if the store answered the last health check, 0 if not.',
      registers,
    }),
    engineRestarts: new Counter({
      name: 'millrace_engine_restarts_total',
      help: 'Restarts of the embedded engine, including failed ones, by reason.',
      labelNames: ['reason'] as const,
      registers,
    }),
    insertDuration: new Histogram({
      name: 'millrace_store_insert_duration_seconds',
      help: 'Duration of one insert of a segment into one table.',
      buckets: durationBuckets,
      registers,
    }),
    insertRows: new Counter({
      name: 'millrace_store_inserted_rows_total',
      help: 'Rows inserted into the store.',
      registers,
    }),
    insertFailures: new Counter({
      name: 'millrace_store_insert_failures_total',
      help: 'Inserts that failed and are retried.',
      registers,
    }),
    deadRows: new Counter({
      name: 'millrace_dead_rows_total',
      help: 'Rows that the store rejected permanently and that went to the dead letters.',
      registers,
    }),
    deadFiles: new Gauge({
      name: 'millrace_dead_files',
      help: 'Dead letters in the data directory; millrace dead list shows them.',
      registers,
    }),
    notifications: new Counter({
      name: 'millrace_notifications_total',
      help: 'Tries to send a notification, by type of target and outcome: delivered, retry (it is tried again) or failed.',
      labelNames: ['type', 'outcome'] as const,
      registers,
    }),
    notificationDuration: new Histogram({
      name: 'millrace_notification_duration_seconds',
      help: 'Duration of one try to send a notification.',
      labelNames: ['type'] as const,
      buckets: durationBuckets,
      registers,
    }),
    queryDuration: new Histogram({
      name: 'millrace_query_duration_seconds',
      help: 'Duration of queries in the store.',
      buckets: durationBuckets,
      registers,
    }),
    queryQueue: new Gauge({
      name: 'millrace_query_queue',
      help: 'Queries that wait for a connection.',
      registers,
    }),
    tailStreams: new Gauge({
      name: 'millrace_tail_streams',
      help: 'Live tails that are open.',
      registers,
    }),
    tailRows: new Counter({
      name: 'millrace_tail_rows_total',
      help: 'Rows sent to live tails.',
      registers,
    }),
    tailSkippedRows: new Counter({
      name: 'millrace_tail_skipped_rows_total',
      help: 'Rows that live tails left out, because there were too many or the client did not read.',
      registers,
    }),
    tailQueryDuration: new Histogram({
      name: 'millrace_tail_query_duration_seconds',
      help: 'Time to read what arrived for live tails with the same condition.',
      buckets: durationBuckets,
      registers,
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
