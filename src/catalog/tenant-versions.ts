/** A version number per tenant: a change of one tenant leaves the numbers of the others alone. */
export class TenantVersions {
  readonly #ofTenant = new Map<string, number>();

  /** How many changes the tenant has had. */
  of(tenant: string): number {
    return this.#ofTenant.get(tenant) ?? 0;
  }

  changed(tenant: string): void {
    this.#ofTenant.set(tenant, this.of(tenant) + 1);
  }
}
