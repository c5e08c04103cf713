/** Numbers the states of what belongs to tenants: a change of one leaves the numbers of the others alone. */
export class TenantVersions {
  readonly #ofTenant = new Map<string, number>();
  #changes = 0;

  /** Another number whenever something of the tenant has changed; never one that it had before, but 0 for nothing. */
  of(tenant: string): number {
    return this.#ofTenant.get(tenant) ?? 0;
  }

  changed(tenant: string): void {
    this.#changes += 1;
    this.#ofTenant.set(tenant, this.#changes);
  }

  /** The tenant has nothing any more, as before its first change. */
  forget(tenant: string): void {
    this.#ofTenant.delete(tenant);
  }
}
