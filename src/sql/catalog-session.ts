/**
 * Who asks, as far as answers of the catalog depend on it: `current_user`, `current_setting('…')`. Data only.
 */
export interface CatalogSession {
  readonly user: string;
  readonly database: string;
  /** Of the session that asks, as `pg_backend_pid` tells it; 0 where there is none, as over HTTP. */
  readonly processId: number;
  /** In milliseconds since 1970. */
  readonly startedMs: number;
  readonly serviceStartedMs: number;
  readonly clientAddress: string | undefined;
  readonly settings: ReadonlyArray<readonly [name: string, value: string]>;
  /** That the caller may see and end, with the own one; empty where the statement does not ask for them. */
  readonly sessions: readonly VisibleSession[];
}

/** A session as `pg_stat_activity` shows it. Times are in milliseconds since 1970. */
export interface VisibleSession {
  readonly processId: number;
  readonly user: string;
  readonly applicationName: string;
  readonly clientAddress: string | undefined;
  readonly isEncrypted: boolean;
  readonly startedMs: number;
  readonly state: 'active' | 'idle' | 'idle in transaction' | 'idle in transaction (aborted)';
  /** The beginning of the statement that runs, or ran last, without values of parameters. */
  readonly query: string;
  readonly queryStartedMs: number | undefined;
  readonly transactionStartedMs: number | undefined;
  readonly stateChangedMs: number;
}

/** What a statement does beside answering, in the session that runs it. */
export type SessionEffect =
  /** `set_config('…', '…', false)` */
  | {
      readonly kind: 'set';
      readonly name: string;
      readonly value: string | null;
      readonly isLocal: boolean;
    }
  /** `pg_cancel_backend`, `pg_terminate_backend` */
  | { readonly kind: 'cancel' | 'terminate' | 'no such backend'; readonly processId: number };
