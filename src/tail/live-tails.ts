/**
 * Live tails: the rows of a dataset that meet a condition, sent to clients as they arrive in the store. This
 * is the specification.
 *
 * ## What a client sees
 *
 * - Rows in the order of arrival (`insert-numbers.ts`), from the moment when the tail begins, or behind the
 *   row of the id that the client gives. Each acknowledged row once, unless it is counted as skipped.
 * - At most `limits.maxTailRows` rows in an interval; further ones are counted as skipped. So are those that
 *   pass by while the client does not read.
 *
 * ## Groups
 *
 * Tails of one selection share their queries: the same dataset, condition and rate, asked by principals of
 * the same privileges. A group has one position, and its tails are there, too, but for those that resume.
 *
 *     idle ── a tick, something may have arrived ──▶ queued ──▶ reading ──▶ idle, behind what was read
 *                                                       │          │
 *                                                       └──────────┴─ failed ──▶ idle, where it was, or
 *                                                                     behind all, counted as skipped
 *
 * - A tick comes each `limits.tailIntervalMs`, as long as there are tails. It asks who may still read, and
 *   with one statement what the newest insert of each table is, whichever node made it.
 * - One group reads at a time, of all tenants, and tenants take turns. A group that is not idle takes no part
 *   in a tick. So the tails take one connection of queries at most.
 * - A tail that resumes first gets what lies between its position and that of the group, once, as much as an
 *   interval allows; then it is at the position of the group.
 * - A query that fails in a way that may pass leaves the position; one that takes too long or too much is not
 *   tried again: its range counts as skipped, uncounted. Any other failure ends the tails of the group.
 *
 * ## What ends a tail
 *
 * Each tick asks the gate again with what the client presented: credential, tenant, permission. Who may read
 * no more is told why, and the connection ends; so it is when the dataset is deleted or the service stops.
 * Where the privileges are others than before, the tail goes on in the group of these, at its position.
 * While the answer is "not now" (the lease has run out, the store is away), nothing is sent. When the last
 * client of a group leaves, its query is cancelled.
 *
 * ## What a crash finds
 *
 * Nothing: the position is with the client, in the id of the last event that it has read.
 */
import type { CatalogView, DatasetInfo } from '../catalog/dataset-entry.ts';
import type { Store } from '../clickhouse/store.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import { Cancellation, type CancelSignal } from '../lib/cancellation.ts';
import type { Timers } from '../lib/clock.ts';
import { quotedName } from '../lib/credential-shape.ts';
import { FairExecutor } from '../lib/fair-executor.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { Multiset } from '../lib/multiset.ts';
import { limits } from '../limits/limits.ts';
import { countedTable, databaseOf, physicalTable } from '../model/dataset.ts';
import type { Principal } from '../model/identity.ts';
import type { QueryServiceParts } from '../query/query-service.ts';
import type { ArrivalQuery } from '../query/request.ts';
import { InsertNumbers, type TailedTable } from './insert-numbers.ts';
import { type Arrivals, readArrivals } from './read-arrivals.ts';
import { beginning, endEvent, rowEvent, type SkipReason, skippedEvent } from './tail-events.ts';
import { parseEventId, selectionMark, type TailPosition } from './tail-position.ts';
import { TailStream } from './tail-stream.ts';

