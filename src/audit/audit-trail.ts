import { AppError } from '../errors.ts';
import type { Ingest } from '../ingest/ingest-request.ts';
import { sleep } from '../lib/backoff.ts';
import type { Timers } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import { auditDataset, defaultTenant } from '../model/dataset.ts';

/**
 * One row of the audit relation. What does not apply is empty, so that each column is there
 * from the first row on.
 */
export interface AuditRow {
  readonly audit: string;
  /** The name of what was changed. */
  readonly target: string;
  readonly by_kind: string;
  readonly by_name: string;
  /** Of somebody whose name is not unique. */
  readonly by_id: string;
  /** Client address. */
  readonly address: string;
  readonly method: string;
  readonly route: string;
  readonly code: string;
  readonly reason: string;
  /** Refusals before this one that have no row. */
  readonly left_out: number;
}

export interface AuditTrailOptions {
  readonly ingest: Pick<Ingest, 'write'>;
  /** @throws AppError while the log takes nothing, or its disk has no room for what is new */
  readonly checkRoom: () => void;
  readonly timers: Timers;
  readonly log: Logger;
  /** Told of rows that are lost. */
  readonly onLost: (rows: number) => void;
}

/** Rows about refusals of nobody who is known; those and about other refusals; those and about changes. */
type Kind = 0 | 1 | 2;

/** How many rows of a kind, or of a lesser one, may wait: so a flood of refusals pushes out no change. */
const maxWaiting: Readonly<Record<Kind, number>> = [
  limits.maxWaitingAnonymousDenialRows,
  limits.maxWaitingDenialRows,
  limits.maxWaitingAuditRows,
];

interface Waiting {
  readonly tenant: string;
  readonly line: string;
  readonly kind: Kind;
}

/**
 * The audit trail as a dataset of each tenant, on the way that all events take: log, then store. Rows go
 * there at once, those that come meanwhile together. While the log takes nothing they wait, up to a bound for
 * each kind; what is beyond is counted as lost, and still a line in the service's own log. Nothing that is
 * done here is audited again.
 */
export class AuditTrail {
  readonly #options: AuditTrailOptions;
  readonly #stopping = new AbortController();
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
  }

  /** @param tenant its id; empty for one that does not exist, whose rows are the default tenant's */
  add(tenant: string, row: AuditRow): void {
    const kind = kindOf(row);
    const alike = this.#waiting.filter((each) => each.kind <= kind).length;
    if (alike >= maxWaiting[kind]) {
      this.#options.onLost(1);
      return;
    }
    const line = JSON.stringify(row);
    this.#waiting.push({ tenant: tenant === '' ? defaultTenant : tenant, line, kind });
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Writes what waits, if the log takes it. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#writing;
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    // Rows of one request, of several denials at the same time: together.
    await this.#options.timers.turn();
    while (this.#waiting.length > 0) {
      const tenant = this.#waiting[0]?.tenant ?? '';
      const mine = this.#waiting.filter((row) => row.tenant === tenant);
      const done = await this.#write(tenant, mine.map(({ line }) => line).join('\n'), mine.length);
      const written = new Set(mine);
      if (done) this.#waiting = this.#waiting.filter((row) => !written.has(row));
      else if (this.#stopping.signal.aborted) return;
      else await sleep(limits.auditRetryMs, this.#stopping.signal, this.#options.timers);
    }
  }

  /** @returns false when it may succeed later */
  async #write(tenant: string, lines: string, rows: number): Promise<boolean> {
    const { ingest, checkRoom, log, onLost } = this.#options;
    try {
      checkRoom();
      await ingest.write({
        tenant,
        dataset: auditDataset,
        format: 'ndjson',
        encoding: 'identity',
        body: Buffer.from(lines),
        mustExist: false,
      });
      return true;
    } catch (error) {
      if (error instanceof AppError && error.definition.retryable) return false;
      // A tenant that has been deleted meanwhile takes its trail with it.
      if (error instanceof AppError && error.code === 'tenant_not_found') return true;
      log.error({ err: error, rows }, 'audit rows could not be stored; their lines are in this log');
      onLost(rows);
      return true;
    }
  }
}

const kindOf = ({ audit, by_kind }: AuditRow): Kind => (audit !== 'denied' ? 2 : by_kind === '' ? 0 : 1);
