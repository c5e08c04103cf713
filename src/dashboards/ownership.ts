import type { Caller } from '../access/gate.ts';
import { decide } from '../auth/policy.ts';
import { type DocumentKind, isSameOwner, ownerOf, type StoredDocument } from '../documents/document.ts';
import { noDocument } from '../documents/document-store.ts';
import { AppError } from '../errors.ts';

/** Who sees a document: its owner, or everybody in the tenant who may read documents of its kind. */
export const visibilities = ['private', 'tenant'] as const;
export type Visibility = (typeof visibilities)[number];

const isOwn = ({ principal }: Caller, { owner }: StoredDocument): boolean =>
  isSameOwner(ownerOf(principal), owner);

const mayManage = ({ principal }: Caller): boolean => decide(principal, 'document.manage');

/** Whether a document can be seen by a caller. Those who manage documents see private ones, too. */
export const isVisible = (caller: Caller, document: StoredDocument): boolean =>
  document.body['visibility'] !== 'private' || isOwn(caller, document) || mayManage(caller);

/** @throws AppError `not_found` for a private document of somebody else, as for none */
export function requireVisible(caller: Caller, kind: DocumentKind, document: StoredDocument): void {
  if (!isVisible(caller, document)) throw noDocument(kind);
}

/**
 * A document is changed by its owner, and by those who manage the documents of all.
 * @throws AppError `not_found` as `requireVisible`, `forbidden`
 */
export function requireOwner(caller: Caller, kind: DocumentKind, document: StoredDocument): void {
  requireVisible(caller, kind, document);
  if (isOwn(caller, document) || mayManage(caller)) return;
  throw new AppError('forbidden', `this ${kind} belongs to somebody else: this needs document.manage`);
}
