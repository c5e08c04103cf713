import * as v from 'valibot';
import {
  type AlertAdministration,
  type Changed,
  readAlertFilter,
} from '../../../alerts/alert-administration.ts';
import { alertExpectation } from '../../../alerts/alert-request.ts';
import type { AuditLog, IdentityChange } from '../../../audit/audit-log.ts';
import type { ErrorCode } from '../../../errors.ts';
import { type Expectation, members } from '../../../lib/validation.ts';
import { limits } from '../../../limits/limits.ts';
import { serviceRoute } from '../../server/declare-route.ts';
import { allowedRevisions, documentReply } from '../../server/entity-tag.ts';
import { jsonBody } from '../../server/json-body.ts';
import { queryParameters } from '../../server/query-parameters.ts';
import { jsonReply, type Reply, textReply } from '../../server/reply.ts';
import { jsonContent, textContent, timestamp } from '../../server/reply-content.ts';
import type { AuthorizedRequest, HeaderReference, ReplyReference, Route } from '../../server/route.ts';
import {
  listedRevision,
  revisionOf,
  revisionParameters,
  showRevision,
} from '../dashboards/document-routes.ts';

const alertId = {
  description: 'The id of the alert, a ULID.',
  schema: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
};

const labels = v.record(v.string(), v.string());
const owner = v.object({ kind: v.string(), name: v.string(), id: v.optional(v.string()) });
const mute = v.union([v.literal('notify'), v.object({ mute: v.string() })]);

const alert = v.pipe(
  v.looseObject({
    version: v.literal('v2'),
    id: v.string(),
    title: v.string(),
    severity: v.string(),
    query: v.string(),
    datasets: v.array(v.string()),
    state: v.picklist(['triggered', 'not-triggered', 'disabled']),
    notificationState: mute,
    created: timestamp,
    modified: timestamp,
    owner,
    runsAs: v.pipe(owner, v.description('Who wrote the query last: it runs with their privileges.')),
    revision: v.number(),
    lastTriggeredAt: v.nullable(timestamp),
  }),
  v.title('Alert'),
);
const listed = v.pipe(
  v.looseObject({
    title: v.string(),
    created: v.string(),
    alertType: v.string(),
    notificationState: v.string(),
    id: v.string(),
    severity: v.string(),
    state: v.string(),
    tags: v.optional(v.array(v.string())),
    datasets: v.array(v.string()),
    lastTriggeredAt: v.optional(v.string()),
  }),
  v.title('ListedAlert'),
);
const stateName = v.picklist(['inactive', 'pending', 'firing', 'recovering', 'noData', 'error']);
const instances = v.object({
  state: v.string(),
  problem: v.optional(v.object({ code: v.string(), message: v.string(), since: timestamp })),
  noDataSince: v.optional(timestamp),
  lastEvaluation: v.optional(v.object({ at: timestamp, durationMs: v.number() })),
  instances: v.array(
    v.object({
      fingerprint: v.string(),
      labels,
      annotations: labels,
      state: stateName,
      cause: v.picklist(['value', 'noData', 'error']),
      value: v.optional(v.number()),
      activeAt: timestamp,
      firedAt: v.optional(timestamp),
      recoveringAt: v.optional(timestamp),
      resolvedAt: v.optional(timestamp),
    }),
  ),
});
const history = v.array(
  v.object({
    at: timestamp,
    fingerprint: v.optional(v.string()),
    labels: v.optional(labels),
    from: stateName,
    to: stateName,
    value: v.optional(v.number()),
    reason: v.optional(v.string()),
  }),
);
const preview = v.object({
  evaluatedAt: timestamp,
  from: timestamp,
  to: timestamp,
  state: stateName,
  problem: v.optional(v.object({ code: v.string(), message: v.string() })),
  rows: v.array(v.object({ labels, annotations: labels, value: v.optional(v.number()), holds: v.boolean() })),
  over: v.optional(
    v.object({
      from: timestamp,
      to: timestamp,
      isComplete: v.boolean(),
      stepSeconds: v.number(),
      evaluations: v.number(),
      failures: v.number(),
      firings: v.array(
        v.object({ labels, from: timestamp, to: v.optional(timestamp), value: v.optional(v.number()) }),
      ),
    }),
  ),
});

const muteExpectation: Expectation<{ readonly state: string }> = {
  schema: v.pipe(
    members({
      state: v.pipe(
        v.string(),
        v.description('`notify`, `indefinite`, a duration such as `2h`, or a time in RFC 3339.'),
      ),
    }),
    v.title('NotificationState'),
  ),
  name: '',
  whole: 'the body must be an object: {"state": "2h"}',
  code: 'bad_alert',
};

const body = jsonBody(alertExpectation, {
  description: 'The alert.',
  maxBytes: limits.maxAlertBodyBytes,
  maxMarks: limits.maxDocumentMarks,
  kind: 'an alert',
});

