import { AppError } from '../errors.ts';
import { FairExecutor } from '../lib/fair-executor.ts';
import { limits } from '../limits/limits.ts';
import type { MetadataKey, MetadataLog } from '../metadata/metadata-log.ts';
import { MetadataReplica } from '../metadata/metadata-replica.ts';
import { defaultTenant } from '../model/dataset.ts';
import { generationId, parseGenerationId } from '../model/generation.ts';
import { checkTenantName } from '../model/tenant.ts';
import {
  defaultLimits,
  type LimitsInForce,
  type OwnLimits,
  parseOwnLimits,
  showLimits,
  withLimits,
} from '../model/tenant-limits.ts';

export interface Tenant {
  /** The id under which everything of the tenant is stored. */
  readonly id: string;
  readonly name: string;
  /** ISO 8601, UTC; undefined for the default tenant, which nobody created. */
  readonly createdAt: string | undefined;
  /** The limits in which it differs from the configuration. */
  readonly limits: OwnLimits;
}

/** All tenants that have had a name, ignoring case. Only the last one can still exist. */
interface Named extends Tenant {
  /** How many tenants have had the name. */
  readonly generation: number;
  readonly lives: boolean;
}

/** The value of a record. A value that follows another one changes the limits of the same tenant. */
interface TenantValue {
  readonly name: string;
  readonly createdAt: string | undefined;
  readonly limits?: Readonly<Record<string, number | string>>;
}

/**
 * The tenants that exist or have existed, in memory, read from the metadata log.
 *
 * The number in a tenant's id counts the tenants of its name in the order of the log, so that all nodes give
 * a tenant the same id. Names that differ only in case are the same name, since some file systems treat them
 * so. Names are never forgotten: their entries stay in the log.
 */
