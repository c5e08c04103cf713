import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import { limits } from '../../../limits/limits.ts';
import { matchersSchema } from '../../../notifications/silence-matchers.ts';
import { type Silences, silenceExpectation } from '../../../notifications/silences.ts';
import { serviceRoute } from '../../server/declare-route.ts';
import { jsonBody } from '../../server/json-body.ts';
import { emptyReply, jsonReply } from '../../server/reply.ts';
import { jsonContent, timestamp } from '../../server/reply-content.ts';
import type { Route } from '../../server/route.ts';
import { documentId, readDocumentId } from '../dashboards/document-routes.ts';

const silenceId = documentId('silence');
const idOf = (parameter: string): string => readDocumentId(parameter, 'silence', 'not_found');

const shownSilence = v.pipe(
  v.object({
    id: v.string(),
    status: v.object({ state: v.picklist(['pending', 'active', 'expired']) }),
    matchers: matchersSchema,
    startsAt: timestamp,
    endsAt: timestamp,
    createdBy: v.string(),
    comment: v.string(),
    updatedAt: timestamp,
  }),
  v.title('ShownSilence'),
);

/** Silences, in the form of Alertmanager's API v2. */
export function silenceRoutes(silences: Silences, audit: AuditLog): Route[] {
  return [
    serviceRoute({
      method: 'GET',
      path: '/api/v1/silences',
      permission: 'alert.read',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'List the silences',
        details: 'Those that have ended are listed for five days.',
        replies: [
          {
            status: 200,
            description: 'Those that end last first.',
            content: jsonContent(v.array(shownSilence)),
          },
        ],
        errors: [],
      },
      handler: ({ tenant }) => jsonReply(silences.list(tenant)),
    }),
    serviceRoute({
      method: 'POST',
      path: '/api/v1/silences',
      permission: 'alert.write',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Create a silence, or change one',
        details:
          'Instances of alerts whose labels match all matchers are not told from `startsAt` (now, unless given) to `endsAt`. It holds for the alerts that its creator may change. With the `id` of a silence, that one is changed. `createdBy` is the caller.',
        replies: [
          { status: 200, description: 'Its id.', content: jsonContent(v.object({ silenceID: v.string() })) },
        ],
        errors: ['bad_silence', 'not_found', 'document_changed', 'too_many_documents'],
      },
      body: jsonBody(silenceExpectation, {
        description: 'The silence.',
        maxBytes: limits.maxTargetBodyBytes,
      }),
      handler: async (request, { body }) => {
        const from = request.clientAddress();
        const { id } = await silences.put(request, body);
        audit.changed(request, from, (body.id ?? '') === '' ? 'silence.create' : 'silence.change', id);
        return jsonReply({ silenceID: id });
      },
    }),
    serviceRoute({
      method: 'GET',
      path: '/api/v1/silences/{silence}',
      permission: 'alert.read',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Show a silence',
        parameter: silenceId,
        replies: [{ status: 200, description: 'The silence.', content: jsonContent(shownSilence) }],
        errors: ['not_found'],
      },
      handler: ({ tenant, parameter }) => jsonReply(silences.get(tenant, idOf(parameter))),
    }),
    serviceRoute({
      method: 'DELETE',
      path: '/api/v1/silences/{silence}',
      permission: 'alert.write',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Delete a silence',
        details: 'Only its creator, an editor or an administrator can.',
        parameter: silenceId,
        replies: [{ status: 200, description: 'It is deleted, and holds no more.' }],
        errors: ['not_found', 'document_changed'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const id = idOf(request.parameter);
        await silences.delete(request, id);
        audit.changed(request, from, 'silence.delete', id);
        return emptyReply(200);
      },
    }),
  ];
}
