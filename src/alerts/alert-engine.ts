import type { StoredDocument } from '../documents/document.ts';
import type { DocumentStore } from '../documents/document-store.ts';
import { AppError } from '../errors.ts';
import { sleep } from '../lib/backoff.ts';
import { Cancellation } from '../lib/cancellation.ts';
import type { Clock, Timers } from '../lib/clock.ts';
import { FairExecutor } from '../lib/fair-executor.ts';
import { finishWithin } from '../lib/finish-within.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { Signal } from '../lib/signal.ts';
import { ulid } from '../lib/ulid.ts';
import { limits } from '../limits/limits.ts';
import {
  type DeliveryOutcome,
  deliveryOutcome,
  retryFailedDelivery,
} from '../notifications/delivery-outcome.ts';
import type { AlertSummary, Notifiable, Notification, TargetType } from '../notifications/notification.ts';
import {
  type Delivery,
  type NotificationState,
  type NotificationStep,
  notificationStep,
} from '../notifications/notification-state.ts';
import {
  type AlertBody,
  type AlertDocument,
  type AlertRule,
  alertRule,
  muteEndMs,
} from './alert-document.ts';
import type { AlertEvaluator } from './alert-evaluator.ts';
import { frequencyOf } from './alert-request.ts';
import { type AlertKey, type AlertState, type AlertStates, nameOf } from './alert-states.ts';
import type { EngineLease } from './engine-lease.ts';
import { type Instance, isFiring, resolveAll, type Step, stepInstances } from './instance-states.ts';
import { lastDueMs, nextDueMs, pauseMs } from './schedule.ts';

/** What the engine needs of notifications. */
export interface EngineNotifications {
  /** Those of these targets that exist, with their types. */
  targetsOf(
    tenant: string,
    ids: readonly string[],
  ): ReadonlyArray<{ readonly id: string; readonly type: TargetType }>;
  /** Prepares the answers to which instances are silenced now, by their labels in notifications. */
  silencer(
    tenant: string,
    alert: AlertSummary,
    notifiables: readonly Notifiable[],
    state: NotificationState,
  ): Promise<(labels: Readonly<Record<string, string>>) => boolean>;
  /** When a silence of the tenant begins or ends next; undefined if none does. */
  nextSilenceChangeMs(tenant: string): number | undefined;
  /**
   * Sends a delivery when it is due, and reports the outcome with `AlertEngine.delivered`.
   * @returns false if there is no room for it now
   */
  offer(key: AlertKey, delivery: Delivery): boolean;
  /** Sends once, without a report. */
  repeat(key: AlertKey, targetId: string, id: string, notification: Notification): void;
  /** Drops what was offered of an alert: another node sends it, or nobody. */
  forget(key: AlertKey): void;
}

export interface AlertEngineParts {
  readonly documents: Pick<DocumentStore, 'loaded' | 'get' | 'list' | 'tenantsWith' | 'onChange' | 'refresh'>;
  readonly states: AlertStates;
  readonly lease: Pick<EngineLease, 'isHeld' | 'keep' | 'giveBack' | 'earlierHolderMs'>;
  readonly evaluator: Pick<AlertEvaluator, 'evaluate'>;
  readonly notifications: EngineNotifications;
  /** Whether a tenant was deleted. */
  hasEnded(tenant: string): boolean;
  /** Whether other nodes write states, too. */
  readonly isShared: boolean;
  readonly clock: Clock & Timers;
  readonly metrics: Pick<Metrics, 'alertEvaluations' | 'alertEvaluationDuration' | 'alertEvaluationLag'>;
  readonly log: Logger;
}

/** What this node's last evaluation of an alert was like. Times in milliseconds since 1970. */
export interface LastEvaluation {
  readonly atMs: number;
  readonly durationMs: number;
}

/** An alert as the engine knows it while its node holds the lease. */
interface Entry extends AlertKey {
  /** Undefined after it was deleted: what is still to be sent is sent. */
  document: AlertDocument | undefined;
  rule: AlertRule | undefined;
  /** The newest state; what is not worth an entry of the log (values, times) is only here. */
  state: AlertState;
  /** Of the state in the metadata log; undefined if there is none. */
  version: string | undefined;
  /** True after a write whose outcome is not known, and when another node has written. */
  isInDoubt: boolean;
  /** When to evaluate next. */
  dueAtMs: number;
  /** Whether the next evaluation is one for the present, not for the last time at which one was due. */
  isAsked: boolean;
  /** When the notifications need a step though nothing changes. */
  stepAtMs: number;
  /** Until when it is known that the alert was evaluated. */
  watchedUntilMs: number;
  last: LastEvaluation | undefined;
  /** Ends the evaluation that is under way or waits for its turn; undefined if there is none. */
  evaluation: Cancellation | undefined;
  /** What is sent again once the change that is being made is written. */
  repeats: Array<NotificationStep['repeats'][number]>;
  /** The end of the last change of the state: changes of one alert run one after another. */
  changes: Promise<void>;
}

