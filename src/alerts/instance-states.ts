import { hash } from 'node:crypto';
import { limits } from '../limits/limits.ts';

/**
 * The states of the instances of an alert. Pure: no clock, no I/O.
 *
 *     inactive ── condition holds ──▶ pending ── for `for` ──▶ firing ◀── holds again ──┐
 *        ▲                              │                        │                      │
 *        ├──────── holds no more ───────┘                        ├─ no more ──▶ recovering
 *        │                                                       │   (keep firing)      │
 *        └── after `resolvedRetentionMs` ── resolved ◀───────────┴──── for that long ───┘
 *
 * Without `for` an instance fires at once, and without `keep firing` it resolves at once; the rules are those
 * of Prometheus (rules/alerting.go, `AlertingRule.Eval`). Inactive instances are not kept.
 *
 * No data and failures are what the alert says they are, and never a number:
 *
 * - A row without a number (NULL, NaN), or no row at all, is no data. `ok`: the condition does not hold.
 *   `keep`: what is active stays as it is. `alert`: the condition holds; with no row and nothing active, for
 *   an instance without labels.
 * - A row that is missing among others does not hold.
 * - A failed evaluation. `keep`: nothing changes. `alert`: the condition holds for the instance without
 *   labels.
 */

export type InstanceStatus = 'pending' | 'firing' | 'recovering' | 'resolved';
/** Why the condition of an instance held last. */
export type Cause = 'value' | 'noData' | 'error';

export interface Instance {
  /** Of its labels: identifies it within its alert. */
  readonly fingerprint: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly status: InstanceStatus;
  readonly cause: Cause;
  /** Since when the condition holds. Milliseconds since 1970, as all times here. */
  readonly activeAtMs: number;
  readonly firedAtMs?: number;
  /** Since when it holds no more, while it is kept firing. */
  readonly recoveringAtMs?: number;
  readonly resolvedAtMs?: number;
  /** Absent where there is no number. */
  readonly value?: number;
}

/** What one row of the result says. */
export interface Observation {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly value?: number;
  readonly finding: 'holds' | 'holdsNot' | 'noData';
}

export type EvaluationOutcome =
  | { readonly kind: 'rows'; readonly observations: readonly Observation[] }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** Why an alert cannot be evaluated. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly sinceMs: number;
}

export type NamedState = 'inactive' | 'pending' | 'firing' | 'recovering' | 'noData' | 'error';

/** One line of the history: of an instance, or of the alert as a whole if there is no fingerprint. */
export interface Transition {
  readonly atMs: number;
  readonly fingerprint?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly from: NamedState;
  readonly to: NamedState;
  readonly value?: number;
  readonly reason?: string;
}

/** How an alert judges. Durations in milliseconds. */
export interface Judgement {
  readonly forMs: number;
  readonly keepFiringMs: number;
  readonly noData: 'ok' | 'alert' | 'keep';
  /** Whether a result without rows is no data; otherwise it says that the condition holds nowhere. */
  readonly emptyIsNoData: boolean;
  readonly onError: 'alert' | 'keep';
  readonly maxInstances: number;
}

export interface InstanceStates {
  readonly instances: readonly Instance[];
  readonly problem?: Problem;
  /** Since when the result has no row with a number. */
  readonly noDataSinceMs?: number;
}

export interface Step extends InstanceStates {
  /** Oldest first. */
  readonly transitions: readonly Transition[];
  /** Whether anything must be kept; new values alone need not be. */
  readonly isChanged: boolean;
}

export const noInstances: InstanceStates = { instances: [] };

/** A name for a set of labels; their order does not count. */
export function fingerprintOf(labels: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify(sorted), 'hex').slice(0, 16);
}

const noLabels = fingerprintOf({});

export const isActive = ({ status }: Instance): boolean => status !== 'resolved';
export const isFiring = ({ status }: Instance): boolean => status === 'firing' || status === 'recovering';

/**
 * The states after an evaluation.
 * @param atMs the time of the evaluation; not before that of the last one
 * @param pausedMs how long nothing was evaluated before this one. What happened meanwhile is not known, so it
 *   counts for no duration
 */
