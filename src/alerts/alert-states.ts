import type { HasEnded, TenantHolder } from '../catalog/tenant-cleaner.ts';
import { limits } from '../limits/limits.ts';
import type { MetadataKey, MetadataLog } from '../metadata/metadata-log.ts';
import { MetadataReplica } from '../metadata/metadata-replica.ts';
import { emptyNotificationState, type NotificationState } from '../notifications/notification-state.ts';
import type { Instance, InstanceStates, Problem, Transition } from './instance-states.ts';

/** What is known of an alert beside its document. Times in milliseconds since 1970. */
export interface AlertState extends InstanceStates {
  /** The time of the last evaluation that changed something. */
  readonly evaluatedAtMs: number;
  readonly instances: readonly Instance[];
  readonly problem?: Problem;
  readonly noDataSinceMs?: number;
  /** The last ones, oldest first. */
  readonly history: readonly Transition[];
  /** When an instance last began to fire. */
  readonly triggeredAtMs?: number;
  readonly notifications: NotificationState;
}

export const noState: AlertState = {
  evaluatedAtMs: 0,
  instances: [],
  history: [],
  notifications: emptyNotificationState,
};

/** Which alert. */
export interface AlertKey {
  readonly tenant: string;
  readonly id: string;
}

export const nameOf = ({ tenant, id }: AlertKey): string => `${tenant}/${id}`;

/**
 * The states of all alerts, as this node knows them: one record of the metadata log for each, with the
 * alert's id as its key. A record holds the instances and what is to be sent, so both are written in one
 * entry; it is written by the node that evaluates. An entry that was written by another node meanwhile makes
 * a write fail.
 */
export class AlertStates implements TenantHolder {
  readonly #replica: MetadataReplica;
  readonly #states = new Map<string, AlertKey & { readonly state: AlertState }>();

  constructor(log: MetadataLog) {
    this.#replica = new MetadataReplica(
      log,
      ['alertState'],
      (key, value) => this.#apply(key, value),
      'current',
    );
  }

  get loaded(): boolean {
    return this.#replica.loaded;
  }

  /** @throws StoreError */
  refresh(): Promise<void> {
    return this.#replica.refresh();
  }

  /** Like `refresh`, for callers that cannot continue without it. @throws AppError `store_unavailable` */
  catchUp(): Promise<void> {
    return this.#replica.catchUp();
  }

  /** The entry of the log that holds the state; undefined if there is none. */
  versionOf({ tenant, id }: AlertKey): string | undefined {
    return this.#replica.get(tenant, 'alertState', id)?.version;
  }

  /** `noState` if there is none. */
  get(key: AlertKey): AlertState {
    return this.#states.get(nameOf(key))?.state ?? noState;
  }

  has(key: AlertKey): boolean {
    return this.#states.has(nameOf(key));
  }

  /** All alerts that have a state. */
  keys(): readonly AlertKey[] {
    return [...this.#states.values()];
  }

  /** The alerts of a tenant that have a state. */
  keysOf(tenant: string): readonly AlertKey[] {
    return [...this.#states.values()].filter((each) => each.tenant === tenant);
  }

  /**
   * Writes the state of an alert, or ends it.
   * @returns what was written; false if another node was first
   * @throws AppError `store_unavailable`; it may have been written
   */
  async write({ tenant, id }: AlertKey, state: AlertState | undefined): Promise<boolean> {
    const seen = this.#replica.get(tenant, 'alertState', id);
    const text = state && JSON.stringify(withinLength(state));
    return this.#replica.change({ tenant, kind: 'alertState', key: id }, text, seen);
  }

  forgetEnded(hasEnded: HasEnded): void {
    for (const [name, { tenant }] of this.#states) if (hasEnded(tenant)) this.#states.delete(name);
    this.#replica.forget(hasEnded);
  }

  #apply({ tenant, key: id }: MetadataKey, value: string | undefined): void {
    const name = nameOf({ tenant, id });
    if (value === undefined) this.#states.delete(name);
    else this.#states.set(name, { tenant, id, state: JSON.parse(value) as AlertState });
  }
}

/** With fewer transitions if it is too long; what is still to be sent is never left out. */
export function withinLength(state: AlertState): AlertState {
  const history = state.history.slice(-limits.maxAlertTransitions);
  const bounded = history.length === state.history.length ? state : { ...state, history };
  const excess = JSON.stringify(bounded).length - limits.maxAlertStateLength;
  if (excess <= 0) return bounded;
  let freed = 0;
  let from = 0;
  while (freed < excess && from < history.length) {
    freed += JSON.stringify(history[from]).length + 1;
    from += 1;
  }
  return { ...bounded, history: history.slice(from) };
}
