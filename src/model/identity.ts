/** What can be asked for. Each route names one; the policy decides on (principal, action, dataset). */
export type Action =
  | 'ingest'
  | 'query'
  | 'dataset.list'
  | 'dataset.read'
  | 'dataset.manage'
  | 'identity.manage'
  | 'tenant.manage'
  | 'service.read';

export const privilegeNames = ['admin', 'writer', 'reader', 'ingestor'] as const;
export type PrivilegeName = (typeof privilegeNames)[number];

/** Rows whose field has this value. */
export interface Tag {
  readonly field: string;
  readonly value: string;
}

/** One entry of a role. Without `dataset` it holds for every dataset of the tenant. */
export interface Privilege {
  readonly privilege: PrivilegeName;
  readonly dataset?: string;
  /** Narrows a reader to these rows. */
  readonly tag?: Tag;
}

/** The rows of a dataset that somebody may read: those that carry at least one of the tags, where there are tags. */
export type ReadableRows = 'none' | 'all' | readonly Tag[];

/** Who is asking, as far as it was verified. */
export interface Principal {
  readonly kind: 'root' | 'user' | 'apiKey' | 'oidc';
  readonly name: string;
  /** Of somebody whose name is not unique. */
  readonly id?: string;
  /** Id of the tenant that it belongs to. The root administrator acts in all. */
  readonly tenant: string;
  readonly privileges: readonly Privilege[];
}
