import type { TenantCleaner } from '../catalog/tenant-cleaner.ts';
import type { Tenant, Tenants } from '../catalog/tenants.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { OwnLimits, TenantLimits } from '../model/tenant-limits.ts';

export interface TenantAdministrationOptions {
  readonly tenants: Tenants;
  readonly cleaner: Pick<TenantCleaner, 'clean'>;
  readonly clock: Clock;
  /** Fulfils when every other node has read what this node has read, or no longer answers requests. */
  readonly caughtUp: () => Promise<void>;
  /** If false, tenants can be neither created nor deleted. */
  readonly multiTenant: boolean;
}

/** Administration of tenants. Callers check first that the principal may do it. */
export class TenantAdministration {
  readonly #options: TenantAdministrationOptions;

  constructor(options: TenantAdministrationOptions) {
    this.#options = options;
  }

  /** All tenants, the default one included, sorted by name. */
  list(): readonly Tenant[] {
    return this.#options.tenants.list();
  }

  /** @throws AppError `bad_tenant_name`, `tenant_not_found` */
  get(name: string): Tenant {
    return this.#options.tenants.get(name);
  }

  /**
   * Creates an empty tenant. An existing one stays as it is.
   * @returns the tenant, and whether it is new
   * @throws AppError `tenant_not_supported`, and what `Tenants.create` throws
   */
  async create(name: string): Promise<{ readonly tenant: Tenant; readonly made: boolean }> {
    const { tenants, clock } = this.#options;
    this.#requireTenancy();
    return tenants.create(name, new Date(clock.nowMicros() / 1000).toISOString());
  }

  /**
   * The limits of a tenant: its own, and the defaults of the configuration for the others.
   * @throws AppError `bad_tenant_name`, `tenant_not_found`
   */
  limits(name: string): TenantLimits {
    const { tenants } = this.#options;
    return tenants.limitsOf(tenants.get(name).id);
  }

  /**
   * Replaces the limits of a tenant, which may be the default one. What already exceeds them stays. Other
   * nodes apply them within a second.
   * @throws what `Tenants.setLimits` throws
   */
  async setLimits(name: string, own: OwnLimits): Promise<TenantLimits> {
    const { tenants } = this.#options;
    return tenants.limitsOf((await tenants.setLimits(name, own)).id);
  }

  /**
   * Deletes a tenant with its users, keys, roles and datasets, and its rows that are still in the log. When
   * this returns, no node accepts requests for it. Its database is dropped too; if the store fails, that
   * happens later.
   * @throws AppError `tenant_not_supported`, and what `Tenants.end` throws
   */
  async delete(name: string): Promise<void> {
    const { tenants, cleaner, caughtUp } = this.#options;
    this.#requireTenancy();
    await tenants.end(name);
    await caughtUp();
    await cleaner.clean();
  }

  #requireTenancy(): void {
    if (this.#options.multiTenant) return;
    throw new AppError(
      'tenant_not_supported',
      'tenants can be created and deleted only with MILLRACE_MULTI_TENANT=true',
    );
  }
}
