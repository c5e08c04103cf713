import type { AuditLog } from '../../../audit/audit-log.ts';
import type { DatasetAdministration } from '../../../datasets/administration.ts';
import { type AskedOptions, parseDatasetOptions } from '../../../datasets/options.ts';
import { AppError } from '../../../errors.ts';
import { limits } from '../../../limits/limits.ts';
import { parseJsonBody } from '../../server/json-body.ts';
import { textReply } from '../../server/reply.ts';
import type { DatasetRequest, Route } from '../../server/route.ts';
import { administrationBody } from '../identity/administration.ts';

/** Options that clients of this interface know and that there are not: without them data would come out otherwise than asked for. */
const unsupported = ['x-p-time-partition-limit', 'x-p-update-stream'] as const;

/** A new dataset of events, with what its owner wants of it in headers, and its fields in the body if they are fixed. */
export function datasetCreationRoute(
  administration: Pick<DatasetAdministration, 'create'>,
  audit: AuditLog,
): Route {
  return {
    method: 'PUT',
    path: '/api/v1/logstream/{dataset}',
    permission: 'dataset.manage',
    dataset: 'path',
    body: { ...administrationBody, maxBytes: limits.maxDatasetBodyBytes },
    handler: async (request) => {
      const from = request.clientAddress();
      const options = parseDatasetOptions(askedOptions(request));
      await administration.create(request.tenant, request.dataset, options);
      audit.changed(request, from, 'dataset.create', request.dataset);
      return textReply('Log stream created');
    },
  };
}

/** @throws AppError `bad_header`, `bad_json` */
function askedOptions({ extensions, body }: DatasetRequest): AskedOptions {
  const refused = unsupported.find((name) => extensions.has(name));
  if (refused !== undefined) {
    throw new AppError('bad_header', `the header ${refused} is not supported; send the request without it`);
  }
  return {
    staticSchema: extensions.get('x-p-static-schema-flag'),
    timeField: extensions.get('x-p-time-partition'),
    partitionField: extensions.get('x-p-custom-partition'),
    body: body.byteLength === 0 ? undefined : parseJsonBody(body),
  };
}