export class Tenants {
  readonly #replica: MetadataReplica;
  readonly #onEnd: () => void;
  /** By name in lower case. */
  readonly #named = new Map<string, Named>();
  #living = 1;
  readonly #limitsOfAll: LimitsInForce;
  /** The limits of existing tenants that have their own, by id. */
  readonly #limits = new Map<string, LimitsInForce>();
  readonly #changes = new FairExecutor(
    limits.maxPendingChanges,
    'too many changes of tenants are being made at the moment',
    limits.maxChangeWaitMs,
  );

  /**
   * @param onEnd called when a tenant was deleted, on this node or another one; `hasEnded` is true by then
   * @param limitsOfAll the limits of a tenant that has none of its own
   */
  constructor(log: MetadataLog, onEnd: () => void = () => {}, limitsOfAll = defaultLimits) {
    this.#limitsOfAll = limitsOfAll;
    this.#onEnd = onEnd;
    this.#replica = new MetadataReplica(log, ['tenant'], (key, value) => this.#apply(key, value));
    const everlasting = { id: defaultTenant, name: defaultTenant, createdAt: undefined, limits: {} };
    this.#named.set(defaultTenant, { ...everlasting, generation: 1, lives: true });
  }

  get loaded(): boolean {
    return this.#replica.loaded;
  }

  /** The log has been read up to this position. */
  get position(): number {
    return this.#replica.position;
  }

  /**
   * Reads the changes since the last call. The tables of the metadata log must exist.
   * @throws StoreError
   */
  refresh(): Promise<void> {
    return this.#replica.refresh();
  }

  /**
   * The id of the tenant with this name; undefined if there is none.
   * @throws AppError `store_unavailable` if it is not known and the log has not been read
   */
  idOf(name: string): string | undefined {
    const named = this.#named.get(name.toLowerCase());
    if (named?.lives === true && named.name === name) return named.id;
    this.#requireLoaded();
    return undefined;
  }

  /** Whether the tenant was deleted. */
  hasEnded(id: string): boolean {
    const { name, generation } = parseGenerationId(id);
    const named = this.#named.get(name.toLowerCase());
    return named !== undefined && (generation < named.generation || !named.lives);
  }

  /** The limits of a tenant, as far as the log has been read. */
  limitsOf(id: string): LimitsInForce {
    return this.#limits.get(id) ?? this.#limitsOfAll;
  }

  /** Sorted by name. */
  list(): readonly Tenant[] {
    this.#requireLoaded();
    return [...this.#named.values()].filter(({ lives }) => lives).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @throws AppError `tenant_not_found` */
  get(name: string): Tenant {
    const named = this.#named.get(name.toLowerCase());
    if (named?.lives === true && named.name === name) return named;
    this.#requireLoaded();
    checkTenantName(name);
    throw new AppError('tenant_not_found', 'there is no tenant of this name');
  }

  /**
   * Creates a tenant. One that exists stays as it is.
   * @param createdAt ISO 8601, UTC
   * @returns the tenant, and whether it is new
   * @throws AppError `bad_tenant_name`, `tenant_exists`, `too_many_tenants`,
   *   `identity_changed`, `store_unavailable`, `overloaded`
   */
  async create(
    name: string,
    createdAt: string,
  ): Promise<{ readonly tenant: Tenant; readonly made: boolean }> {
    checkTenantName(name);
    return this.#exclusively(name, async () => {
      const there = this.#named.get(name.toLowerCase());
      if (there?.lives === true) {
        if (there.name === name) return { tenant: there, made: false };
        throw new AppError('tenant_exists', `the name ${name} is too similar to the tenant ${there.name}`);
      }
      if (this.#living >= limits.maxTenants) {
        throw new AppError('too_many_tenants', `there are ${this.#living} tenants; no more are allowed`);
      }
      await this.#write(name, JSON.stringify({ name, createdAt }));
      return { tenant: this.get(name), made: true };
    });
  }

  /**
   * Deletes a tenant: from here on nobody can act in it. Its data is removed later (`tenant-cleaner.ts`).
   * @throws AppError `tenant_not_found`, `tenant_unchangeable`, `identity_changed`, `store_unavailable`,
   *   `overloaded`
   */
  async end(name: string): Promise<void> {
    if (name === defaultTenant) {
      throw new AppError('tenant_unchangeable', `the tenant ${name} always exists and cannot be changed`);
    }
    await this.#exclusively(name, async () => {
      this.get(name);
      await this.#write(name, undefined);
    });
  }

  /**
   * Replaces the tenant's own limits.
   * @returns the tenant
   * @throws AppError `tenant_not_found`, `identity_changed`, `store_unavailable`, `overloaded`
   */
  async setLimits(name: string, own: OwnLimits): Promise<Tenant> {
    return this.#exclusively(name, async () => {
      const { createdAt } = this.get(name);
      await this.#write(name, JSON.stringify({ name, createdAt, limits: showLimits(own) }));
      return this.get(name);
    });
  }

  /** One after another on this node, tenants in turn. @throws AppError `overloaded` */
  async #exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#requireLoaded();
    return this.#changes.run(name.toLowerCase(), async () => {
      await this.#replica.catchUp();
      return work();
    });
  }

  async #write(name: string, value: string | undefined): Promise<void> {
    const key = keyOf(name);
    const seen = this.#replica.get(key.tenant, key.kind, key.key);
    if (await this.#replica.change(key, value, seen)) return;
    throw new AppError(
      'identity_changed',
      `somebody else changed the tenant ${name} at the same time; read it again and repeat the change`,
    );
  }

  #apply({ key }: MetadataKey, value: string | undefined): void {
    const before = this.#named.get(key);
    if (before !== undefined) this.#limits.delete(before.id);
    if (value === undefined) {
      if (before === undefined) return;
      this.#named.set(key, { ...before, lives: false });
      this.#living -= 1;
      this.#onEnd();
      return;
    }
    const { name, createdAt, limits: shown = {} } = JSON.parse(value) as TenantValue;
    const own = parseOwnLimits(shown);
    if (before?.lives === true) this.#named.set(key, { ...before, limits: own });
    else {
      const generation = (before?.generation ?? 0) + 1;
      const id = generationId(name, generation);
      this.#named.set(key, { id, name, createdAt, limits: own, generation, lives: true });
      this.#living += 1;
    }
    if (Object.keys(own).length === 0) return;
    this.#limits.set(this.get(name).id, withLimits(this.#limitsOfAll, own, 'tenant'));
  }

  #requireLoaded(): void {
    if (this.loaded) return;
    const reason = 'which tenants there are is not known: the store has not answered since the start';
    throw new AppError('store_unavailable', reason);
  }
}

/** Entries about tenants belong to no tenant. */
const keyOf = (name: string): MetadataKey => ({ tenant: '', kind: 'tenant', key: name.toLowerCase() });
