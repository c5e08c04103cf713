import type { AuditLog } from '../../../audit/audit-log.ts';
import type { DatasetLimits, ShownLimits } from '../../../datasets/limits-of-dataset.ts';
import { limits as bounds } from '../../../limits/limits.ts';
import { datasetLimitsExpectation } from '../../../model/dataset-limits.ts';
import { showLimits } from '../../../model/tenant-limits.ts';
import { datasetRoute } from '../../server/declare-route.ts';
import { jsonBody } from '../../server/json-body.ts';
import { jsonReply, type Reply } from '../../server/reply.ts';
import { jsonContent } from '../../server/reply-content.ts';
import type { DatasetRequest, Route } from '../../server/route.ts';

const limitsReply = {
  status: 200,
  description: 'The limits that hold for the dataset, whoever has set them.',
  content: jsonContent(datasetLimitsExpectation.schema),
};

/** Limits of a dataset. Each reply shows all limits in force, including those of the tenant. */
export function datasetLimitsRoutes(limits: Pick<DatasetLimits, 'get' | 'set'>, audit: AuditLog): Route[] {
  const path = '/api/v1/logstream/{dataset}/limits';
  const set = async (request: DatasetRequest, wanted: unknown): Promise<Reply> => {
    const from = request.clientAddress();
    const shown = await limits.set(request.tenant, request.dataset, wanted);
    audit.changed(request, from, 'dataset.limits', request.dataset);
    return show(shown);
  };
  return [
    datasetRoute({
      method: 'GET',
      path,
      permission: 'dataset.read',
      dataset: 'path',
      reference: {
        group: 'Datasets',
        summary: 'Show the limits of a dataset',
        replies: [limitsReply],
        errors: ['dataset_not_found'],
      },
      handler: ({ tenant, dataset }) => show(limits.get(tenant, dataset)),
    }),
    datasetRoute({
      method: 'PUT',
      path,
      permission: 'dataset.manage',
      dataset: 'path',
      reference: {
        group: 'Datasets',
        summary: 'Set the limits of a dataset',
        details:
          'They replace all earlier limits, and can only be narrower than those of the tenant. A dataset that holds ' +
          'no events has `datasetIngestBytesPerSecond` alone.',
        replies: [limitsReply],
        errors: ['dataset_not_found', 'dataset_changed'],
      },
      body: jsonBody(datasetLimitsExpectation, {
        description: 'Limits of the dataset.',
        maxBytes: bounds.maxIdentityBodyBytes,
      }),
      handler: (request, { body }) => set(request, body),
    }),
    datasetRoute({
      method: 'DELETE',
      path,
      permission: 'dataset.manage',
      dataset: 'path',
      reference: {
        group: 'Datasets',
        summary: 'Remove the limits of a dataset',
        replies: [limitsReply],
        errors: ['dataset_not_found', 'dataset_changed'],
      },
      handler: (request) => set(request, {}),
    }),
  ];
}

const show = ({ inForce, names }: ShownLimits): Reply => jsonReply(showLimits(inForce, names));
