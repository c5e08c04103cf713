import { DocumentStore } from '../documents/document-store.ts';
import type { AppContext } from './app-context.ts';
import type { StoreParts } from './start-store.ts';

/**
 * The documents of the metadata log. They are read by the follower of the log (`start-identities.ts`), and
 * removed with their tenant.
 */
export function startDocuments({ clock }: AppContext, { metadata, tenants, cleaner }: StoreParts) {
  const documents = new DocumentStore({
    log: metadata,
    hasEnded: (tenant) => tenants.hasEnded(tenant),
    clock,
  });
  cleaner.add(documents);
  return { documents };
}
