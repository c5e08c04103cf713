import { AppError } from '../errors.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits/limits.ts';
import type { Reservation } from './ingest-request.ts';

export interface AdmissionOptions {
  readonly metrics: Metrics;
  /** Whether tenants share the memory, so that none may take all of it. */
  readonly shared: boolean;
}

/**
 * Bounds the memory of requests in progress. The bytes of a body are reserved before they are read and
 * released when the request ends, so a slow disk or store leads to 503 and not to a growing heap.
 *
 * If tenants share the memory, no tenant may hold more than is left free: one alone gets at most half, and n
 * tenants that ask for as much as they can get each receive one part in n + 1. Some memory is thus always
 * left for the next tenant. (The dynamic threshold of Choudhury and Hahne, "Dynamic queue length thresholds
 * for shared-memory packet switches", with a factor of 1.)
 */
export class Admission {
  readonly #metrics: Metrics;
  readonly #shared: boolean;
  #bytes = 0;
  /** Reserved bytes of each tenant with requests in progress, if tenants share the memory. */
  readonly #byTenant = new Map<string, number>();
  #closed = false;

  constructor({ metrics, shared }: AdmissionOptions) {
    this.#metrics = metrics;
    this.#shared = shared;
  }

  /** @throws AppError `overloaded`, `shutting_down` */
  reserve(tenant: string, bodyBytes: number): Reservation {
    if (this.#closed) throw new AppError('shutting_down', 'the service is shutting down');
    this.#requireRoom(tenant, bodyBytes);
    this.#add(tenant, bodyBytes);
    let held = true;
    return {
      release: () => {
        if (held) this.#add(tenant, -bodyBytes);
        held = false;
      },
    };
  }

  close(): void {
    this.#closed = true;
  }

  #requireRoom(tenant: string, bytes: number): void {
    const allowed = limits.maxInflightBodyBytes;
    const free = allowed - this.#bytes - bytes;
    if (free < 0) {
      const taken = `${this.#bytes} bytes of other requests are under way`;
      throw new AppError('overloaded', `${taken}; at most ${allowed} are allowed`);
    }
    if (!this.#shared || this.#of(tenant) + bytes <= free) return;
    const taken = `${this.#of(tenant)} bytes of other requests of the tenant are in progress`;
    throw new AppError(
      'overloaded',
      `${taken}; it may use no more of ${allowed} than it leaves free for others`,
    );
  }

  #of(tenant: string): number {
    return this.#byTenant.get(tenant) ?? 0;
  }

  #add(tenant: string, bytes: number): void {
    this.#bytes += bytes;
    this.#metrics.inflightBodyBytes.set(this.#bytes);
    if (!this.#shared) return;
    const ofTenant = this.#of(tenant) + bytes;
    if (ofTenant === 0) this.#byTenant.delete(tenant);
    else this.#byTenant.set(tenant, ofTenant);
  }
}