const ifMatch: HeaderReference = {
  name: 'If-Match',
  description: 'The ETag of the revision that may be changed. Without it, any may.',
  schema: v.string(),
};
const whole: ReplyReference = {
  status: 200,
  description: 'The alert.',
  content: jsonContent(alert),
  headers: { ETag: 'The revision of the alert.' },
};
const writeErrors = [
  'revision_changed',
  'document_changed',
  'document_too_large',
  'too_many_documents',
  'overloaded',
] as const satisfies readonly ErrorCode[];
const queryErrors = [
  'sql_syntax',
  'sql_unsupported',
  'sql_unknown_column',
  'sql_unknown_relation',
  'sql_unknown_function',
  'sql_too_large',
  'sql_too_complex',
] as const satisfies readonly ErrorCode[];

const path = '/api/v1/alerts';

/** Alerts. Whether the caller may see or write alerts on the datasets of one is decided there. */
export function alertRoutes(alerts: AlertAdministration, audit: Pick<AuditLog, 'changed'>): Route[] {
  /** A change of one alert that is audited. */
  const changing =
    (
      action: IdentityChange,
      change: (request: AuthorizedRequest, allowed: readonly number[] | undefined) => Promise<Changed>,
    ) =>
    async (request: AuthorizedRequest): Promise<Reply> => {
      const from = request.clientAddress();
      const changed = await change(request, allowedRevisions(request.ifMatch));
      audit.changed(request, from, action, `${changed.alert.id} ${changed.title}`);
      return reply(changed);
    };
  return [
    serviceRoute({
      method: 'GET',
      path,
      permission: 'alert.read',
      dataset: 'none',
      query: queryParameters({
        tags: v.optional(v.pipe(v.string(), v.description('Alerts with one of these tags: `a,b`.'))),
        offset: v.optional(v.string()),
        limit: v.optional(v.pipe(v.string(), v.description('From 1 to 1000; 100 unless given.'))),
      }),
      reference: {
        group: 'Alerts',
        summary: 'List the alerts',
        details:
          'Those whose datasets the caller may read: triggered ones first, then by severity and title. Any other parameter must equal the member of that name.',
        replies: [{ status: 200, description: 'The alerts.', content: jsonContent(v.array(listed)) }],
        errors: [],
      },
      handler: (request) => jsonReply(alerts.list(request, readAlertFilter(request.queryString))),
    }),
    serviceRoute({
      method: 'POST',
      path,
      permission: 'alert.write',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'Create an alert',
        details: 'Its query runs with the privileges that the caller has at the time of each evaluation.',
        replies: [whole],
        errors: ['bad_alert', ...queryErrors, ...writeErrors],
      },
      body,
      handler: async (request, { body: asked }) => {
        const from = request.clientAddress();
        const made = await alerts.create(request, asked, request.signal());
        audit.changed(request, from, 'alert.create', `${made.alert.id} ${made.title}`);
        return reply(made);
      },
    }),
    serviceRoute({
      method: 'GET',
      path: `${path}/list_tags`,
      permission: 'alert.read',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'List the tags of alerts',
        replies: [{ status: 200, description: 'Sorted.', content: jsonContent(v.array(v.string())) }],
        errors: [],
      },
      handler: (request) => jsonReply(alerts.tags(request)),
    }),
    serviceRoute({
      method: 'POST',
      path: `${path}/test`,
      permission: 'alert.write',
      dataset: 'none',
      query: queryParameters({
        over: v.optional(v.pipe(v.string(), v.description('Also evaluate it over this past time: `7d`.'))),
      }),
      reference: {
        group: 'Alerts',
        summary: 'Try an alert',
        details: 'Evaluates it once, as the caller. Nothing is kept, and nothing is sent.',
        replies: [{ status: 200, description: 'What it finds.', content: jsonContent(preview) }],
        errors: ['bad_alert', ...queryErrors, 'overloaded'],
      },
      body,
      handler: async (request, { body: asked, query }) =>
        jsonReply(await alerts.test(request, asked, query.over, request.signal())),
    }),
    serviceRoute({
      method: 'GET',
      path: `${path}/{id}`,
      permission: 'alert.read',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'Show an alert',
        parameter: alertId,
        replies: [whole],
        errors: ['not_found'],
      },
      handler: (request) => reply(alerts.get(request, request.parameter)),
    }),
    serviceRoute({
      method: 'PUT',
      path: `${path}/{id}`,
      permission: 'alert.write',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'Change an alert',
        details: 'The request is the whole alert. It runs as the caller from now on.',
        parameter: alertId,
        headers: [ifMatch],
        replies: [whole],
        errors: ['not_found', 'bad_alert', ...queryErrors, ...writeErrors],
      },
      body,
      handler: async (request, { body: asked }) => {
        const from = request.clientAddress();
        const allowed = allowedRevisions(request.ifMatch);
        const changed = await alerts.replace(request, request.parameter, asked, allowed, request.signal());
        audit.changed(request, from, 'alert.update', `${changed.alert.id} ${changed.title}`);
        return reply(changed);
      },
    }),
    serviceRoute({
      method: 'DELETE',
      path: `${path}/{id}`,
      permission: 'alert.write',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'Delete an alert',
        details: 'What fires is told as resolved.',
        parameter: alertId,
        headers: [ifMatch],
        replies: [{ status: 200, description: 'The alert is deleted.', content: textContent }],
        errors: ['not_found', ...writeErrors],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const { title } = alerts.get(request, request.parameter);
        await alerts.delete(request, request.parameter, allowedRevisions(request.ifMatch));
        audit.changed(request, from, 'alert.delete', `${request.parameter} ${title}`);
        return textReply(`Deleted alert with ID- ${request.parameter}`);
      },
    }),
    serviceRoute({
      method: 'PATCH',
      path: `${path}/{id}/disable`,
      permission: 'alert.write',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'Disable an alert',
        details: 'It is evaluated no more, and what fires is told as resolved.',
        parameter: alertId,
        headers: [ifMatch],
        replies: [whole],
        errors: ['not_found', 'bad_alert', ...writeErrors],
      },
      handler: changing('alert.disable', (request, allowed) =>
        alerts.disable(request, request.parameter, allowed),
      ),
    }),
    serviceRoute({
      method: 'PATCH',
      path: `${path}/{id}/enable`,
      permission: 'alert.write',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'Enable an alert',
        details: 'It is evaluated at once.',
        parameter: alertId,
        headers: [ifMatch],
        replies: [whole],
        errors: ['not_found', 'bad_alert', ...writeErrors],
      },
      handler: changing('alert.enable', (request, allowed) =>
        alerts.enable(request, request.parameter, allowed),
      ),
    }),
    serviceRoute({
      method: 'PATCH',
      path: `${path}/{id}/update_notification_state`,
      permission: 'alert.write',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'Mute an alert',
        details:
          'It is evaluated as before, and nothing is sent until then. What ends meanwhile is told afterwards.',
        parameter: alertId,
        headers: [ifMatch],
        replies: [whole],
        errors: ['not_found', 'bad_alert', ...writeErrors],
      },
      body: jsonBody(muteExpectation, {
        description: 'Until when nothing is sent.',
        maxBytes: limits.maxIdentityBodyBytes,
      }),
      handler: (request, { body: { state } }) =>
        changing('alert.mute', (same, allowed) => alerts.mute(same, same.parameter, state, allowed))(request),
    }),
    serviceRoute({
      method: 'PUT',
      path: `${path}/{id}/evaluate_alert`,
      permission: 'alert.write',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'Evaluate an alert soon',
        parameter: alertId,
        replies: [{ ...whole, description: 'The alert as it was before.' }],
        errors: ['not_found', 'bad_alert', ...writeErrors],
      },
      handler: changing('alert.evaluate', (request) => alerts.evaluate(request, request.parameter)),
    }),
    serviceRoute({
      method: 'GET',
      path: `${path}/{id}/instances`,
      permission: 'alert.read',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'Show the instances of an alert',
        parameter: alertId,
        replies: [
          {
            status: 200,
            description: 'Those that are active, and those that have ended in the last 15 minutes.',
            content: jsonContent(instances),
          },
        ],
        errors: ['not_found'],
      },
      handler: (request) => jsonReply(alerts.instances(request, request.parameter)),
    }),
    serviceRoute({
      method: 'GET',
      path: `${path}/{id}/history`,
      permission: 'alert.read',
      dataset: 'none',
      reference: {
        group: 'Alerts',
        summary: 'Show the history of an alert',
        parameter: alertId,
        replies: [
          { status: 200, description: 'The last transitions, newest first.', content: jsonContent(history) },
        ],
        errors: ['not_found'],
      },
      handler: (request) => jsonReply(alerts.history(request, request.parameter)),
    }),
    serviceRoute({
      method: 'GET',
      path: `${path}/{id}/revisions`,
      permission: 'alert.read',
      dataset: 'none',
      query: revisionParameters,
      reference: {
        group: 'Alerts',
        summary: 'List the revisions of an alert, or show one',
        details: `The last ${limits.maxRevisions} are kept, without those that read a dataset which the caller may not read. To return to one, send it with PUT.`,
        parameter: alertId,
        replies: [
          {
            status: 200,
            description:
              'The revisions, the newest first; or the alert as it was, with the state that it has now.',
            content: jsonContent(v.union([v.array(listedRevision), alert])),
          },
        ],
        errors: ['not_found'],
      },
      handler: async (request, { query: { revision } }) => {
        const revisions = await alerts.revisions(request, request.parameter);
        if (revision === undefined) return jsonReply(revisions.map(showRevision));
        return jsonReply(alerts.showRevision(request, revisionOf(revisions, revision)));
      },
    }),
  ];
}

const reply = ({ revision, alert: shown }: Changed): Reply => documentReply(revision, shown);
