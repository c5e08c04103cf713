import type { AlertBody, AlertDocument, NotificationMute } from './alert-document.ts';
import type { LastEvaluation } from './alert-engine.ts';
import { otherMembers } from './alert-request.ts';
import type { AlertState } from './alert-states.ts';
import { isActive, isFiring, isRetained, type NamedState, overallState } from './instance-states.ts';

/** Alerts as clients see them. Parseable's members have its forms. Pure. */

export type ShownState = 'triggered' | 'not-triggered' | 'disabled';

/** `triggered` if one instance fires. */
export function shownState({ isDisabled }: AlertBody, { instances }: AlertState): ShownState {
  if (isDisabled) return 'disabled';
  return instances.some(isFiring) ? 'triggered' : 'not-triggered';
}

/** An alert in full. */
export function showAlert(
  { id, revision, created, modified, owner, body }: AlertDocument,
  state: AlertState,
) {
  const {
    isDisabled: _,
    askedAtMs: __,
    valueColumn: ___,
    datasets,
    runsAs,
    notificationState,
    ...request
  } = body;
  const { triggeredAtMs } = state;
  return {
    ...request,
    version: 'v2',
    id,
    thresholdConfig: body.thresholdConfig ?? null,
    anomalyConfig: body.anomalyConfig ?? null,
    forecastConfig: body.forecastConfig ?? null,
    tags: body.tags ?? null,
    targets: body.targets ?? [],
    datasets,
    state: shownState(body, state),
    notificationState,
    created,
    modified,
    owner,
    runsAs,
    revision,
    lastTriggeredAt: triggeredAtMs === undefined ? null : iso(triggeredAtMs),
  };
}

/**
 * An alert in a list. Parseable's test suite compares the members: there is none that Parseable does not
 * have.
 */
export function listAlert({ id, created, body }: AlertDocument, state: AlertState) {
  const { title, tags, datasets, alertType, severity = 'medium', notificationState } = body;
  const { triggeredAtMs } = state;
  return {
    ...otherMembers(body),
    title,
    created: listedTime(created),
    alertType: alertType ?? 'threshold',
    notificationState: shownMute(notificationState),
    id,
    severity: `${severity.slice(0, 1).toUpperCase()}${severity.slice(1)}`,
    state: shownState(body, state),
    ...(tags && tags.length > 0 ? { tags } : {}),
    datasets,
    ...(triggeredAtMs === undefined ? {} : { lastTriggeredAt: listedTime(iso(triggeredAtMs)) }),
  };
}

export type ListedAlert = ReturnType<typeof listAlert>;

const shownMute = (state: NotificationMute): string => (state === 'notify' ? state : state.mute);

/** `2026-01-02 03:04:05.678 UTC`. */
const listedTime = (text: string): string => text.replace('T', ' ').replace('Z', ' UTC');

/** The instances of an alert, with the state of the whole. */
export function showInstances(
  body: AlertBody,
  state: AlertState,
  last: LastEvaluation | undefined,
  nowMs: number,
) {
  const { problem, noDataSinceMs } = state;
  const overall: NamedState | 'disabled' = body.isDisabled ? 'disabled' : overallState(state);
  return {
    state: overall,
    ...(problem === undefined
      ? {}
      : { problem: { code: problem.code, message: problem.message, since: iso(problem.sinceMs) } }),
    ...(noDataSinceMs === undefined ? {} : { noDataSince: iso(noDataSinceMs) }),
    ...(last === undefined
      ? {}
      : { lastEvaluation: { at: iso(last.atMs), durationMs: Math.round(last.durationMs) } }),
    instances: state.instances
      .filter((instance) => isActive(instance) || isRetained(instance, nowMs))
      .map(({ fingerprint, labels, annotations, status, cause, value, ...times }) => ({
        fingerprint,
        labels,
        annotations,
        state: status === 'resolved' ? 'inactive' : status,
        cause,
        ...(value === undefined ? {} : { value }),
        activeAt: iso(times.activeAtMs),
        ...(times.firedAtMs === undefined ? {} : { firedAt: iso(times.firedAtMs) }),
        ...(times.recoveringAtMs === undefined ? {} : { recoveringAt: iso(times.recoveringAtMs) }),
        ...(times.resolvedAtMs === undefined ? {} : { resolvedAt: iso(times.resolvedAtMs) }),
      })),
  };
}

/** The last transitions, newest first. */
export const showHistory = ({ history }: AlertState) =>
  history.toReversed().map(({ atMs, ...transition }) => ({ at: iso(atMs), ...transition }));

const iso = (ms: number): string => new Date(ms).toISOString();