export function stepInstances(
  previous: InstanceStates,
  outcome: EvaluationOutcome,
  judgement: Judgement,
  atMs: number,
  pausedMs = 0,
): Step {
  const before = previous.instances.map((instance) => afterPause(instance, atMs, pausedMs));
  const found = outcomeWithin(outcome, judgement);
  const holds =
    found.kind === 'rows' ? judge(found.observations, before, judgement) : judgeFailure(before, judgement);
  const active = before.filter(isActive);
  const known = new Map(active.map((each) => [each.fingerprint, each]));
  const after: Instance[] = [];
  const transitions: Transition[] = [];
  for (const instance of active) {
    const next = nextOf(instance, holds.get(instance.fingerprint), judgement, atMs);
    if (next !== undefined) after.push(next);
    const [from, to] = [stateOf(instance), stateOf(next)];
    if (from !== to) transitions.push(transitionOf(next ?? instance, from, to, atMs));
  }
  for (const [fingerprint, held] of holds) {
    if (known.has(fingerprint) || held === 'keeps') continue;
    const { labels, annotations, value, cause } = held;
    const fires = judgement.forMs === 0;
    const instance: Instance = {
      fingerprint,
      labels,
      annotations,
      status: fires ? 'firing' : 'pending',
      cause,
      activeAtMs: atMs,
      ...(fires ? { firedAtMs: atMs } : {}),
      ...(value === undefined ? {} : { value }),
    };
    after.push(instance);
    transitions.push(transitionOf(instance, 'inactive', stateOf(instance), atMs));
  }
  const isAgain = new Set(after.map(({ fingerprint }) => fingerprint));
  const resolved = before.filter(
    (each) => !isActive(each) && !isAgain.has(each.fingerprint) && isRetained(each, atMs),
  );
  const isShifted = before.some((instance, index) => instance !== previous.instances[index]);
  const causes = new Map(active.map(({ fingerprint, cause }) => [fingerprint, cause]));
  const isOtherCause = after.some(
    ({ fingerprint, cause }) => causes.get(fingerprint) !== undefined && causes.get(fingerprint) !== cause,
  );
  const condition = conditionOf(previous, found, judgement, atMs);
  const all = [...condition.transitions, ...transitions];
  return {
    instances: [...after, ...resolved.slice(-judgement.maxInstances)],
    ...(condition.problem === undefined ? {} : { problem: condition.problem }),
    ...(condition.noDataSinceMs === undefined ? {} : { noDataSinceMs: condition.noDataSinceMs }),
    transitions: all,
    isChanged: all.length > 0 || isShifted || isOtherCause || condition.isOther,
  };
}

/** Ends all instances of an alert that is evaluated no more. */
export function resolveAll(previous: InstanceStates, atMs: number, reason: string): Step {
  const transitions: Transition[] = [];
  const instances = previous.instances.flatMap((instance): Instance[] => {
    if (!isActive(instance)) return isRetained(instance, atMs) ? [instance] : [];
    transitions.push({ ...transitionOf(instance, stateOf(instance), 'inactive', atMs), reason });
    return isFiring(instance) ? [resolve(instance, atMs)] : [];
  });
  const isCleared = previous.problem !== undefined || previous.noDataSinceMs !== undefined;
  return { instances, transitions, isChanged: transitions.length > 0 || isCleared };
}

/** The state of an alert as one word. */
export function overallState({ instances, problem, noDataSinceMs }: InstanceStates): NamedState {
  if (problem !== undefined) return 'error';
  const has = (status: InstanceStatus) => instances.some((each) => each.status === status);
  if (has('firing')) return 'firing';
  if (has('recovering')) return 'recovering';
  if (noDataSinceMs !== undefined) return 'noData';
  return has('pending') ? 'pending' : 'inactive';
}

export const isRetained = ({ resolvedAtMs }: Instance, atMs: number): boolean =>
  resolvedAtMs !== undefined && atMs - resolvedAtMs <= limits.resolvedRetentionMs;

/** A condition that holds. */
type Held = Pick<Observation, 'labels' | 'annotations' | 'value'> & { readonly cause: Cause };
/** `keeps`: what is active stays as it is. What is not in the map does not hold. */
type Holding = ReadonlyMap<string, Held | 'keeps'>;

function judge(
  observations: readonly Observation[],
  before: readonly Instance[],
  { noData, emptyIsNoData }: Judgement,
): Holding {
  const active = before.filter(isActive);
  if (observations.length === 0 && emptyIsNoData) {
    if (noData === 'ok') return new Map();
    if (noData === 'keep') return new Map(active.map(({ fingerprint }) => [fingerprint, 'keeps']));
    return active.length === 0 ? new Map([[noLabels, unlabelled('noData')]]) : stillHolding(active, 'noData');
  }
  const holds = new Map<string, Held | 'keeps'>();
  for (const { labels, annotations, value, finding } of observations) {
    const fingerprint = fingerprintOf(labels);
    const shown = { labels, annotations, ...(value === undefined ? {} : { value }) };
    // Two rows with the same labels are one instance; it is enough that one of them holds.
    if (finding === 'holds') {
      if (typeof holds.get(fingerprint) !== 'object') holds.set(fingerprint, { ...shown, cause: 'value' });
    } else if (finding === 'noData' && !holds.has(fingerprint)) {
      if (noData === 'alert') holds.set(fingerprint, { ...shown, cause: 'noData' });
      if (noData === 'keep') holds.set(fingerprint, 'keeps');
    }
  }
  return holds;
}

function judgeFailure(before: readonly Instance[], { onError }: Judgement): Holding {
  const kept = before.filter(isActive).map(({ fingerprint }) => [fingerprint, 'keeps'] as const);
  return new Map<string, Held | 'keeps'>([
    ...kept,
    ...(onError === 'alert' ? [[noLabels, unlabelled('error')] as const] : []),
  ]);
}

