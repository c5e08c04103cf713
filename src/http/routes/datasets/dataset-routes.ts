import * as v from 'valibot';
import { requireAllRows, visibleDatasets } from '../../../access/gate.ts';
import type { AuditLog } from '../../../audit/audit-log.ts';
import type { DatasetAdministration } from '../../../datasets/dataset-administration.ts';
import {
  type DatasetRetention,
  readRetention,
  retentionExpectation,
  showRetention,
} from '../../../datasets/dataset-retention.ts';
import type { DatasetDetails, DatasetQuestions, DatasetStatistics } from '../../../datasets/details.ts';
import type { DatasetLimits } from '../../../datasets/limits-of-dataset.ts';
import { parseDay } from '../../../lib/timestamp.ts';
import { limits as bounds } from '../../../limits/limits.ts';
import type { DatasetKind } from '../../../model/dataset.ts';
import { datasetRoute, serviceRoute } from '../../server/declare-route.ts';
import { jsonBody } from '../../server/json-body.ts';
import { queryParameters } from '../../server/query-parameters.ts';
import { jsonReply, textReply } from '../../server/reply.ts';
import { jsonContent, textContent, timestamp } from '../../server/reply-content.ts';
import type { Route } from '../../server/route.ts';
import { arrowSchema } from './arrow-schema.ts';
import { datasetCreationRoute } from './dataset-creation-route.ts';
import { datasetLimitsRoutes } from './dataset-limits-routes.ts';

export interface DatasetRoutesOptions {
  readonly administration: Pick<DatasetAdministration, 'create' | 'delete'>;
  readonly questions: Pick<DatasetQuestions, 'names' | 'schema' | 'details' | 'statistics'>;
  readonly retention: Pick<DatasetRetention, 'get' | 'set'>;
  readonly limits: Pick<DatasetLimits, 'get' | 'set'>;
  readonly audit: AuditLog;
}

const kinds = ['events', 'logs', 'traces', 'metrics'] as const satisfies readonly DatasetKind[];
const bytesText = v.pipe(v.string(), v.regex(/^-?\d+ Bytes$/), v.description('`1024 Bytes`'));
const count = v.number();

const datasetInfo = v.pipe(
  v.object({
    createdAt: v.nullable(timestamp),
    firstEventAt: v.nullable(timestamp),
    latestEventAt: v.nullable(timestamp),
    streamType: v.picklist(['Internal', 'UserDefined']),
    logSource: v.array(v.object({ log_source_format: v.string(), fields: v.array(v.string()) })),
    telemetryType: v.picklist(kinds),
    timePartition: v.optional(v.string()),
    timePartitionLimit: v.optional(v.pipe(v.string(), v.description('Days: `30d`.'))),
    customPartition: v.optional(v.string()),
    staticSchemaFlag: v.optional(v.literal(true)),
  }),
  v.title('DatasetInfo'),
);

const datasetStatistics = v.pipe(
  v.object({
    stream: v.string(),
    time: timestamp,
    ingestion: v.object({
      count,
      size: bytesText,
      format: v.string(),
      lifetime_count: v.optional(count),
      lifetime_size: v.optional(bytesText),
      deleted_count: v.optional(count),
      deleted_size: v.optional(bytesText),
      waiting_count: count,
      waiting_size: bytesText,
    }),
    storage: v.object({
      size: bytesText,
      format: v.literal('clickhouse'),
      count,
      uncompressed_size: bytesText,
      compression_ratio: v.nullable(v.number()),
    }),
  }),
  v.title('DatasetStatistics'),
);

const dayRule = 'must be a day: YYYY-MM-DD';
const statisticsParameters = queryParameters({
  date: v.optional(
    v.pipe(
      v.string(),
      v.isoDate(dayRule),
      v.check((date) => parseDay(date) !== undefined, dayRule),
      v.description('A day, `YYYY-MM-DD`: what was received on it, and the rows of that day.'),
    ),
  ),
});

