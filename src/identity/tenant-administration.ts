import type { TenantCleaner } from '../catalog/tenant-cleaner.ts';
import type { Tenant, Tenants } from '../catalog/tenants.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { OwnLimits, TenantLimits } from '../model/tenant-limits.ts';

export interface TenantAdministrationOptions {
  readonly tenants: Tenants;
  readonly cleaner: Pick<TenantCleaner, 'clean'>;
  readonly clock: Clock;
  /** Fulfils when no other node lets in whom this one does not. */
  readonly caughtUp: () => Promise<void>;
  /** False: tenants are neither made nor deleted. */
  readonly multiTenant: boolean;
}

/** Administration of tenants. Callers have checked that it is allowed. */
export class TenantAdministration {
  readonly #options: TenantAdministrationOptions;

  constructor(options: TenantAdministrationOptions) {
    this.#options = options;
  }

  /** By name, in its order; the default tenant among them. */
  list(): readonly Tenant[] {
    return this.#options.tenants.list();
  }

  /** @throws AppError `bad_tenant_name`, `tenant_not_found` */
  get(name: string): Tenant {
    return this.#options.tenants.get(name);
  }

  /**
   * Makes a tenant, with nothing in it; one that is there stays as it is.
   * @returns the tenant, and whether it is new
   * @throws AppError `tenant_not_supported`, and what `Tenants.create` throws
   */
  async create(name: string): Promise<{ readonly tenant: Tenant; readonly made: boolean }> {
    const { tenants, clock } = this.#options;
    this.#requireTenancy();
    return tenants.create(name, new Date(clock.nowMicros() / 1000).toISOString());
  }

  /**
   * What a tenant may have: its own limits, and for the rest what the service was started with.
   * @throws AppError `bad_tenant_name`, `tenant_not_found`
   */
  limits(name: string): TenantLimits {
    const { tenants } = this.#options;
    return tenants.limitsOf(tenants.get(name).id);
  }

  /**
   * Gives a tenant limits of its own, in place of those that it had; the default tenant, too. What is there
   * already stays. Other nodes go by them within a second.
   * @throws what `Tenants.setLimits` throws
   */
  async setLimits(name: string, own: OwnLimits): Promise<TenantLimits> {
    const { tenants } = this.#options;
    return tenants.limitsOf((await tenants.setLimits(name, own)).id);
  }

  /**
   * Deletes a tenant with all that it has: users, keys, roles, datasets, what of it waits in the
   * log. Nobody can act in it, on any node, when this returns. Its database is dropped by then, or
   * later, if the store fails.
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
