/** What can be asked for. Each route names one; the policy decides on (principal, action, dataset). */
export type Action =
  | 'ingest'
  | 'query'
  | 'dataset.list'
  | 'dataset.read'
  | 'dataset.manage'
  | 'identity.manage'
  | 'service.read';

export type PrivilegeName = 'admin' | 'writer' | 'reader' | 'ingestor';

/** One entry of a role. Without `dataset` it holds for every dataset of the tenant. */
export interface Privilege {
  readonly privilege: PrivilegeName;
  readonly dataset?: string;
}

/** Who is asking, as far as it was verified. */
export interface Principal {
  readonly kind: 'root' | 'user' | 'apiKey' | 'oidc';
  readonly name: string;
  readonly tenant: string;
  readonly privileges: readonly Privilege[];
}
