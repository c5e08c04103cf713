import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import type { DatasetAdministration } from '../../../datasets/dataset-administration.ts';
import {
  type AskedOptions,
  parseDatasetOptions,
  staticFieldsExpectation,
  type WrittenFields,
} from '../../../datasets/options.ts';
import { AppError } from '../../../errors.ts';
import { limits } from '../../../limits/limits.ts';
import { datasetRoute } from '../../server/declare-route.ts';
import { optionalJsonBody } from '../../server/json-body.ts';
import { textReply } from '../../server/reply.ts';
import { textContent } from '../../server/reply-content.ts';
import type { DatasetRequest, Route } from '../../server/route.ts';

/**
 * Options of this interface that Millrace does not have. They are refused and not ignored, because the result
 * would differ from what the client asked for.
 */
const unsupported = ['x-p-update-stream'] as const;

/**
 * Creates a dataset of events. Headers give its options; the body gives the fields of a static schema.
 */
export function datasetCreationRoute(
  administration: Pick<DatasetAdministration, 'create'>,
  audit: AuditLog,
): Route {
  return datasetRoute({
    method: 'PUT',
    path: '/api/v1/logstream/{dataset}',
    permission: 'dataset.manage',
    dataset: 'path',
    reference: {
      group: 'Datasets',
      summary: 'Create a dataset of events',
      headers: [
        {
          name: 'X-P-Static-Schema-Flag',
          description: '`true`: the events have the fields in the body and no others.',
          schema: v.picklist(['true', 'false']),
        },
        {
          name: 'X-P-Time-Partition',
          description: 'The field that holds the time of an event; without it, that is the time of receipt.',
          schema: v.string(),
        },
        {
          name: 'X-P-Time-Partition-Limit',
          description: 'Days, `30d`: events whose own time is older are refused. For `X-P-Time-Partition`.',
          schema: v.string(),
        },
        {
          name: 'X-P-Custom-Partition',
          description: 'The field that leads the order key.',
          schema: v.string(),
        },
        {
          name: 'X-P-Search-Fields',
          description: `Up to ${limits.maxSearchFields} fields, \`message,error\`, whose texts get an index for \`LIKE\`, \`ILIKE\`, \`~\` and \`=\`.`,
          schema: v.string(),
        },
      ],
      replies: [{ status: 200, description: 'The dataset is created.', content: textContent }],
      errors: ['bad_dataset_options', 'dataset_exists', 'too_many_datasets', 'dataset_changed'],
    },
    body: optionalJsonBody(staticFieldsExpectation, {
      description: 'The fields of a static schema.',
      maxBytes: limits.maxDatasetBodyBytes,
    }),
    handler: async (request, { body }) => {
      const from = request.clientAddress();
      const options = parseDatasetOptions(askedOptions(request, body));
      await administration.create(request.tenant, request.dataset, options);
      audit.changed(request, from, 'dataset.create', request.dataset);
      return textReply('Log stream created');
    },
  });
}

/** @throws AppError `bad_header` */
function askedOptions({ extensions }: DatasetRequest, body: WrittenFields | undefined): AskedOptions {
  const refused = unsupported.find((name) => extensions.has(name));
  if (refused !== undefined) {
    throw new AppError('bad_header', `the header ${refused} is not supported; send the request without it`);
  }
  return {
    staticSchema: extensions.get('x-p-static-schema-flag'),
    timeField: extensions.get('x-p-time-partition'),
    timeLimit: extensions.get('x-p-time-partition-limit'),
    partitionField: extensions.get('x-p-custom-partition'),
    searchFields: extensions.get('x-p-search-fields'),
    body,
  };
}
