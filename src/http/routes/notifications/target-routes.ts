import * as v from 'valibot';
import type { AuditLog } from '../../../audit/audit-log.ts';
import { noDocument } from '../../../documents/document-store.ts';
import { AppError } from '../../../errors.ts';
import { limits } from '../../../limits/limits.ts';
import { type DeliveryRecords, deliveriesOf } from '../../../notifications/delivery-records.ts';
import { targetTypes } from '../../../notifications/notification.ts';
import { targetExpectation } from '../../../notifications/target-body.ts';
import type { TargetTests } from '../../../notifications/target-tests.ts';
import type { ShownTarget, Targets } from '../../../notifications/targets.ts';
import { serviceRoute } from '../../server/declare-route.ts';
import { allowedRevisions, documentReply } from '../../server/entity-tag.ts';
import { jsonBody } from '../../server/json-body.ts';
import { jsonReply } from '../../server/reply.ts';
import { jsonContent, timestamp } from '../../server/reply-content.ts';
import type { Route } from '../../server/route.ts';
import { documentId, ifMatchHeader, readDocumentId } from '../dashboards/document-routes.ts';

export interface TargetRouteOptions {
  readonly targets: Targets;
  readonly tests: TargetTests;
  readonly records: DeliveryRecords;
  /** What the operator's configuration allows. */
  readonly policy: TargetPolicy;
}

/** Parseable's form of what targets may be. */
export interface TargetPolicy {
  readonly allowPrivate: boolean;
  readonly allowedDomains: readonly string[];
  readonly allowedCidrs: readonly string[];
  readonly deniedDomains: readonly string[];
  readonly deniedCidrs: readonly string[];
  readonly allowInvalidTls: boolean;
}

const targetId = documentId('target');
const idOf = (parameter: string): string => readDocumentId(parameter, 'target', 'not_found');

const maskedSchema = v.pipe(
  v.looseObject({
    id: v.string(),
    name: v.string(),
    type: v.picklist(targetTypes),
    endpoint: v.optional(v.pipe(v.string(), v.description('Masked, as all secrets are.'))),
    skipTlsCheck: v.boolean(),
  }),
  v.title('MaskedTarget'),
);
const listedSchema = v.looseObject({
  ...maskedSchema.pipe[0].entries,
  target: maskedSchema,
  enabled: v.boolean(),
  error: v.optional(v.string()),
});
const errorSchema = v.object({ code: v.string(), message: v.string(), status: v.optional(v.number()) });
const deliverySchema = v.pipe(
  v.object({
    id: v.pipe(v.string(), v.description('A ULID: the webhook-id of all tries.')),
    alertId: v.string(),
    alertTitle: v.string(),
    status: v.picklist(['waiting', 'failed', 'delivered']),
    notificationStatus: v.picklist(['firing', 'resolved']),
    createdAt: timestamp,
    tries: v.number(),
    lastTryAt: v.optional(timestamp),
    nextTryAt: v.optional(timestamp),
    deliveredAt: v.optional(timestamp),
    lastError: v.optional(errorSchema),
  }),
  v.title('Delivery'),
);
const policySchema = v.pipe(
  v.object({
    allowPrivate: v.boolean(),
    allowedDomains: v.array(v.string()),
    allowedCidrs: v.array(v.string()),
    deniedDomains: v.array(v.string()),
    deniedCidrs: v.array(v.string()),
    allowInvalidTls: v.boolean(),
  }),
  v.title('TargetPolicy'),
);

const body = jsonBody(targetExpectation, {
  description:
    'The target. In a change, secrets that are left out, or masked as in replies, stay as they are.',
  maxBytes: limits.maxTargetBodyBytes,
});
const badTarget = ['bad_target', 'target_refused', 'not_found', 'secret_changed'] as const;
const badChange = ['document_changed', 'document_too_large', 'too_many_documents'] as const;

