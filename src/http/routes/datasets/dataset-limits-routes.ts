import type { AuditLog } from '../../../audit/audit-log.ts';
import type { DatasetLimits, ShownLimits } from '../../../datasets/dataset-limits.ts';
import { showLimits } from '../../../model/tenant-limits.ts';
import { parseJsonBody } from '../../server/json-body.ts';
import { jsonReply, type Reply } from '../../server/reply.ts';
import type { DatasetRequest, Route } from '../../server/route.ts';
import { administrationBody } from '../identity/administration.ts';

/** What a dataset may have. Each reply is what holds then, whoever has set it. */
export function datasetLimitsRoutes(limits: Pick<DatasetLimits, 'get' | 'set'>, audit: AuditLog): Route[] {
  const path = '/api/v1/logstream/{dataset}/limits';
  const set = async (request: DatasetRequest, wanted: unknown): Promise<Reply> => {
    const from = request.clientAddress();
    const shown = await limits.set(request.tenant, request.dataset, wanted);
    audit.changed(request, from, 'dataset.limits', request.dataset);
    return show(shown);
  };
  return [
    {
      method: 'GET',
      path,
      permission: 'dataset.read',
      dataset: 'path',
      handler: ({ tenant, dataset }) => show(limits.get(tenant, dataset)),
    },
    {
      method: 'PUT',
      path,
      permission: 'dataset.manage',
      dataset: 'path',
      body: administrationBody,
      handler: (request) => set(request, parseJsonBody(request.body)),
    },
    {
      method: 'DELETE',
      path,
      permission: 'dataset.manage',
      dataset: 'path',
      handler: (request) => set(request, {}),
    },
  ];
}

const show = ({ inForce, names }: ShownLimits): Reply => jsonReply(showLimits(inForce, names));
