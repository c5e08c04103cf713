import { requireAllRows, visibleDatasets } from '../../../access/gate.ts';
import type { AuditLog } from '../../../audit/audit-log.ts';
import type { DatasetAdministration } from '../../../datasets/administration.ts';
import type { DatasetLimits } from '../../../datasets/dataset-limits.ts';
import type { DatasetDetails, DatasetQuestions, DatasetStatistics } from '../../../datasets/details.ts';
import { type DatasetRetention, parseRetention, showRetention } from '../../../datasets/retention.ts';
import { AppError } from '../../../errors.ts';
import { parseDay } from '../../../lib/timestamp.ts';
import type { DatasetKind } from '../../../model/dataset.ts';
import { parseJsonBody } from '../../server/json-body.ts';
import { jsonReply, textReply } from '../../server/reply.ts';
import type { Route } from '../../server/route.ts';
import { administrationBody } from '../identity/administration.ts';
import { datasetCreationRoute } from './dataset-creation-route.ts';
import { datasetLimitsRoutes } from './dataset-limits-routes.ts';

export interface DatasetRoutesOptions {
  readonly administration: Pick<DatasetAdministration, 'create' | 'delete'>;
  readonly questions: Pick<DatasetQuestions, 'names' | 'schema' | 'details' | 'statistics'>;
  readonly retention: Pick<DatasetRetention, 'get' | 'set'>;
  readonly limits: Pick<DatasetLimits, 'get' | 'set'>;
  readonly audit: AuditLog;
}

/** Datasets: made, deleted, and what there is to know of them. */
export function datasetRoutes({
  administration,
  questions,
  retention,
  limits,
  audit,
}: DatasetRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/logstream',
      permission: 'dataset.list',
      dataset: 'none',
      handler: ({ principal, tenant }) => {
        const visible = visibleDatasets(principal, questions.names(tenant));
        return jsonReply(visible.map((name) => ({ name })));
      },
    },
    datasetCreationRoute(administration, audit),
    {
      method: 'DELETE',
      path: '/api/v1/logstream/{dataset}',
      permission: 'dataset.manage',
      dataset: 'path',
      handler: async (request) => {
        const from = request.clientAddress();
        await administration.delete(request.tenant, request.dataset);
        audit.changed(request, from, 'dataset.delete', request.dataset);
        return textReply(`log stream ${request.dataset} deleted`);
      },
    },
    {
      method: 'GET',
      path: '/api/v1/logstream/{dataset}/schema',
      permission: 'dataset.read',
      dataset: 'path',
      handler: ({ tenant, dataset }) => jsonReply(questions.schema(tenant, dataset)),
    },
    {
      method: 'GET',
      path: '/api/v1/logstream/{dataset}/info',
      permission: 'dataset.read',
      dataset: 'path',
      handler: async ({ principal, tenant, dataset }) => {
        requireAllRows(principal, dataset);
        return jsonReply(info(await questions.details(tenant, dataset)));
      },
    },
    {
      method: 'GET',
      path: '/api/v1/logstream/{dataset}/stats',
      permission: 'dataset.read',
      dataset: 'path',
      handler: async ({ principal, tenant, dataset, queryString }) => {
        requireAllRows(principal, dataset);
        const date = requestedDate(queryString);
        const statistics = await questions.statistics(tenant, dataset, date);
        const time = date === undefined ? new Date().toISOString() : `${date}T00:00:00.000Z`;
        return jsonReply({ stream: dataset, time, ...showStatistics(statistics) });
      },
    },
    ...retentionRoutes(retention, audit),
    ...datasetLimitsRoutes(limits, audit),
  ];
}

function retentionRoutes(retention: DatasetRoutesOptions['retention'], audit: AuditLog): Route[] {
  const path = '/api/v1/logstream/{dataset}/retention';
  return [
    {
      method: 'GET',
      path,
      permission: 'dataset.read',
      dataset: 'path',
      handler: ({ tenant, dataset }) => jsonReply(showRetention(retention.get(tenant, dataset))),
    },
    {
      method: 'PUT',
      path,
      permission: 'dataset.manage',
      dataset: 'path',
      body: administrationBody,
      handler: async (request) => {
        const from = request.clientAddress();
        const wanted = parseRetention(parseJsonBody(request.body));
        await retention.set(request.tenant, request.dataset, wanted);
        audit.changed(request, from, 'dataset.retention', request.dataset);
        return textReply(`set retention configuration for log stream ${request.dataset}`);
      },
    },
  ];
}

const logSources: Readonly<Record<DatasetKind, string>> = {
  events: 'json',
  logs: 'otel-logs',
  traces: 'otel-traces',
  metrics: 'otel-metrics',
};

const info = ({ kind, createdAt, firstEventAt, latestEventAt, isInternal, options }: DatasetDetails) => ({
  createdAt: createdAt ?? null,
  firstEventAt: firstEventAt ?? null,
  latestEventAt: latestEventAt ?? null,
  streamType: isInternal ? 'Internal' : 'UserDefined',
  logSource: [{ log_source_format: logSources[kind], fields: [] }],
  telemetryType: kind,
  // Those that there are: JSON leaves out what is undefined.
  timePartition: options?.timeField,
  customPartition: options?.partitionField,
  staticSchemaFlag: options?.schema === undefined ? undefined : true,
});

function showStatistics({ kind, received, waiting, stored, deleted }: DatasetStatistics) {
  const bytes = (count: number) => `${count} Bytes`;
  const { rows, uncompressedBytes, diskBytes } = stored;
  return {
    ingestion: {
      count: deleted === undefined ? received.events : rows + waiting.events,
      size: bytes(received.bytes - (deleted?.bytes ?? 0)),
      format: logSources[kind],
      ...(deleted === undefined
        ? {}
        : {
            lifetime_count: received.events,
            lifetime_size: bytes(received.bytes),
            deleted_count: deleted.events,
            deleted_size: bytes(deleted.bytes),
          }),
      waiting_count: waiting.events,
      waiting_size: bytes(waiting.bytes),
    },
    storage: {
      size: bytes(diskBytes),
      format: 'clickhouse',
      count: rows,
      uncompressed_size: bytes(uncompressedBytes),
      compression_ratio: diskBytes === 0 ? null : Number((uncompressedBytes / diskBytes).toFixed(2)),
    },
  };
}

/** @throws AppError `bad_request` */
function requestedDate(queryString: string): string | undefined {
  const date = new URLSearchParams(queryString).get('date');
  if (date === null) return undefined;
  if (parseDay(date) === undefined)
    throw new AppError('bad_request', 'the parameter date is a day: YYYY-MM-DD');
  return date;
}
