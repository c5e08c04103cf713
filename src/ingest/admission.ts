import { AppError } from '../errors.ts';
import type { Metrics } from '../lib/metrics.ts';
import { limits } from '../limits.ts';
import type { Reservation } from './request.ts';

export interface AdmissionOptions {
  readonly metrics: Metrics;
  /** What one tenant may take of `limits.maxInflightBodyBytes`. */
  readonly maxTenantBytes?: number;
}

/**
 * Bounds the memory of requests under way: a body's bytes are reserved before they are read and given back
 * when the request has ended, so that a slow disk or store turns into 503 and never into a growing heap.
 *
 * One of several tenants gets a part of the room, so that there is some for the others whatever it sends.
 */
export class Admission {
  readonly #metrics: Metrics;
  readonly #maxTenantBytes: number;
  #bytes = 0;
  /** Of those that have requests under way. */
  readonly #byTenant = new Map<string, number>();
  #closed = false;

  constructor({ metrics, maxTenantBytes = limits.maxInflightBodyBytes }: AdmissionOptions) {
    this.#metrics = metrics;
    this.#maxTenantBytes = maxTenantBytes;
  }

  /** @throws AppError `overloaded`, `shutting_down` */
  reserve(tenant: string, bodyBytes: number): Reservation {
    if (this.#closed) throw new AppError('shutting_down', 'the service is shutting down');
    requireRoom(this.#bytes, bodyBytes, limits.maxInflightBodyBytes, 'other requests');
    requireRoom(this.#of(tenant), bodyBytes, this.#maxTenantBytes, 'other requests of the tenant');
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

  #of(tenant: string): number {
    return this.#byTenant.get(tenant) ?? 0;
  }

  #add(tenant: string, bytes: number): void {
    this.#bytes += bytes;
    const ofTenant = this.#of(tenant) + bytes;
    if (ofTenant === 0) this.#byTenant.delete(tenant);
    else this.#byTenant.set(tenant, ofTenant);
    this.#metrics.inflightBodyBytes.set(this.#bytes);
  }
}

function requireRoom(taken: number, bytes: number, allowed: number, whose: string): void {
  if (taken + bytes <= allowed) return;
  throw new AppError(
    'overloaded',
    `${taken} bytes of ${whose} are under way; at most ${allowed} are allowed`,
  );
}