/** Rows that wait in the log for more rows are flushed for tails at a bounded rate, as for queries. */
export interface LiveTailsParts extends Pick<QueryServiceParts, 'waitForLatest'> {
  readonly store: Pick<Store, 'command' | 'select'>;
  readonly catalog: Pick<CatalogView, 'get'>;
  readonly query: ArrivalQuery;
  readonly timers: Pick<Timers, 'after'>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

export interface TailRequest {
  readonly principal: Principal;
  readonly tenant: string;
  /** A dataset that the principal may query. */
  readonly dataset: string;
  /** In SQL; empty for all rows. */
  readonly condition: string;
  /** Rows in an interval, `limits.maxTailRows` at most. */
  readonly maxRows: number;
  /** The id of the last event that the client has read; empty for none. */
  readonly lastEventId: string;
  /** Asks again who the client is. @throws AppError why it may not go on, or may not be told now */
  readonly authorizeAgain: () => Promise<Principal>;
  /** Aborted when the client leaves. */
  readonly signal: CancelSignal;
}

/** One client of a tail. */
interface Tail {
  readonly request: TailRequest;
  readonly stream: TailStream;
  principal: Principal;
  /** False while it cannot be told whether the client may go on. */
  isAllowed: boolean;
  /** Where it is, if that may not be where its group is: behind it, or before it while that reads. */
  resumesAt: TailPosition | undefined;
  /** What it was not sent since its last event. */
  skipped: { rows: number | null; reason: SkipReason } | undefined;
}

/** Tails of one selection. */
interface Group {
  readonly key: string;
  readonly mark: string;
  /** The privileges of its principals, as text. */
  readonly readable: string;
  readonly tenant: string;
  readonly dataset: string;
  readonly datasetId: string;
  readonly table: TailedTable;
  readonly condition: string;
  readonly maxRows: number;
  readonly tails: Set<Tail>;
  /** Of its queries; cancelled when the last client leaves. */
  readonly unused: Cancellation;
  position: TailPosition;
  isIdle: boolean;
  isAwaitingFlush: boolean;
}

export class LiveTails {
  readonly #parts: LiveTailsParts;
  readonly #numbers: InsertNumbers;
  readonly #groups = new Map<string, Group>();
  /** Tails by tenant, those that are being opened among them. */
  readonly #open = new Multiset();
  #openCount = 0;
  readonly #rounds = new FairExecutor(limits.maxTails, 'too many live tails have something to read');
  /** Of the next tick, while none runs. */
  #cancelTick: (() => void) | undefined;
  #isTicking = false;
  #isStopping = false;

  constructor(parts: LiveTailsParts) {
    this.#parts = parts;
    this.#numbers = new InsertNumbers(parts.store);
  }

  /**
   * Begins a tail. Its stream must be read, or closed by the request's signal.
   * @throws AppError `dataset_not_found`, `bad_request`, `overloaded`, `shutting_down`, and the errors of
   * `ArrivalQuery.arrivals` for the condition
   */
  async open(request: TailRequest): Promise<TailStream> {
    if (this.#isStopping) throw stopping();
    const release = this.#reserve(request.tenant);
    try {
      return await this.#begin(request, release);
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  /** Ends all tails; their clients are told. */
  stop(): void {
    this.#isStopping = true;
    this.#cancelTick?.();
    for (const group of [...this.#groups.values()])
      for (const tail of [...group.tails]) this.#end(tail, stopping());
  }

  #reserve(tenant: string): () => void {
    const own = this.#open.get(tenant);
    if (own >= limits.maxTailsPerTenant) throw tooMany('of your tenant', own, limits.maxTailsPerTenant);
    if (this.#openCount >= limits.maxTails) throw tooMany('of all tenants', this.#openCount, limits.maxTails);
    this.#open.add(tenant);
    this.#count(1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#open.remove(tenant);
      this.#count(-1);
    };
  }

  #count(change: 1 | -1): void {
    this.#openCount += change;
    this.#parts.metrics.tailStreams.set(this.#openCount);
  }

  async #begin(request: TailRequest, release: () => void): Promise<TailStream> {
    const { query, timers } = this.#parts;
    const { tenant, dataset, condition, principal, signal } = request;
    const table = tableOf(tenant, this.#datasetOf(tenant, dataset));
    // Says what is wrong with the condition; nothing is run.
    const nothing = { from: 0, to: 0 };
    await query.arrivals({
      principal,
      tenant,
      dataset,
      condition,
      inserts: nothing,
      form: 'inserts',
      maxRows: limits.maxTailInserts,
      signal,
    });
    await this.#numbers.keep(table, tenant);
    const [newest = 0] = await this.#numbers.newest([table]);
    if (this.#isStopping) throw stopping();
    if (signal.aborted) throw new AppError('query_cancelled', 'the client closed the connection');
    const stream = new TailStream({
      timers,
      signal,
      onEnded: () => {
        release();
        this.#leave(tail);
      },
    });
    const tail: Tail = {
      request,
      stream,
      principal,
      isAllowed: true,
      resumesAt: undefined,
      skipped: undefined,
    };
    const now = { insert: newest + 1, rows: 0 };
    const group = this.#join(tail, this.#datasetOf(tenant, dataset), now);
    this.#resume(tail, group, now);
    stream.push(beginning(tail.resumesAt ?? group.position, group.mark));
    this.#scheduleTick();
    return stream;
  }

  /** @param now behind the newest insert */
  #resume(tail: Tail, group: Group, now: TailPosition): void {
    const { lastEventId } = tail.request;
    if (lastEventId === '') return;
    const position = parseEventId(lastEventId, group.mark);
    if (position === undefined) tail.skipped = { rows: null, reason: 'position' };
    else tail.resumesAt = isBefore(position, now) ? position : now;
  }

  /** @throws AppError `dataset_not_found`, `bad_request`, `store_unavailable` */
  #datasetOf(tenant: string, name: string): DatasetInfo {
    const dataset = this.#parts.catalog.get(tenant, name);
    if (dataset === undefined)
      throw new AppError('dataset_not_found', `there is no dataset ${quotedName(name)}`);
    if (dataset.kind !== 'metrics') return dataset;
    throw new AppError(
      'bad_request',
      `the dataset ${quotedName(name)} holds metrics; events, logs and traces have a live tail`,
    );
  }

  // Groups -----------------------------------------------------------------------------------------------

  /** @param position of a group that is made now */
  #join(tail: Tail, dataset: DatasetInfo, position: TailPosition): Group {
    const { tenant, condition, maxRows } = tail.request;
    const readable = readableOf(tail.principal);
    const key = JSON.stringify([tenant, dataset.id, condition, maxRows, readable]);
    const group: Group = this.#groups.get(key) ?? {
      key,
      mark: selectionMark({ tenant, dataset: dataset.id, condition, readable }),
      readable,
      tenant,
      dataset: dataset.name,
      datasetId: dataset.id,
      table: tableOf(tenant, dataset),
      condition,
      maxRows,
      tails: new Set(),
      unused: new Cancellation(),
      position,
      isIdle: true,
      isAwaitingFlush: false,
    };
    this.#groups.set(key, group);
    group.tails.add(tail);
    return group;
  }

