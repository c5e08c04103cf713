/** What a request does. Each route names one action; the policy decides on (principal, action, dataset). */
export const actions = [
  'ingest',
  'query',
  'query.export',
  'dataset.list',
  'dataset.read',
  'dataset.manage',
  'identity.manage',
  'identity.self',
  'tenant.manage',
  'backup.manage',
  'dashboard.read',
  'dashboard.write',
  'filter.read',
  'filter.write',
  'alert.read',
  'alert.write',
  'target.read',
  'target.manage',
  'document.manage',
  'service.read',
] as const;
export type Action = (typeof actions)[number];

export const privilegeNames = ['admin', 'editor', 'writer', 'reader', 'ingestor', 'exporter'] as const;
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
  /** Restricts a reader to the rows with this tag. */
  readonly tag?: Tag;
}

/** The rows of a dataset that a principal may read. With tags: the rows that have at least one of them. */
export type ReadableRows = 'none' | 'all' | readonly Tag[];

/** The verified sender of a request. */
export interface Principal {
  readonly kind: 'root' | 'user' | 'apiKey' | 'oidc';
  readonly name: string;
  /** Set if the name is not unique. */
  readonly id?: string;
  /** The id of its tenant. The root administrator acts in all tenants. */
  readonly tenant: string;
  readonly privileges: readonly Privilege[];
}
