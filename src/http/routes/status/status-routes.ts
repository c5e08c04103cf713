import * as v from 'valibot';
import type { AppError } from '../../../errors.ts';
import { publicRoute, serviceRoute } from '../../server/declare-route.ts';
import { jsonReply, textReply } from '../../server/reply.ts';
import { bytes, jsonContent, textContent } from '../../server/reply-content.ts';
import type { Route } from '../../server/route.ts';
import { acceptsHtml, type ConsoleFiles } from '../console/console-files.ts';

export interface StatusRouteOptions {
  readonly version: string;
  /** Why the service does not accept requests now; undefined if it does. */
  readonly notReady: () => AppError | undefined;
  /** Whether queries can be answered. Writes do not need the store: they are acknowledged from the log. */
  readonly storeAvailable: () => boolean;
  /** The reference of the API: JSON, in UTF-8. */
  readonly openApi: () => Promise<Uint8Array>;
}

const pointers = `Millrace

Ingest
  POST /api/v1/ingest             JSON events into the dataset named by X-P-Stream
  POST /v1/logs                   OTLP/HTTP; also /v1/traces, /v1/metrics
  POST /v1/prometheus/write       Prometheus remote write
Query
  POST /api/v1/query              {"query": "SELECT …"}; also /api/v1/query/explain, /api/v1/counts
  GET  /api/v1/logstream/{dataset}/tail  its rows as they arrive
Datasets
  GET  /api/v1/logstream          which there are; each under /api/v1/logstream/{dataset}
Dashboards
  GET  /api/v1/dashboards         which there are; saved filters under /api/v1/filters
Alerts
  GET  /api/v1/alerts             which there are; POST makes one, /api/v1/alerts/test tries one
Notifications
  GET  /api/v1/targets            where alerts are told; silences under /api/v1/silences
Identities
  GET  /api/v1/roles              roles; each under /api/v1/role/{name}
  GET  /api/v1/users              users; each under /api/v1/user/{name}
  GET  /api/console/v1/apikeys    API keys
Tenants
  GET  /api/v1/tenants            which there are
Backups
  PUT  /api/v1/backups/{backup}   make one; GET tells how far it is
Sign-in
  POST /api/v1/session            a browser's, by password or API key; GET tells whose, DELETE ends it
  GET  /api/v1/o/login            through an identity provider, where one is configured
Console
  GET  /explore                   pages for browsers; also /sql
Status
  GET  /api/v1/liveness           is the process alive
  GET  /api/v1/readiness          can it take requests
  GET  /api/v1/about              the version
  GET  /api/v1/openapi.json       all of the API, as OpenAPI 3.1
  GET  /metrics                   for Prometheus, if it has no address of its own
`;

/** Routes about the state of the service. */
/** @param console its page is what browsers get at `/` */
export function statusRoutes(options: StatusRouteOptions, console?: ConsoleFiles): Route[] {
  const { version, notReady, storeAvailable, openApi } = options;
  return [
    publicRoute({
      method: 'GET',
      path: '/',
      permission: 'public',
      reference: {
        group: 'Status',
        summary: 'Show where to begin',
        replies: [
          {
            status: 200,
            description: 'Some paths; to browsers, the console.',
            content: { ...textContent, 'text/html': bytes },
          },
        ],
        errors: [],
      },
      handler: (request) =>
        console !== undefined && acceptsHtml(request.header('accept'))
          ? console.page(request)
          : { ...textReply(pointers), headers: [['Vary', 'Accept']] },
    }),
    publicRoute({
      method: 'GET',
      path: '/api/v1/liveness',
      permission: 'public',
      reference: {
        group: 'Status',
        summary: 'Ask whether the process is alive',
        replies: [
          {
            status: 200,
            description: 'It is alive. A starting process is, too.',
            content: jsonContent(v.object({ status: v.literal('alive') })),
          },
        ],
        errors: [],
      },
      handler: () => jsonReply({ status: 'alive' }),
    }),
    publicRoute({
      method: 'GET',
      path: '/api/v1/readiness',
      permission: 'public',
      reference: {
        group: 'Status',
        summary: 'Ask whether the service takes requests',
        details: 'Writes do not need the store; queries do.',
        replies: [
          {
            status: 200,
            description: 'It does.',
            content: jsonContent(
              v.object({ status: v.literal('ready'), store: v.picklist(['available', 'unavailable']) }),
            ),
          },
        ],
        errors: [],
      },
      handler: () => {
        const reason = notReady();
        if (reason !== undefined) throw reason;
        return jsonReply({ status: 'ready', store: storeAvailable() ? 'available' : 'unavailable' });
      },
    }),
    serviceRoute({
      method: 'GET',
      path: '/api/v1/about',
      permission: 'service.read',
      dataset: 'none',
      reference: {
        group: 'Status',
        summary: 'Show the version',
        replies: [
          {
            status: 200,
            description: 'The versions of Millrace and Node.js.',
            content: jsonContent(
              v.object({ name: v.literal('millrace'), version: v.string(), node: v.string() }),
            ),
          },
        ],
        errors: [],
      },
      handler: () => jsonReply({ name: 'millrace', version, node: process.versions.node }),
    }),
    // Not public: it contains the version, as /api/v1/about does, and it is large.
    serviceRoute({
      method: 'GET',
      path: '/api/v1/openapi.json',
      permission: 'service.read',
      dataset: 'none',
      reference: {
        group: 'Status',
        summary: 'Show this document',
        replies: [
          {
            status: 200,
            description: 'The API as OpenAPI 3.1.',
            content: jsonContent(v.record(v.string(), v.unknown())),
          },
        ],
        errors: [],
      },
      handler: async () => ({ status: 200, contentType: 'application/json', body: [await openApi()] }),
    }),
  ];
}
