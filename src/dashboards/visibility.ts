import type { Caller } from '../access/gate.ts';
import type { DocumentKind, StoredDocument } from '../documents/document.ts';
import { noDocument } from '../documents/document-store.ts';
import { mayChange, requireOwner } from '../documents/ownership.ts';

/** Who sees a document: its owner, or everybody in the tenant who may read documents of its kind. */
export const visibilities = ['private', 'tenant'] as const;
export type Visibility = (typeof visibilities)[number];

/** Whether a document can be seen by a caller. Those who manage documents see private ones, too. */
export const isVisible = (caller: Caller, document: StoredDocument): boolean =>
  document.body['visibility'] !== 'private' || mayChange(caller, document);

/** @throws AppError `not_found` for a private document of somebody else, as for none */
export function requireVisible(caller: Caller, kind: DocumentKind, document: StoredDocument): void {
  if (!isVisible(caller, document)) throw noDocument(kind);
}

/** @throws AppError `not_found` as `requireVisible`, `forbidden` as `requireOwner` */
export function requireVisibleOwner(caller: Caller, kind: DocumentKind, document: StoredDocument): void {
  requireVisible(caller, kind, document);
  requireOwner(caller, kind, document);
}
