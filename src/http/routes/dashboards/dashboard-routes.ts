import * as v from 'valibot';
import type { AuditLog, IdentityChange } from '../../../audit/audit-log.ts';
import {
  dashboardExpectation,
  tags as tagsSchema,
  tileExpectation,
  title as titleSchema,
} from '../../../dashboards/dashboard.ts';
import type { Dashboards, SeenDashboard } from '../../../dashboards/dashboards.ts';
import { AppError } from '../../../errors.ts';
import { openMembers } from '../../../lib/validation.ts';
import { limits } from '../../../limits/limits.ts';
import { serviceRoute } from '../../server/declare-route.ts';
import { allowedRevisions, documentReply } from '../../server/entity-tag.ts';
import { jsonBody, optionalJsonBody } from '../../server/json-body.ts';
import { queryParameters } from '../../server/query-parameters.ts';
import { emptyReply, jsonReply, type Reply } from '../../server/reply.ts';
import { jsonContent, timestamp } from '../../server/reply-content.ts';
import type { AuthorizedRequest, Route } from '../../server/route.ts';
import {
  authorOf,
  documentId,
  etag,
  ifMatchHeader,
  listedRevision,
  listedTime,
  readDocumentId,
  revisionOf,
  revisionParameters,
  showRevision,
} from './document-routes.ts';

export interface DashboardRoutesOptions {
  readonly dashboards: Dashboards;
  readonly audit: AuditLog;
}

const path = '/api/v1/dashboards';
const parameter = documentId('dashboard');

const listed = v.pipe(
  v.object({
    title: v.string(),
    author: v.string(),
    created: v.string(),
    modified: v.string(),
    dashboardId: v.string(),
    tags: v.optional(v.array(v.string())),
    isFavorite: v.boolean(),
  }),
  v.title('ListedDashboard'),
);

const shown = v.pipe(
  openMembers({
    version: v.literal('v1'),
    title: v.string(),
    author: v.string(),
    dashboardId: v.string(),
    created: timestamp,
    modified: timestamp,
    revision: v.number(),
    dashboardType: v.picklist(['Dashboard', 'Report']),
    isFavorite: v.pipe(v.boolean(), v.description('Whether the caller has marked it.')),
    tags: v.nullable(v.array(v.string())),
    tiles: v.array(openMembers({ tile_id: v.string() })),
    visibility: v.picklist(['private', 'tenant']),
    tenantId: v.string(),
  }),
  v.title('Dashboard'),
);
const dashboardReply = {
  status: 200,
  description: 'The dashboard.',
  content: jsonContent(shown),
  headers: etag,
};

const commaSeparated = (text: string): readonly string[] => {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.every((part) => part !== '')) return parts;
  throw new AppError('bad_request', 'the parameter tags must be names with commas between them');
};

const listParameters = queryParameters({
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[1-9]\d{0,5}$/, 'must be a number from 1 on'),
      v.description('How many to list.'),
    ),
  ),
  tags: v.optional(v.pipe(v.string(), v.description('Those with one of these tags: `a,b`.'))),
});

const changeParameters = queryParameters({
  isFavorite: v.optional(
    v.pipe(
      v.picklist(['true', 'false'], 'must be true or false'),
      v.description('Marks the dashboard for the caller, or takes the mark back.'),
    ),
  ),
  tags: v.optional(v.pipe(v.string(), v.description('New tags: `a,b`; empty for none.'))),
  renameTo: v.optional(v.pipe(titleSchema, v.description('A new title.'))),
});

const bodyOptions = {
  maxBytes: limits.maxDocumentBodyBytes,
  maxMarks: limits.maxDocumentMarks,
  kind: 'a dashboard',
};
const changeErrors = ['document_changed', 'document_too_large', 'too_many_documents'] as const;
const updateErrors = [...changeErrors, 'not_found', 'revision_changed', 'bad_header'] as const;

/** Dashboards. All routes that a client of Parseable uses, with revisions. */
export function dashboardRoutes(options: DashboardRoutesOptions): Route[] {
  return [...collectionRoutes(options), ...itemRoutes(options), ...favoriteRoutes(options)];
}