/** Routes that list, create, describe and delete datasets. */
export function datasetRoutes({
  administration,
  questions,
  retention,
  limits,
  audit,
}: DatasetRoutesOptions): Route[] {
  return [
    serviceRoute({
      method: 'GET',
      path: '/api/v1/logstream',
      permission: 'dataset.list',
      dataset: 'none',
      reference: {
        group: 'Datasets',
        summary: 'List the datasets',
        replies: [
          {
            status: 200,
            description: 'The datasets that the caller may see.',
            content: jsonContent(v.array(v.object({ name: v.string() }))),
          },
        ],
        errors: [],
      },
      handler: ({ principal, tenant }) => {
        const visible = visibleDatasets(principal, questions.names(tenant));
        return jsonReply(visible.map((name) => ({ name })));
      },
    }),
    datasetCreationRoute(administration, audit),
    datasetRoute({
      method: 'DELETE',
      path: '/api/v1/logstream/{dataset}',
      permission: 'dataset.manage',
      dataset: 'path',
      reference: {
        group: 'Datasets',
        summary: 'Delete a dataset',
        details: 'This removes everything that was written to it before, on any node.',
        replies: [{ status: 200, description: 'The dataset is deleted.', content: textContent }],
        errors: ['dataset_not_found'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        await administration.delete(request.tenant, request.dataset);
        audit.changed(request, from, 'dataset.delete', request.dataset);
        return textReply(`log stream ${request.dataset} deleted`);
      },
    }),
    datasetRoute({
      method: 'GET',
      path: '/api/v1/logstream/{dataset}/schema',
      permission: 'dataset.read',
      dataset: 'path',
      reference: {
        group: 'Datasets',
        summary: 'Show the columns of a dataset',
        replies: [{ status: 200, description: 'Its schema.', content: jsonContent(arrowSchema) }],
        errors: ['dataset_not_found'],
      },
      handler: ({ tenant, dataset }) => jsonReply(questions.schema(tenant, dataset)),
    }),
    datasetRoute({
      method: 'GET',
      path: '/api/v1/logstream/{dataset}/info',
      permission: 'dataset.read',
      dataset: 'path',
      reference: {
        group: 'Datasets',
        summary: 'Describe a dataset',
        details: 'For those who may read all of its rows.',
        replies: [{ status: 200, description: 'What it is.', content: jsonContent(datasetInfo) }],
        errors: ['dataset_not_found'],
      },
      handler: async ({ principal, tenant, dataset }) => {
        requireAllRows(principal, dataset);
        return jsonReply(info(await questions.details(tenant, dataset)));
      },
    }),
    datasetRoute({
      method: 'GET',
      path: '/api/v1/logstream/{dataset}/stats',
      permission: 'dataset.read',
      dataset: 'path',
      query: statisticsParameters,
      reference: {
        group: 'Datasets',
        summary: 'Count what a dataset received and stores',
        details: 'For those who may read all of its rows.',
        replies: [{ status: 200, description: 'How much it is.', content: jsonContent(datasetStatistics) }],
        errors: ['dataset_not_found'],
      },
      handler: async ({ principal, tenant, dataset }, { query: { date } }) => {
        requireAllRows(principal, dataset);
        const statistics = await questions.statistics(tenant, dataset, date);
        const time = date === undefined ? new Date().toISOString() : `${date}T00:00:00.000Z`;
        return jsonReply({ stream: dataset, time, ...showStatistics(statistics) });
      },
    }),
    ...retentionRoutes(retention, audit),
    ...datasetLimitsRoutes(limits, audit),
  ];
}

function retentionRoutes(retention: DatasetRoutesOptions['retention'], audit: AuditLog): Route[] {
  const path = '/api/v1/logstream/{dataset}/retention';
  return [
    datasetRoute({
      method: 'GET',
      path,
      permission: 'dataset.read',
      dataset: 'path',
      reference: {
        group: 'Datasets',
        summary: 'Show the retention of a dataset',
        replies: [
          {
            status: 200,
            description: 'The retention; an empty array where rows are kept forever.',
            content: jsonContent(retentionExpectation.schema),
          },
        ],
        errors: ['dataset_not_found'],
      },
      handler: ({ tenant, dataset }) => jsonReply(showRetention(retention.get(tenant, dataset))),
    }),
    datasetRoute({
      method: 'PUT',
      path,
      permission: 'dataset.manage',
      dataset: 'path',
      reference: {
        group: 'Datasets',
        summary: 'Set the retention of a dataset',
        replies: [{ status: 200, description: 'The retention is set.', content: textContent }],
        errors: ['dataset_not_found', 'dataset_changed'],
      },
      body: jsonBody(retentionExpectation, {
        description: 'One task that deletes rows of a certain age, or an empty array.',
        maxBytes: bounds.maxIdentityBodyBytes,
      }),
      handler: async (request, { body }) => {
        const from = request.clientAddress();
        await retention.set(request.tenant, request.dataset, readRetention(body));
        audit.changed(request, from, 'dataset.retention', request.dataset);
        return textReply(`set retention configuration for log stream ${request.dataset}`);
      },
    }),
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
  // JSON leaves out members that are undefined.
  timePartition: options?.timeField,
  timePartitionLimit: options?.timeLimitDays === undefined ? undefined : `${options.timeLimitDays}d`,
  customPartition: options?.partitionField,
  searchFields: options?.searchFields,
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