  #leave(tail: Tail): void {
    for (const group of this.#groups.values()) {
      if (!group.tails.delete(tail) || group.tails.size > 0) continue;
      this.#groups.delete(group.key);
      group.unused.cancel();
    }
    if (this.#groups.size > 0) return;
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }

  #end(tail: Tail, error: AppError): void {
    tail.stream.end(endEvent(error));
    this.#leave(tail);
  }

  // Ticks ------------------------------------------------------------------------------------------------

  #scheduleTick(): void {
    const isDue = this.#isTicking || this.#cancelTick !== undefined;
    if (isDue || this.#isStopping || this.#groups.size === 0) return;
    this.#cancelTick = this.#parts.timers.after(limits.tailIntervalMs, () => {
      this.#cancelTick = undefined;
      this.#isTicking = true;
      void this.#tick().finally(() => {
        this.#isTicking = false;
        this.#scheduleTick();
      });
    });
  }

  async #tick(): Promise<void> {
    for (const group of [...this.#groups.values()]) {
      for (const tail of [...group.tails]) await this.#check(tail, group);
      this.#tellSkipped(group);
      this.#askForFlush(group);
    }
    const idle = [...this.#groups.values()].filter(({ isIdle }) => isIdle);
    let newest: readonly number[];
    try {
      newest = await this.#numbers.newest(idle.map(({ table }) => table));
    } catch (thrown) {
      // The health check of the store reports it.
      this.#parts.log.debug({ err: thrown }, 'live tails could not ask for new rows');
      return;
    }
    for (const [index, group] of idle.entries()) this.#note(group, newest[index] ?? 0);
  }

  /** Queues a round of the group if something is to be read. */
  #note(group: Group, newest: number): void {
    const to = newest + 1;
    if (to < group.position.insert) group.position = { insert: to, rows: 0 };
    const isBehind = isBefore(group.position, { insert: to, rows: 0 });
    if (!isBehind && ![...group.tails].some(({ resumesAt }) => resumesAt !== undefined)) return;
    if (group.tails.size === 0) return;
    group.isIdle = false;
    this.#rounds
      .run(group.tenant, () => this.#round(group, to))
      .catch((thrown) => this.#fail(group, thrown))
      .finally(() => {
        group.isIdle = true;
      });
  }

  /** Rows of a dataset with few rows wait in the log for more, unless somebody asks for them. */
  #askForFlush(group: Group): void {
    if (group.isAwaitingFlush) return;
    group.isAwaitingFlush = true;
    this.#parts
      .waitForLatest(group.tenant, [group.dataset], limits.tailFlushWaitMs, group.unused)
      .catch((thrown) => {
        if (!group.unused.aborted) this.#parts.log.debug({ err: thrown }, 'a live tail awaits no flush');
      })
      .finally(() => {
        group.isAwaitingFlush = false;
      });
  }

  /** Who the client is now, and where that puts the tail. */
  async #check(tail: Tail, group: Group): Promise<void> {
    try {
      const principal = await tail.request.authorizeAgain();
      const dataset = this.#datasetOf(group.tenant, group.dataset);
      if (dataset.id !== group.datasetId)
        throw new AppError('dataset_not_found', `the dataset ${quotedName(group.dataset)} was deleted`);
      if (!tail.stream.isOpen) return;
      tail.principal = principal;
      tail.isAllowed = readableOf(principal) === group.readable;
      if (!tail.isAllowed && group.isIdle) this.#move(tail, group, dataset);
    } catch (thrown) {
      tail.isAllowed = false;
      const error = thrown instanceof AppError ? thrown : new AppError('internal', 'BUG', { cause: thrown });
      if (error.code === 'internal') this.#parts.log.error({ err: thrown }, 'a live tail failed');
      if (!error.definition.retryable) this.#end(tail, error);
    }
  }

  /** The tail has other privileges than its group. */
  #move(tail: Tail, group: Group, dataset: DatasetInfo): void {
    const { insert, rows } = tail.resumesAt ?? group.position;
    this.#leave(tail);
    // Rows of an insert are counted by selection, so it goes on behind the insert.
    const position = { insert: rows === 0 ? insert : insert + 1, rows: 0 };
    this.#join(tail, dataset, position);
    tail.resumesAt = position;
    tail.isAllowed = true;
    this.#scheduleTick();
  }

  // Rounds -----------------------------------------------------------------------------------------------

  async #round(group: Group, to: number): Promise<void> {
    // It may have waited for the rounds of others.
    for (const tail of [...group.tails]) await this.#check(tail, group);
    for (const tail of [...group.tails]) await this.#catchUp(tail, group);
    const [reader] = allowed(group);
    const from = group.position;
    if (reader === undefined || !isBefore(from, { insert: to, rows: 0 })) return;
    const arrivals = await this.#read(group, reader, from, to);
    group.position = arrivals?.end ?? { insert: to, rows: 0 };
    const events = arrivals && eventsOf(arrivals, group.mark);
    for (const tail of group.tails) {
      // It reads on from here when it may.
      if (!tail.isAllowed) tail.resumesAt ??= from;
      if (tail.resumesAt === undefined) this.#send(tail, group, from, arrivals, events);
    }
  }

  /** What lies between a tail and its group; then they are at the same position. */
  async #catchUp(tail: Tail, group: Group): Promise<void> {
    const from = tail.resumesAt;
    if (from === undefined || isBefore(group.position, from) || !tail.isAllowed || !tail.stream.isFree)
      return;
    if (isBefore(from, group.position)) {
      const arrivals = await this.#read(group, tail, from, group.position.insert);
      this.#send(tail, group, from, arrivals, arrivals && eventsOf(arrivals, group.mark));
      if (arrivals !== undefined && isBefore(arrivals.end, group.position)) {
        tail.resumesAt = arrivals.end;
        return;
      }
    }
    tail.resumesAt = undefined;
  }

  /** @returns undefined if that takes the store too much */
  async #read(
    group: Group,
    { principal }: Tail,
    from: TailPosition,
    to: number,
  ): Promise<Arrivals | undefined> {
    const { query, metrics } = this.#parts;
    const { tenant, dataset, condition, maxRows, unused: signal } = group;
    const stop = metrics.tailQueryDuration.startTimer();
    try {
      return await readArrivals(query, { principal, tenant, dataset, condition, from, to, maxRows, signal });
    } catch (thrown) {
      if (thrown instanceof AppError && tooMuch.has(thrown.code)) return undefined;
      throw thrown;
    } finally {
      stop();
    }
  }

  /** Gives a tail what its group has read, or counts it as skipped. */
  #send(
    tail: Tail,
    group: Group,
    from: TailPosition,
    arrivals: Arrivals | undefined,
    events: Uint8Array | undefined,
  ): void {
    const { metrics } = this.#parts;
    if (arrivals === undefined || events === undefined) {
      this.#skip(tail, null, 'query');
      return;
    }
    const { rows, skipped, end } = arrivals;
    if (rows.length + skipped === 0) return;
    if (!tail.stream.isFree) {
      this.#skip(tail, rows.length + skipped, 'slow');
      return;
    }
    const before = tail.skipped === undefined ? [] : [skippedEvent(tail.skipped, from, group.mark)];
    tail.skipped = undefined;
    const after = skipped === 0 ? [] : [skippedEvent({ rows: skipped, reason: 'rate' }, end, group.mark)];
    tail.stream.push(
      before.length + after.length === 0 ? events : Buffer.concat([...before, events, ...after]),
    );
    metrics.tailRows.inc(rows.length);
    metrics.tailSkippedRows.inc(skipped);
  }

  #skip(tail: Tail, rows: number | null, reason: SkipReason): void {
    const before = tail.skipped?.rows ?? 0;
    const isCounted = rows !== null && tail.skipped?.rows !== null;
    tail.skipped = { rows: isCounted ? before + rows : null, reason };
    this.#parts.metrics.tailSkippedRows.inc(rows ?? 0);
  }

  #tellSkipped(group: Group): void {
    for (const tail of group.tails) {
      const { skipped, stream, resumesAt } = tail;
      // A tail that resumes is told before its next rows, with its own position.
      if (skipped === undefined || !stream.isFree || !tail.isAllowed || resumesAt !== undefined) continue;
      // What is being read now is behind this position.
      stream.push(skippedEvent(skipped, group.position, group.mark));
      tail.skipped = undefined;
    }
  }

  #fail(group: Group, thrown: unknown): void {
    if (group.unused.aborted) return;
    const error = thrown instanceof AppError ? thrown : new AppError('internal', 'BUG', { cause: thrown });
    if (error.definition.retryable) return;
    if (error.code === 'internal') this.#parts.log.error({ err: thrown }, 'a live tail failed');
    for (const tail of [...group.tails]) this.#end(tail, error);
  }
}