function collectionRoutes({ dashboards, audit }: DashboardRoutesOptions): Route[] {
  return [
    serviceRoute({
      method: 'GET',
      path,
      permission: 'dashboard.read',
      dataset: 'none',
      query: listParameters,
      reference: {
        group: 'Dashboards',
        summary: 'List the dashboards',
        replies: [
          {
            status: 200,
            description: 'Those that the caller may see, the last change first.',
            content: jsonContent(v.array(listed)),
          },
        ],
        errors: [],
      },
      handler: (request, { query: { limit, tags } }) => {
        const question = {
          tags: tags === undefined ? undefined : commaSeparated(tags),
          limit: limit === undefined ? undefined : Number(limit),
        };
        return jsonReply(dashboards.list(request, question).map(showListed));
      },
    }),
    serviceRoute({
      method: 'GET',
      path: `${path}/list_tags`,
      permission: 'dashboard.read',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary: 'List the tags of dashboards',
        replies: [
          {
            status: 200,
            description: 'The tags of all dashboards that the caller may see, sorted.',
            content: jsonContent(v.array(v.string())),
          },
        ],
        errors: [],
      },
      handler: (request) => jsonReply(dashboards.tags(request)),
    }),
    serviceRoute({
      method: 'POST',
      path,
      permission: 'dashboard.write',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary: 'Create a dashboard',
        details:
          'Members that Millrace does not know are kept, of tiles too. The queries of its tiles run as who looks at it.',
        replies: [dashboardReply],
        errors: changeErrors,
      },
      body: jsonBody(dashboardExpectation, { ...bodyOptions, description: 'The dashboard.' }),
      handler: async (request, { body }) => {
        const from = request.clientAddress();
        const seen = await dashboards.create(request, body);
        return audited(audit, request, from, 'dashboard.create', seen);
      },
    }),
  ];
}

function itemRoutes({ dashboards, audit }: DashboardRoutesOptions): Route[] {
  return [
    serviceRoute({
      method: 'GET',
      path: `${path}/{id}`,
      permission: 'dashboard.read',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary: 'Show a dashboard',
        parameter,
        replies: [dashboardReply],
        errors: ['bad_request', 'not_found'],
      },
      handler: (request) => reply(request, dashboards.get(request, idOf(request))),
    }),
    serviceRoute({
      method: 'PUT',
      path: `${path}/{id}`,
      permission: 'dashboard.write',
      dataset: 'none',
      query: changeParameters,
      reference: {
        group: 'Dashboards',
        summary: 'Change a dashboard',
        details:
          'Either the whole dashboard in the body, or parameters without a body. For the owner, and for those with the privilege admin or editor on all datasets; a mark as favourite is for everybody.',
        parameter,
        headers: [ifMatchHeader],
        replies: [dashboardReply],
        errors: updateErrors,
      },
      body: optionalJsonBody(dashboardExpectation, { ...bodyOptions, description: 'The dashboard.' }),
      handler: async (request, { body, query }) => {
        const from = request.clientAddress();
        const allowed = allowedRevisions(request.ifMatch);
        const id = idOf(request);
        const { isFavorite, tags, renameTo } = query;
        const hasParameters = [isFavorite, tags, renameTo].some((each) => each !== undefined);
        if (hasParameters === (body !== undefined)) {
          const reason =
            'send either the dashboard as the body, or the parameters isFavorite, tags, renameTo';
          throw new AppError('bad_request', reason);
        }
        if (body !== undefined) {
          const seen = await dashboards.replace(request, id, body, allowed);
          return audited(audit, request, from, 'dashboard.update', seen);
        }
        if (tags !== undefined || renameTo !== undefined) {
          const change = {
            ...(renameTo === undefined ? {} : { title: renameTo }),
            ...(tags === undefined ? {} : { tags: readTags(tags) }),
          };
          const seen = await dashboards.change(request, id, change, allowed);
          audited(audit, request, from, 'dashboard.update', seen);
        }
        const seen =
          isFavorite === undefined
            ? dashboards.get(request, id)
            : await dashboards.setFavorite(request, id, isFavorite === 'true');
        return reply(request, seen);
      },
    }),
    serviceRoute({
      method: 'PUT',
      path: `${path}/{id}/add_tile`,
      permission: 'dashboard.write',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary: 'Add a tile to a dashboard',
        parameter,
        headers: [ifMatchHeader],
        replies: [dashboardReply],
        errors: updateErrors,
      },
      body: jsonBody(tileExpectation, { ...bodyOptions, kind: 'a tile', description: 'The tile.' }),
      handler: async (request, { body }) => {
        const from = request.clientAddress();
        const allowed = allowedRevisions(request.ifMatch);
        const seen = await dashboards.addTile(request, idOf(request), body, allowed);
        return audited(audit, request, from, 'dashboard.update', seen);
      },
    }),
    serviceRoute({
      method: 'DELETE',
      path: `${path}/{id}`,
      permission: 'dashboard.write',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary: 'Delete a dashboard',
        parameter,
        headers: [ifMatchHeader],
        replies: [{ status: 200, description: 'The dashboard is deleted.' }],
        errors: ['bad_request', 'not_found', 'revision_changed', 'document_changed', 'bad_header'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const allowed = allowedRevisions(request.ifMatch);
        const { id, body } = await dashboards.delete(request, idOf(request), allowed);
        audit.changed(request, from, 'dashboard.delete', `${id} ${body.title}`);
        return emptyReply(200);
      },
    }),
    serviceRoute({
      method: 'GET',
      path: `${path}/{id}/revisions`,
      permission: 'dashboard.read',
      dataset: 'none',
      query: revisionParameters,
      reference: {
        group: 'Dashboards',
        summary: 'List the revisions of a dashboard, or show one',
        details: `The last ${limits.maxRevisions} are kept. To return to one, send it with PUT.`,
        parameter,
        replies: [
          {
            status: 200,
            description: 'The revisions, the newest first; or the dashboard as it was.',
            content: jsonContent(v.union([v.array(listedRevision), shown])),
          },
        ],
        errors: ['not_found'],
      },
      handler: async (request, { query: { revision } }) => {
        const revisions = await dashboards.revisions(request, idOf(request));
        if (revision === undefined) return jsonReply(revisions.map(showRevision));
        const { isFavorite } = dashboards.get(request, idOf(request));
        const dashboard = revisionOf(revisions, revision);
        return jsonReply(show(request, { dashboard, isFavorite }));
      },
    }),
  ];
}

