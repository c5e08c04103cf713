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
}

/** What a statement does to the session that runs it: `set_config('…', '…', false)`. */
export interface SettingChange {
  readonly name: string;
  readonly value: string | null;
  readonly isLocal: boolean;
}