/** Failures of a query that would only repeat. */
const tooMuch: ReadonlySet<ErrorCode> = new Set(['query_timeout', 'query_memory', 'query_result_too_large']);

const stopping = (): AppError => new AppError('shutting_down', 'the service is stopping');

const tooMany = (whose: string, open: number, most: number): AppError =>
  new AppError('overloaded', `${open} live tails ${whose} are open; at most ${most} are allowed`);

const tableOf = (tenant: string, { id, kind }: DatasetInfo): TailedTable => ({
  database: databaseOf(tenant),
  table: physicalTable(id, countedTable[kind]),
});

const isBefore = (a: TailPosition, b: TailPosition): boolean =>
  a.insert < b.insert || (a.insert === b.insert && a.rows < b.rows);

const allowed = ({ tails }: Group): readonly Tail[] =>
  [...tails].filter(({ isAllowed, stream }) => isAllowed && stream.isOpen);

/** What a principal may read, as text: where it is the same, so are the rows. */
const readableOf = ({ privileges }: Principal): string => JSON.stringify(privileges);

/** The events of the rows, made once for all tails of a group. */
const eventsOf = ({ rows }: Arrivals, mark: string): Uint8Array =>
  Buffer.concat(rows.flatMap(({ json, position }) => rowEvent(json, position, mark)));