/** The mark is the caller's own, so whoever may see a dashboard may set it. */
function favoriteRoutes({ dashboards }: DashboardRoutesOptions): Route[] {
  return (
    [
      ['PUT', true, 'Mark a dashboard as a favourite'],
      ['DELETE', false, 'Take the mark of a favourite back'],
    ] as const
  ).map(([method, isFavorite, summary]) =>
    serviceRoute({
      method,
      path: `${path}/{id}/favorite`,
      permission: 'dashboard.read',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary,
        details: 'For the caller alone.',
        parameter,
        replies: [dashboardReply],
        errors: ['bad_request', 'not_found', ...changeErrors],
      },
      handler: async (request) =>
        reply(request, await dashboards.setFavorite(request, idOf(request), isFavorite)),
    }),
  );
}

const idOf = ({ parameter: id }: AuthorizedRequest): string => readDocumentId(id, 'dashboard', 'bad_request');

const readTags = (text: string): readonly string[] => {
  const tags = text.trim() === '' ? [] : commaSeparated(text);
  if (v.is(tagsSchema, tags)) return tags;
  const reason = `at most ${limits.maxDocumentTags} tags of ${limits.maxDocumentTagLength} characters are allowed`;
  throw new AppError('bad_request', reason);
};

function audited(
  audit: AuditLog,
  request: AuthorizedRequest,
  from: string,
  change: IdentityChange,
  seen: SeenDashboard,
): Reply {
  const { id, body } = seen.dashboard;
  audit.changed(request, from, change, `${id} ${body.title}`);
  return reply(request, seen);
}

const reply = (request: AuthorizedRequest, seen: SeenDashboard): Reply =>
  documentReply(seen.dashboard.revision, show(request, seen));

function show({ tenant }: AuthorizedRequest, { dashboard, isFavorite }: SeenDashboard) {
  const { id, owner, revision, created, modified, body } = dashboard;
  const { title, dashboardType, tags, tiles, visibility, ...others } = body;
  return {
    version: 'v1',
    title,
    author: authorOf(owner),
    dashboardId: id,
    created,
    modified,
    revision,
    dashboardType,
    isFavorite,
    tags,
    ...others,
    tiles,
    visibility,
    tenantId: tenant,
  };
}

function showListed({ dashboard, isFavorite }: SeenDashboard) {
  const { id, owner, created, modified, body } = dashboard;
  return {
    title: body.title,
    author: authorOf(owner),
    created: listedTime(created),
    modified: listedTime(modified),
    dashboardId: id,
    ...(body.tags === null ? {} : { tags: body.tags }),
    isFavorite,
  };
}