const unlabelled = (cause: Cause): Held => ({ labels: {}, annotations: {}, cause });

const stillHolding = (active: readonly Instance[], cause: Cause): Holding =>
  new Map(
    active.map(({ fingerprint, labels, annotations }) => [fingerprint, { labels, annotations, cause }]),
  );

/** @returns undefined if it becomes inactive without ever having fired */
function nextOf(
  instance: Instance,
  held: Held | 'keeps' | undefined,
  { forMs, keepFiringMs }: Judgement,
  atMs: number,
): Instance | undefined {
  if (held === 'keeps') return instance;
  if (held !== undefined) {
    const { recoveringAtMs: _, value: __, ...rest } = instance;
    const { labels, annotations, value, cause } = held;
    const shown = { ...rest, labels, annotations, cause, ...(value === undefined ? {} : { value }) };
    if (instance.status !== 'pending') return { ...shown, status: 'firing' };
    if (atMs - instance.activeAtMs < forMs) return shown;
    return { ...shown, status: 'firing', firedAtMs: atMs };
  }
  if (instance.status === 'pending') return undefined;
  const recoveringAtMs = instance.recoveringAtMs ?? atMs;
  if (keepFiringMs > 0 && atMs - recoveringAtMs < keepFiringMs) {
    return { ...instance, status: 'recovering', recoveringAtMs };
  }
  return resolve(instance, atMs);
}

function resolve({ recoveringAtMs: _, ...instance }: Instance, atMs: number): Instance {
  return { ...instance, status: 'resolved', resolvedAtMs: atMs };
}

/** What was not watched does not count. A time in the future is one from before the clock was set back. */
function afterPause(instance: Instance, atMs: number, pausedMs: number): Instance {
  const later = (ms: number) => Math.min(atMs, ms + pausedMs);
  const { status, activeAtMs, recoveringAtMs } = instance;
  if (status === 'pending' && later(activeAtMs) !== activeAtMs) {
    return { ...instance, activeAtMs: later(activeAtMs) };
  }
  if (recoveringAtMs !== undefined && later(recoveringAtMs) !== recoveringAtMs) {
    return { ...instance, recoveringAtMs: later(recoveringAtMs) };
  }
  return instance;
}

/** A result with too many instances is a failure: half of them would be no answer. */
function outcomeWithin(outcome: EvaluationOutcome, { maxInstances }: Judgement): EvaluationOutcome {
  if (outcome.kind === 'failed') return outcome;
  const count = outcome.observations.filter(({ finding }) => finding === 'holds').length;
  if (count <= maxInstances) return outcome;
  const message = `the condition holds for ${count} rows; the alert allows ${maxInstances} instances`;
  return { kind: 'failed', code: 'alert_result_too_large', message };
}

interface Condition extends Pick<InstanceStates, 'problem' | 'noDataSinceMs'> {
  readonly transitions: readonly Transition[];
  readonly isOther: boolean;
}

/** The alert as a whole: whether it could be evaluated, and whether there was anything to judge. */
function conditionOf(
  previous: InstanceStates,
  outcome: EvaluationOutcome,
  { emptyIsNoData }: Judgement,
  atMs: number,
): Condition {
  const was = nameOf(previous);
  if (outcome.kind === 'failed') {
    const { code, message } = outcome;
    const isSame = previous.problem?.code === code && previous.problem.message === message;
    const sinceMs = previous.problem?.sinceMs ?? atMs;
    const reason = `${code}: ${message}`;
    return {
      problem: isSame && previous.problem !== undefined ? previous.problem : { code, message, sinceMs },
      transitions: was === 'error' ? [] : [{ atMs, from: was, to: 'error', reason }],
      isOther: !isSame,
    };
  }
  const { observations } = outcome;
  const isEmpty = observations.length === 0;
  const hasNone = isEmpty ? emptyIsNoData : observations.every(({ finding }) => finding === 'noData');
  const is = hasNone ? 'noData' : 'inactive';
  return {
    ...(hasNone ? { noDataSinceMs: previous.noDataSinceMs ?? atMs } : {}),
    transitions: was === is ? [] : [{ atMs, from: was, to: is }],
    isOther: was !== is,
  };
}

const nameOf = ({ problem, noDataSinceMs }: InstanceStates): NamedState =>
  problem !== undefined ? 'error' : noDataSinceMs !== undefined ? 'noData' : 'inactive';

const stateOf = (instance: Instance | undefined): NamedState =>
  instance === undefined || instance.status === 'resolved' ? 'inactive' : instance.status;

const transitionOf = (
  { fingerprint, labels, value }: Instance,
  from: NamedState,
  to: NamedState,
  atMs: number,
): Transition => ({
  atMs,
  fingerprint,
  labels,
  from,
  to,
  ...(value === undefined ? {} : { value }),
});
