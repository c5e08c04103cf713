import type { Caller } from '../access/gate.ts';
import { decide } from '../auth/policy.ts';
import { AppError } from '../errors.ts';
import { type DocumentKind, isSameOwner, ownerOf, type StoredDocument } from './document.ts';

/** A document is changed by its owner, and by those who manage the documents of all. */
export const mayChange = ({ principal }: Caller, { owner }: StoredDocument): boolean =>
  isSameOwner(ownerOf(principal), owner) || decide(principal, 'document.manage');

/** @throws AppError `forbidden` unless the caller may change the document */
export function requireOwner(caller: Caller, kind: DocumentKind, document: StoredDocument): void {
  if (mayChange(caller, document)) return;
  throw new AppError('forbidden', `this ${kind} belongs to somebody else: this needs document.manage`);
}