/**
 * Evaluates the alerts of all tenants, on the one node that holds the lease, and keeps their states.
 *
 * - An alert is evaluated at multiples of its frequency plus its offset (`schedule.ts`); also when it was
 *   made, changed, enabled or somebody asks for it. A time is decided once: an evaluation at or before the
 *   time of the state is dropped.
 * - A change of the instances and the notifications that tell of it are written in one entry of the metadata
 *   log, before anything is sent. An evaluation that changes nothing writes nothing.
 * - Only the node with the lease evaluates and sends. A node that lost it without noticing changes nothing:
 *   each write names the entry that it replaces, and fails if that is not the current one any more. Other
 *   nodes write only that a failed delivery is to be tried again; the holder then reads the state again.
 * - A crash before the entry leaves the earlier state: the next evaluation finds the change again. After it,
 *   the next holder finds the deliveries in the state and sends them, with their ids.
 * - While nothing was evaluated, nothing is known. That time counts neither for `for` nor for keep firing.
 * - An evaluation ends with what it is for: when the alert is changed, disabled or deleted, when the lease
 *   is lost, and when the service stops.
 * - If a write may have taken effect or not, the state is read again before the next change.
 * - An alert that is disabled or deleted ends its instances, which is told like every other end. The state of
 *   a deleted one ends when nothing waits to be sent any more.
 */
