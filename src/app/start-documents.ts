import { Dashboards } from '../dashboards/dashboards.ts';
import { Favorites } from '../dashboards/favorites.ts';
import { SavedFilters } from '../dashboards/saved-filters.ts';
import { documentKinds } from '../documents/document.ts';
import { DocumentStore } from '../documents/document-store.ts';
import { limits } from '../limits/limits.ts';
import { MetadataCompaction, type Retention } from '../metadata/metadata-compaction.ts';
import type { MetadataKind } from '../metadata/metadata-log.ts';
import type { Query } from '../query/request.ts';
import type { AppContext } from './app-context.ts';
import type { StoreParts } from './start-store.ts';

/**
 * The documents of the metadata log. They are read by the follower of the log (`start-identities.ts`), and
 * removed with their tenant.
 */
export function startDocuments(
  { clock, metrics, log }: AppContext,
  { metadata, tenants, cleaner }: StoreParts,
  query: Pick<Query, 'explain'>,
) {
  const documents = new DocumentStore({
    log: metadata,
    hasEnded: (tenant) => tenants.hasEnded(tenant),
    clock,
    metrics,
  });
  cleaner.add(documents);
  const compaction = new MetadataCompaction({ log: metadata, retentions, timers: clock, logger: log });
  compaction.start();
  const favorites = new Favorites(documents);
  const dashboards = new Dashboards(documents, favorites);
  const filters = new SavedFilters(documents, query);
  return { documents, dashboards, filters, stop: () => compaction.stop() };
}

const ofDocuments: Retention = { values: limits.maxRevisions, minAgeMs: limits.minCompactedDocumentAgeMs };
const ofStates: Retention = { values: 1, minAgeMs: limits.minCompactedStateAgeMs };

/** What is kept of the metadata log. Of identities, datasets and tenants it is all. */
const retentions: ReadonlyMap<MetadataKind, Retention> = new Map<MetadataKind, Retention>([
  ...documentKinds.map((kind) => [kind, ofDocuments] as const),
  ['alertState', ofStates],
  ['lease', ofStates],
]);
