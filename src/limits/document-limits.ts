/** The part of `limits` for documents: dashboards, filters, alerts, targets and silences. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const documentLimits = {
  /** One document as JSON, in characters. A dashboard of 100 tiles with long queries has 60 KiB. */
  maxDocumentLength: 256 * KiB,
  /** The body of a request that writes a document: the same with blanks between its members. */
  maxDocumentBodyBytes: 1024 * KiB,
  /** Commas and opening brackets of such a body: parsing them takes 2 ms. */
  maxDocumentMarks: 50_000,
  /** How deep the members of a document are nested: V8 writes JSON recursively. */
  maxDocumentDepth: 64,
  /** Names, titles and tags: they stand in lists. */
  maxDocumentTitleLength: 500,
  maxDocumentTags: 100,
  maxDocumentTagLength: 100,
  /** Tiles of a dashboard: whoever looks at it runs as many queries. */
  maxTilesPerDashboard: 200,
  /** Conditions of a filter, in one group and of groups. */
  maxFilterConditions: 200,
  /** Documents of a tenant. Each node holds them in memory, and lists are made of all of them. */
  maxDashboardsPerTenant: 1000,
  maxFiltersPerTenant: 5000,
  maxAlertsPerTenant: 1000,
  maxTargetsPerTenant: 200,
  maxSilencesPerTenant: 1000,
  /** Lists of favourites: one for each person who has any. */
  maxFavoritesPerTenant: 10_000,
  /** All documents of a tenant together, in characters. */
  maxDocumentsLengthPerTenant: 32 * MiB,
  /** How often a change is tried again on a newer revision, if other nodes keep changing the document. */
  maxDocumentAttempts: 8,
  /** Earlier revisions of a document that can be read, with the current one. */
  maxRevisions: 20,
} as const;
