import * as v from 'valibot';
import type { AuditLog, IdentityChange } from '../../../audit/audit-log.ts';
import { filterExpectation, type SavedFilter } from '../../../dashboards/saved-filter.ts';
import type { SavedFilters } from '../../../dashboards/saved-filters.ts';
import { openMembers } from '../../../lib/validation.ts';
import { limits } from '../../../limits/limits.ts';
import { serviceRoute } from '../../server/declare-route.ts';
import { allowedRevisions, documentReply } from '../../server/entity-tag.ts';
import { jsonBody } from '../../server/json-body.ts';
import { emptyReply, jsonReply, type Reply } from '../../server/reply.ts';
import { jsonContent } from '../../server/reply-content.ts';
import type { AuthorizedRequest, Route } from '../../server/route.ts';
import {
  authorOf,
  documentId,
  etag,
  ifMatchHeader,
  listedRevision,
  readDocumentId,
  revisionOf,
  revisionParameters,
  showRevision,
} from './document-routes.ts';

export interface FilterRoutesOptions {
  readonly filters: SavedFilters;
  readonly audit: AuditLog;
}

const path = '/api/v1/filters';
const parameter = documentId('filter');

const shown = v.pipe(
  openMembers({
    version: v.literal('v2'),
    user_id: v.pipe(v.string(), v.description('The name of its owner.')),
    stream_name: v.string(),
    filter_name: v.string(),
    filter_id: v.string(),
    revision: v.number(),
    visibility: v.picklist(['private', 'tenant']),
    tenant_id: v.string(),
  }),
  v.title('Filter'),
);
const filterReply = {
  status: 200,
  description: 'The filter.',
  content: jsonContent(shown),
  headers: etag,
};

const body = jsonBody(filterExpectation, {
  description: 'The filter.',
  maxBytes: limits.maxDocumentBodyBytes,
  maxMarks: limits.maxDocumentMarks,
  kind: 'a filter',
});

const writeErrors = [
  'bad_dataset_name',
  'sql_syntax',
  'sql_unsupported',
  'sql_unknown_relation',
  'sql_unknown_column',
  'document_changed',
  'document_too_large',
  'too_many_documents',
] as const;

/** Saved filters. All routes that a client of Parseable uses, with revisions. */
export function filterRoutes({ filters, audit }: FilterRoutesOptions): Route[] {
  const audited = (
    request: AuthorizedRequest,
    from: string,
    change: IdentityChange,
    filter: SavedFilter,
  ): Reply => {
    audit.changed(request, from, change, `${filter.id} ${filter.body.content.filter_name}`);
    return reply(request, filter);
  };
  return [
    serviceRoute({
      method: 'GET',
      path,
      permission: 'filter.read',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary: 'List the saved filters',
        replies: [
          {
            status: 200,
            description: 'Those whose datasets the caller may query, the oldest first.',
            content: jsonContent(v.array(shown)),
          },
        ],
        errors: [],
      },
      handler: (request) => listReply(request, filters.list(request)),
    }),
    serviceRoute({
      method: 'POST',
      path,
      permission: 'filter.write',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary: 'Save a filter',
        details: 'Needs the privilege on each dataset that the filter reads.',
        replies: [filterReply],
        errors: writeErrors,
      },
      body,
      handler: async (request, { body: content }) => {
        const from = request.clientAddress();
        const filter = await filters.create(request, content, request.signal());
        return audited(request, from, 'filter.create', filter);
      },
    }),
    serviceRoute({
      method: 'GET',
      path: `${path}/{id}`,
      permission: 'filter.read',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary: 'Show a saved filter',
        parameter,
        replies: [filterReply],
        errors: ['not_found'],
      },
      handler: (request) => reply(request, filters.get(request, idOf(request))),
    }),
    serviceRoute({
      method: 'PUT',
      path: `${path}/{id}`,
      permission: 'filter.write',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary: 'Replace a saved filter',
        details: 'For its owner, and for those with the privilege admin or editor on all datasets.',
        parameter,
        headers: [ifMatchHeader],
        replies: [filterReply],
        errors: [...writeErrors, 'not_found', 'revision_changed', 'bad_header'],
      },
      body,
      handler: async (request, { body: content }) => {
        const from = request.clientAddress();
        const allowed = allowedRevisions(request.ifMatch);
        const filter = await filters.replace(request, idOf(request), content, request.signal(), allowed);
        return audited(request, from, 'filter.update', filter);
      },
    }),
    serviceRoute({
      method: 'DELETE',
      path: `${path}/{id}`,
      permission: 'filter.write',
      dataset: 'none',
      reference: {
        group: 'Dashboards',
        summary: 'Delete a saved filter',
        parameter,
        headers: [ifMatchHeader],
        replies: [{ status: 200, description: 'The filter is deleted.' }],
        errors: ['not_found', 'revision_changed', 'document_changed', 'bad_header'],
      },
      handler: async (request) => {
        const from = request.clientAddress();
        const filter = await filters.delete(request, idOf(request), allowedRevisions(request.ifMatch));
        audited(request, from, 'filter.delete', filter);
        return emptyReply(200);
      },
    }),
    serviceRoute({
      method: 'GET',
      path: `${path}/{id}/revisions`,
      permission: 'filter.read',
      dataset: 'none',
      query: revisionParameters,
      reference: {
        group: 'Dashboards',
        summary: 'List the revisions of a saved filter, or show one',
        details: `The last ${limits.maxRevisions} are kept.`,
        parameter,
        replies: [
          {
            status: 200,
            description: 'The revisions, the newest first; or the filter as it was.',
            content: jsonContent(v.union([v.array(listedRevision), shown])),
          },
        ],
        errors: ['not_found'],
      },
      handler: async (request, { query: { revision } }) => {
        const revisions = await filters.revisions(request, idOf(request));
        if (revision === undefined) return jsonReply(revisions.map(showRevision));
        return jsonReply(show(request, revisionOf(revisions, revision)));
      },
    }),
  ];
}

const idOf = ({ parameter: id }: AuthorizedRequest): string => readDocumentId(id, 'filter', 'not_found');

/** Filters as JSON, kept while they are in force: a list of all can have many MiB. */
const written = new WeakMap<SavedFilter, Uint8Array>();

function writtenOf(request: AuthorizedRequest, filter: SavedFilter): Uint8Array {
  const known = written.get(filter);
  if (known !== undefined) return known;
  const bytes = Buffer.from(JSON.stringify(show(request, filter)));
  written.set(filter, bytes);
  return bytes;
}

const open = Buffer.from('[');
const comma = Buffer.from(',');
const close = Buffer.from(']');

function listReply(request: AuthorizedRequest, listed: readonly SavedFilter[]): Reply {
  const parts = listed.flatMap((filter, index) => [index === 0 ? open : comma, writtenOf(request, filter)]);
  const body = Buffer.concat(parts.length === 0 ? [open, close] : [...parts, close]);
  return { status: 200, contentType: 'application/json', body: [body] };
}

const reply = (request: AuthorizedRequest, filter: SavedFilter): Reply =>
  documentReply(filter.revision, show(request, filter));

function show({ tenant }: AuthorizedRequest, { id, owner, revision, body: kept }: SavedFilter) {
  return {
    version: 'v2',
    user_id: authorOf(owner),
    ...kept.content,
    filter_id: id,
    revision,
    visibility: kept.visibility,
    tenant_id: tenant,
  };
}
