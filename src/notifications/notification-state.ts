/**
 * What an alert remembers of its notifications, and how time and its instances change it. Pure: no clock, no
 * waiting. The alert's record holds the state, so a change of an instance and the notification that tells of
 * it are written in one entry, before anything is sent.
 *
 * A group is one alert at one target. Its rules are those of Alertmanager:
 * - The first notification follows `groupWaitMs` after the first instance fires, or at once if that instance
 *   has fired for longer than this.
 * - From then on time has ticks, `groupIntervalMs` apart. A change is told at the first tick after it.
 * - Without a change, a notification is repeated at the first tick at which the last one is `repeatMs` old.
 * - An instance that a target was never told of is not told as resolved either.
 * - A silenced instance is in no notification. Unlike there, its end is told when the silence is over, if the
 *   target knows that it fires.
 * - A group ends when nothing fires and everything was told.
 *
 * A target of the type `alertManager` groups and waits by itself. It is told of changes at once, and, as
 * Prometheus does it, of all firing instances at each evaluation and of each resolved one for a quarter of
 * an hour. These repeats are not part of the state: the next evaluation makes up for a lost one.
 *
 * Invariants:
 * - At most one delivery of a group waits. A newer one takes its place, and tells in addition what the old
 *   one would have told as resolved: nobody knows whether an unanswered try has arrived. So an instance that
 *   ends is told as resolved even if no try of its firing succeeded.
 * - A group has told, in its deliveries, exactly the instances in `told` as firing and not yet as resolved.
 * - A resolved instance is in `ended` as long as a group has it in `told`.
 * - A step that changes nothing returns the same object, and nothing need be written.
 *
 * After a crash the deliveries that wait are sent, with their old ids: the receiver may get one twice.
 */

import type { ErrorCode } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import {
  type AlertSummary,
  type Notifiable,
  type Notification,
  notificationLabels,
  type TargetType,
} from './notification.ts';

export interface NotificationState {
  readonly groups: readonly NotificationGroup[];
  /** Resolved instances that some target must still be told of. */
  readonly ended: readonly Notifiable[];
  /** Those that wait, at most one for each target, and the last failed ones. */
  readonly deliveries: readonly Delivery[];
  /** The last ones that arrived, oldest first. */
  readonly delivered: readonly DeliveredEntry[];
}

export interface NotificationGroup {
  readonly targetId: string;
  /** The first tick. */
  readonly firstTickMs: number;
  /** Fingerprints of the instances that the target was told of as firing, and not yet as resolved. */
  readonly told: readonly string[];
  /** When the last notification was made, or delivered if that took more than one try. */
  readonly notifiedAtMs?: number;
  /** The tick at which a change is told. */
  readonly dueAtMs?: number;
}

export interface DeliveryError {
  readonly code: ErrorCode;
  readonly message: string;
  /** The status of the reply, if there was one. */
  readonly status?: number;
}

export interface Delivery {
  /** A ULID. It is sent with each try, so that a receiver can drop a repeat. */
  readonly id: string;
  readonly targetId: string;
  readonly status: 'waiting' | 'failed';
  readonly createdAtMs: number;
  /** Tries of this delivery. */
  readonly tries: number;
  /** Failed tries in a row at this target, with those of the deliveries that this one replaced. */
  readonly failuresInRow: number;
  readonly nextTryAtMs: number;
  /** No try is made after it. */
  readonly retryUntilMs: number;
  readonly lastTryAtMs?: number;
  readonly lastError?: DeliveryError;
  readonly notification: Notification;
}

export interface DeliveredEntry {
  readonly id: string;
  readonly targetId: string;
  readonly createdAtMs: number;
  readonly deliveredAtMs: number;
  readonly tries: number;
  readonly notificationStatus: 'firing' | 'resolved';
}

export const emptyNotificationState: NotificationState = {
  groups: [],
  ended: [],
  deliveries: [],
  delivered: [],
};