/** Where notifications go. No reply shows a secret: neither URLs nor headers, passwords or keys. */
export function targetRoutes(
  { targets, tests, records, policy }: TargetRouteOptions,
  audit: AuditLog,
): Route[] {
  return [
    serviceRoute({
      method: 'GET',
      path: '/api/v1/targets',
      permission: 'target.read',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'List the targets',
        replies: [
          {
            status: 200,
            description: 'All targets by name, each with its members at the top and in `target`.',
            content: jsonContent(v.array(listedSchema)),
          },
        ],
        errors: [],
      },
      handler: ({ tenant }) => jsonReply(targets.list(tenant).map(listed)),
    }),
    serviceRoute({
      method: 'POST',
      path: '/api/v1/targets',
      permission: 'target.manage',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Create a target',
        details: 'With the `id` of a target in the body, that one is replaced.',
        replies: [
          { status: 200, description: 'The target without secrets.', content: jsonContent(maskedSchema) },
        ],
        errors: [...badTarget, ...badChange],
      },
      body,
      handler: async (request, { body: target }) => {
        const from = request.clientAddress();
        const shown = await targets.create(request, target);
        const action = target.id === undefined ? 'target.create' : 'target.change';
        audit.changed(request, from, action, nameOf(shown));
        return reply(shown);
      },
    }),
    serviceRoute({
      method: 'GET',
      path: '/api/v1/targets/{target}',
      permission: 'target.read',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Show a target',
        parameter: targetId,
        replies: [{ status: 200, description: 'Without secrets.', content: jsonContent(listedSchema) }],
        errors: ['not_found'],
      },
      handler: ({ tenant, parameter }) => {
        const shown = targets.get(tenant, idOf(parameter));
        return documentReply(shown.revision, listed(shown));
      },
    }),
    serviceRoute({
      method: 'PUT',
      path: '/api/v1/targets/{target}',
      permission: 'target.manage',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Change a target',
        details: 'Name and type cannot change.',
        parameter: targetId,
        headers: [ifMatchHeader],
        replies: [
          { status: 200, description: 'The target without secrets.', content: jsonContent(maskedSchema) },
        ],
        errors: [...badTarget, ...badChange, 'revision_changed', 'bad_header'],
      },
      body,
      handler: async (request, { body: target }) => {
        const from = request.clientAddress();
        const allowed = allowedRevisions(request.ifMatch);
        const shown = await targets.replace(request, idOf(request.parameter), target, allowed);
        audit.changed(request, from, 'target.change', nameOf(shown));
        return reply(shown);
      },
    }),
    serviceRoute({
      method: 'DELETE',
      path: '/api/v1/targets/{target}',
      permission: 'target.manage',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Delete a target',
        parameter: targetId,
        headers: [ifMatchHeader],
        replies: [
          {
            status: 200,
            description: 'What was deleted, without secrets.',
            content: jsonContent(maskedSchema),
          },
        ],
        errors: ['not_found', 'target_in_use', 'revision_changed', 'document_changed', 'bad_header'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const shown = await targets.delete(
          request,
          idOf(request.parameter),
          allowedRevisions(request.ifMatch),
        );
        audit.changed(request, from, 'target.delete', nameOf(shown));
        return jsonReply(shown.target);
      },
    }),
    serviceRoute({
      method: 'POST',
      path: '/api/v1/targets/{target}/test',
      permission: 'target.manage',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Test a target',
        details:
          'Sends a notification of a made-up alert, once. PagerDuty and Alertmanager are told afterwards that it has resolved.',
        parameter: targetId,
        replies: [
          {
            status: 200,
            description:
              'Whether it arrived, and if not, why. `isRetryable`: a notification of an alert would be tried again.',
            content: jsonContent(
              v.object({
                delivered: v.boolean(),
                isRetryable: v.optional(v.boolean()),
                error: v.optional(errorSchema),
              }),
            ),
          },
        ],
        errors: ['not_found', 'overloaded'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const { tenant } = request;
        const id = idOf(request.parameter);
        const type = targets.typeOf(tenant, id);
        if (type === undefined) throw noDocument('target');
        audit.changed(request, from, 'target.test', id);
        const outcome = await tests.run(tenant, id, type);
        if (outcome.kind === 'delivered') return jsonReply({ delivered: true });
        return jsonReply({ delivered: false, isRetryable: outcome.kind === 'retry', error: outcome.error });
      },
    }),
    serviceRoute({
      method: 'GET',
      path: '/api/v1/targets/{target}/deliveries',
      permission: 'target.manage',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'List the deliveries to a target',
        details: 'Those that wait, the last ones that failed and the last ones that arrived, of each alert.',
        parameter: targetId,
        replies: [
          { status: 200, description: 'Newest first.', content: jsonContent(v.array(deliverySchema)) },
        ],
        errors: ['not_found'],
      },
      handler: ({ tenant, parameter }) => {
        const id = idOf(parameter);
        targets.get(tenant, id);
        return jsonReply(deliveriesOf(records, tenant, id));
      },
    }),
    serviceRoute({
      method: 'POST',
      path: '/api/v1/deliveries/{delivery}/retry',
      permission: 'target.manage',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Repeat a failed delivery',
        details: 'It is tried for another day, under its old id.',
        parameter: documentId('delivery'),
        replies: [{ status: 202, description: 'It waits to be tried.' }],
        errors: ['not_found', 'newer_delivery_waits'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const id = readDocumentId(request.parameter, 'delivery', 'not_found');
        const result = await records.retry(request.tenant, id);
        if (result === 'not_found') throw new AppError('not_found', 'no failed delivery has this id');
        if (result === 'newer_waits') {
          const reason = 'a newer notification of the same alert waits for this target; it tells more';
          throw new AppError('newer_delivery_waits', reason);
        }
        audit.changed(request, from, 'delivery.retry', id);
        return { status: 202, contentType: undefined, body: '' };
      },
    }),
    serviceRoute({
      method: 'GET',
      path: '/api/v1/alert-target-policy',
      permission: 'target.manage',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Show where notifications may go',
        details: 'As the operator has configured it; it is the same for all tenants.',
        replies: [
          { status: 200, description: 'In the form of Parseable.', content: jsonContent(policySchema) },
        ],
        errors: [],
      },
      handler: () => jsonReply(policy),
    }),
    serviceRoute({
      method: 'PUT',
      path: '/api/v1/alert-target-policy',
      permission: 'target.manage',
      dataset: 'none',
      reference: {
        group: 'Notifications',
        summary: 'Refused: the operator decides where notifications may go',
        details: 'Otherwise a tenant could open the network of the operator to itself.',
        replies: [],
        errors: ['target_policy_unchangeable'],
      },
      handler: () => {
        const reason =
          'where notifications may go is decided by the operator, with MILLRACE_TARGET_ALLOWED_NETWORKS and MILLRACE_SMTP_DOMAINS';
        throw new AppError('target_policy_unchangeable', reason);
      },
    }),
  ];
}

const reply = ({ revision, target }: ShownTarget) => documentReply(revision, target);

/** Older clients of Parseable read the members at the top, newer ones in `target`. */
const listed = ({ target, problem }: ShownTarget) => ({
  ...target,
  target,
  enabled: problem === undefined,
  ...(problem === undefined ? {} : { error: problem }),
});

const nameOf = ({ target }: ShownTarget): string => `${target['id']} ${target['name']}`;
