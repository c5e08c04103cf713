import { hash } from 'node:crypto';
import { limits } from '../limits/limits.ts';

/** When an alert is evaluated: at multiples of its frequency since 1970, plus an offset of its own. */
export interface Schedule {
  readonly frequencyMs: number;
  readonly offsetMs: number;
}

/**
 * The schedule of an alert. Its offset follows from its id, so that it is the same on every node and after
 * every start, and alerts of one frequency do not all come at once.
 */
export function scheduleOf(id: string, frequencyMs: number): Schedule {
  const spreadMs = Math.min(frequencyMs, limits.maxAlertOffsetMs);
  return { frequencyMs, offsetMs: Number.parseInt(hash('sha256', id, 'hex').slice(0, 8), 16) % spreadMs };
}

/** The last time up to now at which an alert was due. */
export const lastDueMs = ({ frequencyMs, offsetMs }: Schedule, nowMs: number): number =>
  Math.floor((nowMs - offsetMs) / frequencyMs) * frequencyMs + offsetMs;

/**
 * The next time to evaluate: the first one that is due after the last evaluation. After a pause it is the
 * newest that is past, not the first: what was missed is not made up for.
 * @param evaluatedMs the time of the last evaluation; undefined if there was none
 */
export function nextDueMs(schedule: Schedule, evaluatedMs: number | undefined, nowMs: number): number {
  const lastMs = lastDueMs(schedule, nowMs);
  // A last evaluation far in the future is one from before the clock was set back.
  const isPast = evaluatedMs !== undefined && evaluatedMs <= nowMs + schedule.frequencyMs;
  if (!isPast || evaluatedMs < lastMs) return lastMs;
  return lastDueMs(schedule, evaluatedMs) + schedule.frequencyMs;
}

/**
 * How long an alert was not evaluated that should have been: time in which nothing is known of it. A late
 * evaluation is not a pause.
 */
export function pauseMs({ frequencyMs }: Schedule, evaluatedMs: number, nowMs: number): number {
  const missedMs = nowMs - evaluatedMs - frequencyMs;
  return missedMs >= frequencyMs ? missedMs : 0;
}
