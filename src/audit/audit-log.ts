import type { Caller } from '../access/gate.ts';
import type { AppError, ErrorCode } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import type { Principal } from '../model/identity.ts';
import type { AuditRow } from './audit-trail.ts';
import { DenialBounds, type DenialRates } from './denial-bounds.ts';

/** What administrators do to identities, tenants and datasets, and what people do to their sign-ins. */
export type IdentityChange =
  | 'role.put'
  | 'role.delete'
  | 'role.default'
  | 'user.create'
  | 'user.delete'
  | 'user.password'
  | 'user.roles'
  | 'apikey.create'
  | 'apikey.read'
  | 'apikey.delete'
  | 'session.begin'
  | 'session.end'
  | 'tenant.create'
  | 'tenant.limits'
  | 'tenant.delete'
  | 'backup.create'
  | 'target.create'
  | 'target.change'
  | 'target.delete'
  | 'target.test'
  | 'delivery.retry'
  | 'silence.create'
  | 'silence.change'
  | 'silence.delete'
  | 'dataset.create'
  | 'dataset.delete'
  | 'dataset.limits'
  | 'dataset.retention'
  | 'dashboard.create'
  | 'dashboard.update'
  | 'dashboard.delete'
  | 'filter.create'
  | 'filter.update'
  | 'filter.delete'
  | 'alert.create'
  | 'alert.update'
  | 'alert.delete'
  | 'alert.disable'
  | 'alert.enable'
  | 'alert.mute'
  | 'alert.evaluate';

/** What somebody reads that administrators want to know of. */
export type LargeRead = 'query.export' | 'query.tail';

/** Who was refused, and what. */
export interface Denial {
  /** Undefined when the credentials are not known. */
  readonly principal: Principal | undefined;
  /** Id of the tenant that was named; empty if there is no such one. */
  readonly tenant: string;
  readonly method: string;
  readonly route: string | undefined;
  /** Client address. */
  readonly from: string;
}

/** Where rows of the audit relation go. */
export interface AuditRows {
  add(tenant: string, row: AuditRow): void;
}

/**
 * Who did what to identities, and who was refused what: one line each in the log, and one row in the audit
 * relation. None holds a secret: neither credentials nor what they were tried as.
 *
 * What is said about refusals is bounded, or a flood of bad credentials would slow those who have good ones.
 */
export class AuditLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #trail: AuditRows;
  /** Of those who are known, and of all others: a flood that anybody can send silences nobody else. */
  readonly #bounds = new DenialBounds(knownRates);
  readonly #anonymousBounds = new DenialBounds(anonymousRates);

  constructor(log: Logger, clock: Clock, trail: AuditRows) {
    this.#log = log;
    this.#clock = clock;
    this.#trail = trail;
  }

  /** What was done. `target` is the name of what was changed, or the names of what is read. */
  changed(
    { principal, tenant }: Caller,
    from: string,
    action: IdentityChange | LargeRead,
    target: string,
  ): void {
    this.#log.info({ audit: action, target, by: shown(principal), tenant, from }, 'administration');
    this.#trail.add(tenant, { ...nothing, audit: action, target, ...columns(principal), address: from });
  }

  /**
   * A request that ended with an error. Only refusals that are about who asks are kept.
   * @param describe called for those
   */
  refused(error: AppError, describe: () => Denial): void {
    if (!deniedCodes.has(error.code)) return;
    const { principal, tenant, method, route, from } = describe();
    const bounds = principal === undefined ? this.#anonymousBounds : this.#bounds;
    const leftOut = bounds.admit(tenant, this.#clock.monotonicMs());
    if (leftOut === undefined) return;
    this.#log.warn(
      {
        audit: 'denied',
        code: error.code,
        reason: error.message,
        by: principal && shown(principal),
        tenant: tenant === '' ? undefined : tenant,
        method,
        route,
        from,
        ...(leftOut === 0 ? {} : { leftOut }),
      },
      'denied',
    );
    this.#trail.add(tenant, {
      ...nothing,
      audit: 'denied',
      ...columns(principal),
      address: from,
      method,
      route: route ?? '',
      code: error.code,
      reason: error.message,
      left_out: leftOut,
    });
  }
}

const deniedCodes: ReadonlySet<ErrorCode> = new Set(['forbidden', 'unauthenticated', 'login_failed']);

const knownRates: DenialRates = {
  ofTenant: { burst: limits.maxDenialLinesPerSecond, perSecond: limits.maxDenialLinesPerSecond },
  inAll: { burst: limits.maxDenialLinesPerSecondInAll, perSecond: limits.maxDenialLinesPerSecondInAll },
};
const anonymousRates: DenialRates = {
  ofTenant: {
    burst: limits.maxAnonymousDenialLines,
    perSecond: limits.maxAnonymousDenialLinesPerSecond,
  },
  inAll: {
    burst: limits.maxAnonymousDenialLinesInAll,
    perSecond: limits.maxAnonymousDenialLinesPerSecondInAll,
  },
};

const nothing: AuditRow = {
  audit: '',
  target: '',
  by_kind: '',
  by_name: '',
  by_id: '',
  address: '',
  method: '',
  route: '',
  code: '',
  reason: '',
  left_out: 0,
};

const columns = (principal: Principal | undefined): Pick<AuditRow, 'by_kind' | 'by_name' | 'by_id'> => ({
  by_kind: principal?.kind ?? '',
  by_name: principal?.name ?? '',
  by_id: principal?.id ?? '',
});

const shown = ({ kind, name, id }: Principal): Pick<Principal, 'kind' | 'name' | 'id'> =>
  id === undefined ? { kind, name } : { kind, name, id };
