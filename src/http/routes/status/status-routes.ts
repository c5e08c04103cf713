import type { AppError } from '../../../errors.ts';
import { jsonReply, textReply } from '../../server/reply.ts';
import type { Route } from '../../server/route.ts';

export interface StatusRouteOptions {
  readonly version: string;
  /** Why the service cannot take requests at the moment; undefined when it can. */
  readonly notReady: () => AppError | undefined;
  /** Whether queries can be answered. Writes do not need the store: they are acknowledged from the log. */
  readonly storeAvailable: () => boolean;
}

const pointers = `Millrace

POST /api/v1/ingest             JSON events into the dataset named by X-P-Stream
POST /v1/prometheus/write       Prometheus remote write
POST /api/v1/query              {"query": "SELECT …"}; also /api/v1/query/explain, /api/v1/counts
GET  /api/console/v1/apikeys    API keys; roles under /api/v1/roles, users under /api/v1/users
GET  /api/v1/liveness           is the process alive
GET  /api/v1/readiness          can it take requests
GET  /metrics                   for Prometheus, if it has no address of its own
`;

/** What the service says about itself. */
export function statusRoutes(options: StatusRouteOptions): Route[] {
  const { version, notReady, storeAvailable } = options;
  return [
    { method: 'GET', path: '/', permission: 'public', handler: () => textReply(pointers) },
    {
      method: 'GET',
      path: '/api/v1/liveness',
      permission: 'public',
      handler: () => jsonReply({ status: 'alive' }),
    },
    {
      method: 'GET',
      path: '/api/v1/readiness',
      permission: 'public',
      handler: () => {
        const reason = notReady();
        if (reason !== undefined) throw reason;
        return jsonReply({ status: 'ready', store: storeAvailable() ? 'available' : 'unavailable' });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/about',
      permission: 'service.read',
      dataset: 'none',
      handler: () => jsonReply({ name: 'millrace', version, node: process.versions.node }),
    },
  ];
}
