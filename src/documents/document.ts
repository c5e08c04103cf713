import type { Principal } from '../model/identity.ts';

/** What is kept as documents. `favorites` are the dashboards that one person marked. */
export const documentKinds = ['dashboard', 'filter', 'alert', 'target', 'silence', 'favorites'] as const;
export type DocumentKind = (typeof documentKinds)[number];

/** Who made a document. */
export type Owner = Pick<Principal, 'kind' | 'name' | 'id'>;

/** The content of a document: JSON. Members that nobody here knows are kept. */
export type DocumentBody = Readonly<Record<string, unknown>>;

/** A document at one revision. Never changed: another revision is another object. */
export interface StoredDocument<Body extends DocumentBody = DocumentBody> {
  /** A ULID; of favourites the key of the person. */
  readonly id: string;
  readonly owner: Owner;
  /** Counts the changes, from 1. */
  readonly revision: number;
  /** ISO 8601 with milliseconds, UTC. */
  readonly created: string;
  readonly modified: string;
  /** Who made this revision. */
  readonly modifiedBy: Owner;
  readonly body: Body;
}

export const ownerOf = ({ kind, name, id }: Principal): Owner =>
  id === undefined ? { kind, name } : { kind, name, id };

/** Identifies a person or API key within a tenant. */
export const ownerKey = ({ kind, name, id }: Owner): string => `${kind}:${id ?? name}`;

/** Whether two are the same person or API key, in the same tenant. */
export const isSameOwner = (one: Owner, other: Owner): boolean => ownerKey(one) === ownerKey(other);