export interface NotificationInput {
  readonly alert: AlertSummary;
  /** Where the alert is told. A group whose target is missing tells as resolved what it told, and ends. */
  readonly targets: ReadonlyArray<{ readonly id: string; readonly type: TargetType }>;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly repeatMs: number;
  /**
   * All instances that fire, and those that have resolved since the last step. One that was told and is
   * missing counts as resolved now.
   */
  readonly notifiables: readonly Notifiable[];
  /** Whether instances with these labels, from `notificationLabels`, are not told at present. */
  isSilenced(labels: Readonly<Record<string, string>>): boolean;
  /** Whether the alert was just evaluated: targets of the type `alertManager` are told again. */
  readonly isEvaluation: boolean;
  readonly nowMs: number;
  /** A new ULID. */
  newId(): string;
}

export interface NotificationStep {
  /** The same object if nothing changed. */
  readonly state: NotificationState;
  /** When the next step is needed though no instance changes. */
  readonly nextMs: number | undefined;
  /** What is sent again without being recorded, to targets of the type `alertManager`. */
  readonly repeats: ReadonlyArray<{ readonly targetId: string; readonly notification: Notification }>;
}

/** What follows from the present instances of an alert and the time. */
export function notificationStep(state: NotificationState, input: NotificationInput): NotificationStep {
  const instances = new Instances(state, input);
  const before = new Map(state.groups.map((group) => [group.targetId, group]));
  const waiting = new Map(
    state.deliveries
      .filter(({ status }) => status === 'waiting')
      .map((delivery) => [delivery.targetId, delivery]),
  );
  const steps = input.targets.map(({ id, type }) => {
    const at = { targetId: id, group: before.get(id), waiting: waiting.get(id), instances, input };
    return type === 'alertManager' ? repeatedGroupStep(at) : timedGroupStep(at);
  });
  const targetIds = new Set(input.targets.map(({ id }) => id));
  for (const group of state.groups)
    if (!targetIds.has(group.targetId))
      steps.push(lastStep(group, waiting.get(group.targetId), instances, input));

  const groups = steps.flatMap(({ group }) => group ?? []);
  const made = steps.flatMap(({ delivery }) => delivery ?? []);
  const replaced = new Set(made.map(({ targetId }) => targetId));
  const areSame =
    made.length === 0 &&
    groups.length === state.groups.length &&
    groups.every((group) => before.get(group.targetId) === group) &&
    instances.isEndedSame;
  const kept = state.deliveries.filter(
    ({ status, targetId }) => status === 'failed' || !replaced.has(targetId),
  );
  return {
    state: areSame
      ? state
      : { ...state, groups, ended: instances.stillNeeded(groups), deliveries: [...kept, ...made] },
    nextMs: steps.reduce<number | undefined>((first, { nextMs }) => earlier(first, nextMs), undefined),
    repeats: steps.flatMap(({ repeat, targetId }) =>
      repeat === undefined ? [] : { targetId, notification: repeat },
    ),
  };
}

interface GroupStep {
  readonly targetId: string;
  /** Undefined if the group has ended. */
  readonly group: NotificationGroup | undefined;
  readonly delivery?: Delivery;
  readonly repeat?: Notification;
  readonly nextMs?: number;
}

interface GroupAt {
  readonly targetId: string;
  readonly group: NotificationGroup | undefined;
  readonly waiting: Delivery | undefined;
  readonly instances: Instances;
  readonly input: NotificationInput;
}

/** The instances of an alert at a step: those that fire, and those whose end some target may not know yet. */
class Instances {
  readonly #alert: AlertSummary;
  readonly #nowMs: number;
  /** By fingerprint. */
  readonly #firing: Map<string, Notifiable>;
  readonly #ended: Map<string, Notifiable>;
  readonly #hidden = new Set<string>();
  readonly #tellsRepeatedly: boolean;
  /** Firing instances that are not silenced. */
  readonly audible: readonly Notifiable[];
  readonly isEndedSame: boolean;