export class AlertEngine {
  readonly #parts: AlertEngineParts;
  readonly #entries = new Map<string, Entry>();
  readonly #stopping = new AbortController();
  readonly #wake = new Signal();
  readonly #queue = new FairExecutor(
    limits.maxWaitingEvaluations,
    'too many alerts wait to be evaluated',
    undefined,
    limits.maxParallelEvaluations,
  );
  #isActive = false;
  #failing = false;
  #loops: Promise<unknown> = Promise.resolve();

  constructor(parts: AlertEngineParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#parts.documents.onChange((tenant, kind, id) => {
      if (kind === 'alert') this.#onDocument({ tenant, id });
      if (kind === 'silence' || kind === 'target') this.#stepAll(tenant);
    });
    this.#loops = Promise.all([this.#keepLease(), this.#evaluateDue()]);
  }

  /** Stops, and lets another node go on if the store answers in time. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelEvaluations('the service is shutting down');
    this.#wake.notify();
    const hasLeft = await finishWithin(this.#leave(), limits.nodeLeaveWaitMs, this.#parts.clock);
    if (hasLeft !== true) this.#parts.log.warn('alerts are evaluated by no node until the lease ends');
  }

  /** @returns false if the lease could not be given back */
  async #leave(): Promise<boolean> {
    await this.#loops;
    await Promise.all([...this.#entries.values()].map(({ changes }) => changes));
    try {
      await this.#parts.lease.giveBack();
      return true;
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'the lease of alerts could not be given back');
      return false;
    }
  }

  /** Alerts that this node evaluates. */
  get size(): number {
    return this.#entries.size;
  }

  /** The newest state that this node knows. */
  stateOf(key: AlertKey): AlertState {
    return this.#entries.get(nameOf(key))?.state ?? this.#parts.states.get(key);
  }

  /** Undefined where this node has not evaluated the alert. */
  lastEvaluationOf(key: AlertKey): LastEvaluation | undefined {
    return this.#entries.get(nameOf(key))?.last;
  }

  /** The outcome of a try to send. Never rejects. */
  async delivered(key: AlertKey, deliveryId: string, outcome: DeliveryOutcome): Promise<void> {
    const entry = this.#entries.get(nameOf(key));
    if (entry === undefined) return;
    const { clock } = this.#parts;
    await this.#untilWritten(entry, (state) => {
      const notifications = deliveryOutcome(
        state.notifications,
        deliveryId,
        outcome,
        this.#nowMs(),
        clock.random,
      );
      return notifications === state.notifications ? state : { ...state, notifications };
    });
  }

  /**
   * Lets a failed delivery be tried again, on whatever node.
   * @returns why it cannot: see `retryFailedDelivery`
   * @throws AppError `store_unavailable`, `document_changed`
   */
  async retryDelivery(key: AlertKey, deliveryId: string): Promise<'retried' | 'not_found' | 'newer_waits'> {
    const { states } = this.#parts;
    for (let tries = 0; tries < limits.maxDocumentAttempts; tries += 1) {
      await states.catchUp();
      const state = states.get(key);
      const retried = retryFailedDelivery(state.notifications, deliveryId, this.#nowMs());
      if (typeof retried === 'string') return retried;
      if (await states.write(key, { ...state, notifications: retried })) {
        this.#readAgain();
        return 'retried';
      }
    }
    throw new AppError('document_changed', 'the state of the alert keeps changing');
  }

  // The lease ---------------------------------------------------------------------------------------------

  async #keepLease(): Promise<void> {
    const { states, documents, lease, isShared, clock, log } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        if (documents.loaded) {
          if (isShared || !states.loaded) await states.refresh();
          const isWanted = documents.tenantsWith('alert').length > 0 || states.keys().length > 0;
          if (isWanted && (await lease.keep()) && !this.#isActive) await this.#takeOver();
          this.#readAgain();
        }
        this.#failing = false;
      } catch (error) {
        if (!this.#failing) log.error({ err: error }, 'the states of alerts could not be read or renewed');
        this.#failing = true;
      }
      if (this.#isActive && !lease.isHeld) this.#giveUp();
      await sleep(limits.metadataPollIntervalMs, signal, clock);
    }
  }

  /** Reads what the earlier holder wrote, and goes on from there. */
  async #takeOver(): Promise<void> {
    const { states, documents, lease, log } = this.#parts;
    await Promise.all([states.refresh(), documents.refresh()]);
    if (!lease.isHeld || this.#stopping.signal.aborted) return;
    this.#isActive = true;
    log.info('this node evaluates alerts');
    const keys = [
      ...documents
        .tenantsWith('alert')
        .flatMap((tenant) => documents.list(tenant, 'alert').map(({ id }) => ({ tenant, id }))),
      ...states.keys().map(({ tenant, id }) => ({ tenant, id })),
    ];
    for (const key of keys) this.#onDocument(key);
    for (const entry of this.#entries.values()) this.#send(entry);
    this.#wake.notify();
  }

  #cancelEvaluations(reason: string): void {
    for (const entry of this.#entries.values()) cancelEvaluation(entry, reason);
  }

  /** Has states that another node changed read again. */
  #readAgain(): void {
    for (const entry of this.#entries.values()) {
      if (entry.version !== this.#parts.states.versionOf(entry)) void this.#change(entry, (state) => state);
    }
  }

  /** The notifications of all alerts of a tenant need a step. */
  #stepAll(tenant: string): void {
    for (const entry of this.#entries.values()) if (entry.tenant === tenant) entry.stepAtMs = 0;
    this.#wake.notify();
  }

  #giveUp(): void {
    this.#isActive = false;
    this.#cancelEvaluations('another node evaluates alerts');
    for (const entry of this.#entries.values()) this.#parts.notifications.forget(entry);
    this.#entries.clear();
    this.#parts.log.warn('this node evaluates alerts no more: it could not renew its lease');
  }

  // What is due -------------------------------------------------------------------------------------------

  async #evaluateDue(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#stopping;
    const [minMs, maxMs] = limits.alertTickMs;
    while (!signal.aborted) {
      const nextMs = this.#isActive ? this.#startDue() : Number.POSITIVE_INFINITY;
      const waitMs = Math.min(maxMs, Math.max(minMs, nextMs - this.#nowMs()));
      await this.#sleep(waitMs, signal, clock);
    }
  }

  /** @returns when the next one is due */
  #startDue(): number {
    const nowMs = this.#nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const entry of this.#entries.values()) {
      if (entry.dueAtMs <= nowMs && entry.evaluation === undefined) void this.#evaluate(entry);
      else if (entry.stepAtMs <= nowMs) {
        entry.stepAtMs = Number.POSITIVE_INFINITY;
        void this.#change(entry, (state) => this.#told(entry, state, false));
      }
      nextMs = Math.min(
        nextMs,
        entry.evaluation === undefined ? entry.dueAtMs : Number.POSITIVE_INFINITY,
        entry.stepAtMs,
      );
    }
    return nextMs;
  }

  async #sleep(ms: number, signal: AbortSignal, timers: Timers): Promise<void> {
    const early = new AbortController();
    const end = () => early.abort();
    const stopListening = this.#wake.onNotify(end);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    await sleep(ms, early.signal, timers);
    signal.removeEventListener('abort', end);
    stopListening();
  }

  /** A document was made, changed or deleted; or the node took over. */
  #onDocument(key: AlertKey): void {
    if (!this.#isActive) return;
    const { documents, states, hasEnded, lease } = this.#parts;
    const name = nameOf(key);
    if (hasEnded(key.tenant)) {
      cancelEvaluation(this.#entries.get(name), 'the tenant was deleted');
      this.#entries.delete(name);
      this.#parts.notifications.forget(key);
      return;
    }
    const document = documents.get(key.tenant, 'alert', key.id) as StoredDocument<AlertBody> | undefined;
    const known = this.#entries.get(name);
    const nowMs = this.#nowMs();
    const rule = document === undefined ? known?.rule : alertRule(document);
    const isOn = document?.body.isDisabled === false && rule !== undefined;
    if (known === undefined) {
      const state = states.get(key);
      const entry: Entry = {
        ...key,
        document,
        rule,
        state,
        version: states.versionOf(key),
        isInDoubt: false,
        dueAtMs: isOn
          ? nextDueMs(rule.schedule, state.evaluatedAtMs || undefined, nowMs)
          : Number.POSITIVE_INFINITY,
        isAsked: false,
        stepAtMs: nowMs,
        watchedUntilMs: Math.max(state.evaluatedAtMs, lease.earlierHolderMs ?? 0),
        last: undefined,
        evaluation: undefined,
        repeats: [],
        changes: Promise.resolve(),
      };
      this.#entries.set(name, entry);
      if (!isOn) this.#end(entry);
    } else if (document?.revision !== known.document?.revision) {
      const before = known.document;
      cancelEvaluation(known, 'the alert was changed');
      known.document = document;
      known.rule = rule;
      known.dueAtMs = isOn ? nowMs : Number.POSITIVE_INFINITY;
      known.isAsked = isOn;
      if (!isOn) this.#end(known, before);
    }
    this.#wake.notify();
  }

  async #evaluate(entry: Entry): Promise<void> {
    const { clock, evaluator, metrics, log } = this.#parts;
    const { document, rule, dueAtMs, tenant } = entry;
    if (document === undefined || rule === undefined) return;
    const signal = new Cancellation();
    entry.evaluation = signal;
    // What was missed is not made up for: of several times that are past, it is the newest one.
    const atMs = entry.isAsked ? this.#nowMs() : lastDueMs(rule.schedule, this.#nowMs());
    entry.isAsked = false;
    try {
      const outcome = await this.#queue.run(tenant, async () => {
        if (signal.aborted) throw new AppError('query_cancelled', 'the evaluation is not wanted any more');
        const startedMs = clock.monotonicMs();
        metrics.alertEvaluationLag.observe(Math.max(0, this.#nowMs() - atMs) / 1000);
        const { runsAs, datasets } = document.body;
        const found = await evaluator.evaluate({ tenant, rule, runsAs, datasets, atMs }, signal);
        const durationMs = clock.monotonicMs() - startedMs;
        metrics.alertEvaluationDuration.observe(durationMs / 1000);
        entry.last = { atMs, durationMs };
        return found;
      });
      if (signal.aborted) return;
      metrics.alertEvaluations.inc({ outcome: outcome.kind === 'rows' ? 'ok' : 'failed' });
      await this.#change(entry, (state) => {
        const isOther = entry.document?.revision !== document.revision;
        if (isOther || isDecided(state, atMs, rule.schedule.frequencyMs)) return state;
        const pausedMs = entry.watchedUntilMs === 0 ? 0 : pauseMs(rule.schedule, entry.watchedUntilMs, atMs);
        const step = stepInstances(state, outcome, rule, atMs, pausedMs);
        entry.watchedUntilMs = atMs;
        return this.#told(entry, withStep(state, step, atMs), true);
      });
    } catch (thrown) {
      if (!signal.aborted)
        log.error({ err: thrown, alert: entry.id, tenant }, 'an alert could not be evaluated');
    } finally {
      entry.evaluation = undefined;
      // A document that changed meanwhile has set another time.
      if (entry.dueAtMs === dueAtMs) {
        const { evaluatedAtMs } = entry.state;
        const nextMs = nextDueMs(rule.schedule, Math.max(evaluatedAtMs, atMs), this.#nowMs());
        entry.dueAtMs = entry.isInDoubt ? this.#nowMs() + limits.metadataPollIntervalMs : nextMs;
      }
      this.#wake.notify();
    }
  }

  // Changes of states -------------------------------------------------------------------------------------

  /**
   * Ends the instances of an alert that is disabled or deleted. Without targets, each group is told so at
   * once and ends, too.
   */
  #end(entry: Entry, before = entry.document): void {
    const reason = entry.document === undefined ? 'the alert was deleted' : 'the alert was disabled';
    void this.#untilWritten(entry, (state) => {
      // Enabled again meanwhile.
      if (entry.document?.body.isDisabled === false) return state;
      const atMs = this.#nowMs();
      const step = resolveAll(state, atMs, reason);
      return this.#told(entry, withStep(state, step, atMs), true, before, []);
    });
  }

  /** The state with the notifications that follow from it. The same object if nothing needs to be written. */
  async #told(
    entry: Entry,
    after: AlertState,
    isEvaluation: boolean,
    document = entry.document,
    targetIds = entry.rule?.targets ?? [],
  ): Promise<AlertState> {
    const { notifications } = this.#parts;
    const { rule, tenant } = entry;
    if (document === undefined || rule === undefined) return after;
    const alert = summaryOf(document);
    const notifiables = after.instances.flatMap(notifiableOf);
    const { groups, deliveries, ended } = after.notifications;
    if (notifiables.length + groups.length + deliveries.length + ended.length === 0) {
      entry.stepAtMs = Number.POSITIVE_INFINITY;
      return after;
    }
    const silenced = await notifications.silencer(tenant, alert, notifiables, after.notifications);
    const nowMs = this.#nowMs();
    const mutedUntilMs = muteEndMs(document.body.notificationState);
    const step = notificationStep(after.notifications, {
      alert,
      targets: notifications.targetsOf(tenant, targetIds),
      groupWaitMs: rule.groupWaitMs,
      groupIntervalMs: rule.groupIntervalMs,
      repeatMs: rule.repeatMs,
      notifiables,
      isSilenced: (labels) => mutedUntilMs > nowMs || silenced(labels),
      isEvaluation,
      nowMs,
      newId: () => ulid(nowMs),
    });
    const changeMs = notifications.nextSilenceChangeMs(tenant) ?? Number.POSITIVE_INFINITY;
    const unmutedMs = mutedUntilMs > nowMs ? mutedUntilMs : Number.POSITIVE_INFINITY;
    entry.stepAtMs = Math.min(step.nextMs ?? Number.POSITIVE_INFINITY, changeMs, unmutedMs);
    entry.repeats = [...step.repeats];
    return step.state === after.notifications ? after : { ...after, notifications: step.state };
  }

  /** As `#change`, again and again until it is written or this node evaluates no more. Never rejects. */
  async #untilWritten(entry: Entry, make: MakeState): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#isCurrent(entry)) {
      if (await this.#change(entry, make)) return;
      if (signal.aborted) return;
      await sleep(limits.metadataPollIntervalMs, signal, this.#parts.clock);
    }
  }

  /**
   * Changes the state of an alert, after the changes before. What is worth it is written first.
   * @param make returns what it was given if nothing changes
   * @returns false if it was not written, or may not have been. Never rejects
   */
  #change(entry: Entry, make: MakeState): Promise<boolean> {
    const change = entry.changes.then(() => this.#write(entry, make));
    entry.changes = change.then(() => {});
    return change;
  }

  async #write(entry: Entry, make: MakeState): Promise<boolean> {
    const { states, lease, log } = this.#parts;
    try {
      for (let tries = 0; tries < limits.maxDocumentAttempts && this.#isCurrent(entry); tries += 1) {
        if (entry.isInDoubt) await states.refresh();
        if (entry.isInDoubt || entry.version !== states.versionOf(entry)) this.#read(entry);
        const after = await make(entry.state);
        if (isWorthWriting(entry.state, after)) {
          if (!lease.isHeld) return false;
          if (!(await states.write(entry, after))) continue;
        }
        entry.version = states.versionOf(entry);
        entry.state = after;
        this.#send(entry);
        return await this.#tidy(entry);
      }
    } catch (thrown) {
      entry.isInDoubt = true;
      if (!(thrown instanceof AppError) || !thrown.definition.retryable) {
        const about = { err: thrown, alert: entry.id, tenant: entry.tenant };
        log.error(about, 'the state of an alert was not written');
      }
    }
    return false;
  }

  /** Takes the state as it is in the log. */
  #read(entry: Entry): void {
    const { states } = this.#parts;
    const read = states.get(entry);
    const evaluatedAtMs = Math.max(read.evaluatedAtMs, entry.state.evaluatedAtMs);
    entry.state = { ...read, evaluatedAtMs };
    entry.version = states.versionOf(entry);
    entry.isInDoubt = false;
  }

  /** Ends the state of a deleted alert, once nothing waits to be sent. */
  async #tidy(entry: Entry): Promise<boolean> {
    if (entry.document !== undefined || waiting(entry.state).length > 0) return true;
    const { states, lease } = this.#parts;
    if (states.has(entry) && !(lease.isHeld && (await states.write(entry, undefined)))) return false;
    this.#entries.delete(nameOf(entry));
    return true;
  }

  /** Hands over what waits to be sent. */
  #send(entry: Entry): void {
    const { notifications, lease } = this.#parts;
    if (!lease.isHeld) return;
    const { tenant, id } = entry;
    for (const delivery of waiting(entry.state)) {
      if (notifications.offer({ tenant, id }, delivery)) continue;
      entry.stepAtMs = Math.min(entry.stepAtMs, this.#nowMs() + limits.alertOfferRetryMs);
    }
    for (const { targetId, notification } of entry.repeats.splice(0)) {
      notifications.repeat({ tenant, id }, targetId, ulid(this.#nowMs()), notification);
    }
  }

  #isCurrent(entry: Entry): boolean {
    return this.#isActive && this.#entries.get(nameOf(entry)) === entry;
  }

  #nowMs(): number {
    return Math.floor(this.#parts.clock.nowMicros() / 1000);
  }
}