  constructor(state: NotificationState, input: NotificationInput) {
    const { alert, notifiables, nowMs } = input;
    this.#alert = alert;
    this.#nowMs = nowMs;
    this.#tellsRepeatedly = input.targets.some(({ type }) => type === 'alertManager');
    const labelled = notifiables.map((each) => ({
      ...each,
      labels: notificationLabels(alert, each.labels),
    }));
    this.#firing = byFingerprint(labelled.filter(({ status }) => status === 'firing'));
    const resolved = byFingerprint(labelled.filter(({ status }) => status === 'resolved'));
    const stillEnded = state.ended.filter(({ fingerprint }) => !this.#firing.has(fingerprint));
    this.#ended = byFingerprint(stillEnded);
    const told = new Set(state.groups.flatMap((group) => group.told));
    for (const fingerprint of told) {
      if (this.#firing.has(fingerprint) || this.#ended.has(fingerprint)) continue;
      const known = resolved.get(fingerprint) ?? this.#vanished(fingerprint);
      this.#ended.set(fingerprint, { ...known, endsAtMs: known.endsAtMs ?? nowMs });
    }
    this.isEndedSame = stillEnded.length === state.ended.length && this.#ended.size === state.ended.length;
    for (const each of [...this.#firing.values(), ...this.#ended.values()])
      if (input.isSilenced(each.labels)) this.#hidden.add(each.fingerprint);
    this.audible = [...this.#firing.values()].filter(({ fingerprint }) => !this.isSilenced(fingerprint));
  }

  get anyFires(): boolean {
    return this.#firing.size > 0;
  }

  get firing(): readonly Notifiable[] {
    return [...this.#firing.values()];
  }

  isFiring(fingerprint: string): boolean {
    return this.#firing.has(fingerprint);
  }

  isSilenced(fingerprint: string): boolean {
    return this.#hidden.has(fingerprint);
  }

  /** An instance that was told and does not fire any more. */
  ended(fingerprint: string): Notifiable {
    return this.#ended.get(fingerprint) ?? this.#vanished(fingerprint);
  }

  /** Those whose end Alertmanager is told again, without silenced ones. */
  recentlyEnded(): readonly Notifiable[] {
    return [...this.#ended.values()].filter(
      (each) => !this.isSilenced(each.fingerprint) && this.#isRecent(each),
    );
  }

  /** The ended ones that must be kept for a later step, at most `limits.maxEndedInstances`. */
  stillNeeded(groups: readonly NotificationGroup[]): readonly Notifiable[] {
    const told = new Set(groups.flatMap((group) => group.told));
    return [...this.#ended.values()]
      .filter((each) => told.has(each.fingerprint) || (this.#tellsRepeatedly && this.#isRecent(each)))
      .slice(-limits.maxEndedInstances);
  }

  #isRecent({ endsAtMs = this.#nowMs }: Notifiable): boolean {
    return endsAtMs + limits.resolvedResendMs > this.#nowMs;
  }

  /** An instance of which only the fingerprint is known. */
  #vanished(fingerprint: string): Notifiable {
    return {
      fingerprint,
      labels: notificationLabels(this.#alert, {}),
      annotations: {},
      status: 'resolved',
      startsAtMs: this.#nowMs,
      endsAtMs: this.#nowMs,
    };
  }
}

const byFingerprint = (instances: readonly Notifiable[]): Map<string, Notifiable> =>
  new Map(instances.map((instance) => [instance.fingerprint, instance]));

const earlier = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other);

/** The first tick of a group that is not before a time. */
function tickFrom(firstTickMs: number, intervalMs: number, timeMs: number): number {
  const ticks = Math.ceil((timeMs - firstTickMs) / intervalMs);
  return firstTickMs + Math.max(0, ticks) * intervalMs;
}

/** The tick at which a notification of that time was made. */
function tickUntil(firstTickMs: number, intervalMs: number, timeMs: number): number {
  const ticks = Math.floor((timeMs - firstTickMs) / intervalMs);
  return firstTickMs + Math.max(0, ticks) * intervalMs;
}

function newGroup(targetId: string, instances: Instances, input: NotificationInput): NotificationGroup {
  const { nowMs, groupWaitMs } = input;
  const firesLonger = instances.firing.some(({ startsAtMs }) => startsAtMs + groupWaitMs < nowMs);
  return { targetId, firstTickMs: firesLonger ? nowMs : nowMs + groupWaitMs, told: [] };
}

function timedGroupStep({ targetId, group: before, waiting, instances, input }: GroupAt): GroupStep {
  if (before === undefined && !instances.anyFires) return { targetId, group: undefined };
  const group = before ?? newGroup(targetId, instances, input);
  const { nowMs, groupIntervalMs, repeatMs } = input;
  const { firstTickMs, notifiedAtMs } = group;
  const told = new Set(group.told);
  const news = instances.audible.filter(({ fingerprint }) => !told.has(fingerprint));
  const resolved = group.told.filter((each) => !instances.isFiring(each) && !instances.isSilenced(each));
  const isChanged = news.length > 0 || resolved.length > 0;
  const dueAtMs = isChanged ? (group.dueAtMs ?? tickFrom(firstTickMs, groupIntervalMs, nowMs)) : undefined;
  const repeatAtMs =
    notifiedAtMs === undefined || waiting !== undefined || instances.audible.length === 0
      ? undefined
      : tickFrom(
          firstTickMs,
          groupIntervalMs,
          tickUntil(firstTickMs, groupIntervalMs, notifiedAtMs) + repeatMs,
        );
  const nextMs = earlier(dueAtMs, repeatAtMs);
  if (nextMs === undefined || nextMs > nowMs) {
    if (!instances.anyFires && group.told.length === 0) return { targetId, group: undefined };
    const waits = before !== undefined && group.dueAtMs === dueAtMs ? before : withDue(group, dueAtMs);
    return { targetId, group: waits, ...(nextMs === undefined ? {} : { nextMs }) };
  }
  const stillTold = group.told.filter((each) => instances.isSilenced(each));
  const toldNow = [...new Set([...instances.audible.map(({ fingerprint }) => fingerprint), ...stillTold])];
  const after: NotificationGroup = { targetId, firstTickMs, told: toldNow, notifiedAtMs: nowMs };
  const nextRepeatMs = tickFrom(
    firstTickMs,
    groupIntervalMs,
    tickUntil(firstTickMs, groupIntervalMs, nowMs) + repeatMs,
  );
  return {
    targetId,
    group: toldNow.length === 0 && !instances.anyFires ? undefined : after,
    delivery: newDelivery(
      targetId,
      notificationOf(instances.audible, allResolved(resolved, waiting, instances), input),
      waiting,
      input,
    ),
    ...(instances.audible.length > 0 ? { nextMs: nextRepeatMs } : {}),
  };
}

function withDue(group: NotificationGroup, dueAtMs: number | undefined): NotificationGroup {
  const { dueAtMs: _, ...rest } = group;
  return dueAtMs === undefined ? rest : { ...rest, dueAtMs };
}

/** Those that end now, and those that the replaced delivery would have told as resolved. */
function allResolved(
  resolved: readonly string[],
  waiting: Delivery | undefined,
  instances: Instances,
): readonly Notifiable[] {
  const untold = (waiting?.notification.alerts ?? []).filter(
    ({ status, fingerprint }) => status === 'resolved' && !instances.isFiring(fingerprint),
  );
  return [...byFingerprint([...untold, ...resolved.map((each) => instances.ended(each))]).values()];
}

function repeatedGroupStep({ targetId, group: before, waiting, instances, input }: GroupAt): GroupStep {
  if (before === undefined && !instances.anyFires && instances.recentlyEnded().length === 0)
    return { targetId, group: undefined };
  const group = before ?? { targetId, firstTickMs: input.nowMs, told: [] };
  const told = new Set(group.told);
  const news = instances.audible.filter(({ fingerprint }) => !told.has(fingerprint));
  const resolved = group.told.filter((each) => !instances.isFiring(each) && !instances.isSilenced(each));
  const all = notificationOf(instances.audible, instances.recentlyEnded(), input, allInstances);
  if (news.length === 0 && resolved.length === 0) {
    const isOver = group.told.length === 0;
    // Before a delivery that waits, a repeat would be refused as well, and its content is older.
    const repeats = input.isEvaluation && waiting === undefined && all.alerts.length > 0;
    return { targetId, group: isOver ? undefined : group, ...(repeats ? { repeat: all } : {}) };
  }
  const ended = new Set(resolved);
  const toldNow = [
    ...group.told.filter((each) => !ended.has(each)),
    ...news.map(({ fingerprint }) => fingerprint),
  ];
  const firing = new Set(news.map(({ fingerprint }) => fingerprint));
  for (const { fingerprint } of waiting?.notification.alerts ?? []) firing.add(fingerprint);
  return {
    targetId,
    group:
      toldNow.length === 0
        ? undefined
        : { targetId, firstTickMs: group.firstTickMs, told: toldNow, notifiedAtMs: input.nowMs },
    delivery: newDelivery(
      targetId,
      notificationOf(
        instances.audible.filter(({ fingerprint }) => firing.has(fingerprint)),
        allResolved(resolved, waiting, instances),
        input,
        allInstances,
      ),
      waiting,
      input,
    ),
  };
}

/**
 * Alertmanager knows each instance by itself, so none can be left out. The alert's bound on instances and
 * `limits.maxEndedInstances` bound them.
 */
const allInstances = Number.POSITIVE_INFINITY;

/** The alert is not told to this target any more: what is open there is closed, silenced or not. */
function lastStep(
  group: NotificationGroup,
  waiting: Delivery | undefined,
  instances: Instances,
  input: NotificationInput,
): GroupStep {
  const { targetId, told } = group;
  if (told.length === 0) return { targetId, group: undefined };
  const closed = told.map((each): Notifiable => {
    const fires = instances.firing.find(({ fingerprint }) => fingerprint === each);
    return fires === undefined
      ? instances.ended(each)
      : { ...fires, status: 'resolved', endsAtMs: input.nowMs };
  });
  const untold = (waiting?.notification.alerts ?? []).filter(({ status }) => status === 'resolved');
  const resolved = [...byFingerprint([...untold, ...closed]).values()];
  return {
    targetId,
    group: undefined,
    delivery: newDelivery(targetId, notificationOf([], resolved, input), waiting, input),
  };
}

/** @param maxAlerts how many instances are listed */
function notificationOf(
  firing: readonly Notifiable[],
  resolved: readonly Notifiable[],
  { alert }: NotificationInput,
  maxAlerts: number = limits.maxAlertsPerNotification,
): Notification {
  const all = [...firing, ...resolved.map((each): Notifiable => ({ ...each, status: 'resolved' }))];
  const alerts = all.slice(0, maxAlerts);
  return {
    alert,
    status: firing.length > 0 ? 'firing' : 'resolved',
    alerts,
    truncatedAlerts: all.length - alerts.length,
  };
}

/** A delivery that is tried at once, or when the one that it replaces would have been. */
function newDelivery(
  targetId: string,
  notification: Notification,
  replaced: Delivery | undefined,
  { nowMs, newId }: NotificationInput,
): Delivery {
  return {
    id: newId(),
    targetId,
    status: 'waiting',
    createdAtMs: nowMs,
    tries: 0,
    failuresInRow: replaced?.failuresInRow ?? 0,
    nextTryAtMs: Math.max(nowMs, replaced?.nextTryAtMs ?? nowMs),
    retryUntilMs: nowMs + limits.deliveryRetryMs,
    ...(replaced?.lastError === undefined ? {} : { lastError: replaced.lastError }),
    notification,
  };
}