/** Makes the next state of an alert: the state that it was given, if nothing changes. */
type MakeState = (state: AlertState) => AlertState | Promise<AlertState>;

/** What notifications know of an instance: nothing as long as it is pending. */
function notifiableOf(instance: Instance): readonly Notifiable[] {
  const { fingerprint, labels, annotations, value, activeAtMs, firedAtMs, resolvedAtMs } = instance;
  const shown = { fingerprint, labels, annotations, ...(value === undefined ? {} : { value }) };
  const startsAtMs = firedAtMs ?? activeAtMs;
  if (isFiring(instance)) return [{ ...shown, status: 'firing', startsAtMs }];
  if (resolvedAtMs === undefined) return [];
  return [{ ...shown, status: 'resolved', startsAtMs, endsAtMs: resolvedAtMs }];
}

/** Also while it waits for its turn. */
const cancelEvaluation = (entry: Entry | undefined, reason: string): void =>
  entry?.evaluation?.cancel(new AppError('query_cancelled', reason));

/** Whether a state has more than newer times and values. */
const isWorthWriting = (before: AlertState, after: AlertState): boolean =>
  after.history !== before.history || after.notifications !== before.notifications;

/** What notifications say of an alert. */
function summaryOf({ id, body }: AlertDocument): AlertSummary {
  const { title, severity = 'medium', datasets, query, thresholdConfig } = body;
  return {
    id,
    title,
    severity,
    datasets,
    ...(thresholdConfig ? { condition: `${thresholdConfig.operator} ${thresholdConfig.value}` } : {}),
    query,
    intervalMs: frequencyOf(body),
  };
}

const waiting = ({ notifications }: AlertState): readonly Delivery[] =>
  notifications.deliveries.filter(({ status }) => status === 'waiting');

/** A time is decided once. A state far in the future is one from before the clock was set back. */
const isDecided = ({ evaluatedAtMs }: AlertState, atMs: number, frequencyMs: number): boolean =>
  atMs <= evaluatedAtMs && evaluatedAtMs <= atMs + frequencyMs;

function withStep(before: AlertState, step: Step, atMs: number): AlertState {
  const { instances, problem, noDataSinceMs, transitions, isChanged } = step;
  const fired = transitions.some(({ to, fingerprint }) => to === 'firing' && fingerprint !== undefined);
  const triggeredAtMs = fired ? atMs : before.triggeredAtMs;
  return {
    evaluatedAtMs: atMs,
    instances,
    ...(problem === undefined ? {} : { problem }),
    ...(noDataSinceMs === undefined ? {} : { noDataSinceMs }),
    history: isChanged
      ? [...before.history, ...transitions].slice(-limits.maxAlertTransitions)
      : before.history,
    ...(triggeredAtMs === undefined ? {} : { triggeredAtMs }),
    notifications: before.notifications,
  };
}
