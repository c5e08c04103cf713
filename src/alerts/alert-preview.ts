import type { Caller } from '../access/gate.ts';
import { ownerOf } from '../documents/document.ts';
import { AppError } from '../errors.ts';
import type { CancelSignal } from '../lib/cancellation.ts';
import type { Clock } from '../lib/clock.ts';
import { FairExecutor } from '../lib/fair-executor.ts';
import { limits } from '../limits/limits.ts';
import { parseDuration } from '../query/time-range.ts';
import { type AlertBody, alertRule } from './alert-document.ts';
import type { AlertEvaluator, Evaluation } from './alert-evaluator.ts';
import {
  type EvaluationOutcome,
  type InstanceStates,
  isActive,
  type NamedState,
  noInstances,
  overallState,
  type Problem,
  stepInstances,
  type Transition,
} from './instance-states.ts';
import { lastDueMs } from './schedule.ts';

/** One evaluation, of which nothing is kept. Times are ISO 8601. */
export interface Preview {
  readonly evaluatedAt: string;
  /** The rows that it saw, half-open. */
  readonly from: string;
  readonly to: string;
  readonly state: NamedState;
  readonly problem?: Omit<Problem, 'sinceMs'>;
  /** The rows of the result, with what they mean. */
  readonly rows: ReadonlyArray<{
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly value?: number;
    readonly holds: boolean;
  }>;
  /** With `over`: when it would have fired. */
  readonly over?: PreviewOver;
}

export interface PreviewOver {
  readonly from: string;
  /** Earlier than asked for if the time of a preview was not enough. */
  readonly to: string;
  readonly isComplete: boolean;
  /** Seconds from one evaluation to the next: a multiple of the frequency, so that there are not too many. */
  readonly stepSeconds: number;
  readonly evaluations: number;
  readonly failures: number;
  readonly firings: readonly Firing[];
}

export interface Firing {
  readonly labels: Readonly<Record<string, string>>;
  readonly from: string;
  /** Absent if it still fires at the end. */
  readonly to?: string;
  readonly value?: number;
}

/**
 * Evaluates an alert that is not kept, as whoever asks: once, and over the past. Previews run one at a time,
 * and tenants take turns.
 */
export class AlertPreview {
  readonly #evaluator: Pick<AlertEvaluator, 'evaluate'>;
  readonly #clock: Clock;
  readonly #queue = new FairExecutor(
    limits.maxWaitingPreviews,
    'too many previews of alerts are being made',
    limits.previewTimeoutMs,
  );

  constructor(evaluator: Pick<AlertEvaluator, 'evaluate'>, clock: Clock) {
    this.#evaluator = evaluator;
    this.#clock = clock;
  }

  /**
   * @param over as `readOver` returned it
   * @throws AppError `overloaded`, and the code of a query that fails
   */
  preview(
    { principal, tenant }: Caller,
    body: AlertBody,
    over: number | undefined,
    signal: CancelSignal,
  ): Promise<Preview> {
    const rule = alertRule({ id: '', body });
    const { datasets } = body;
    const evaluation = { tenant, rule, runsAs: ownerOf(principal), datasets };
    return this.#queue.run(tenant, async () => {
      const atMs = Math.floor(this.#clock.nowMicros() / 1000);
      const outcome = await this.#evaluator.evaluate({ ...evaluation, atMs }, signal);
      const once = shown(outcome, { ...evaluation, atMs });
      if (over === undefined || outcome.kind === 'failed') return once;
      return { ...once, over: await this.#over(evaluation, over, atMs, signal) };
    });
  }

  async #over(
    evaluation: Omit<Evaluation, 'atMs'>,
    overMs: number,
    nowMs: number,
    signal: CancelSignal,
  ): Promise<PreviewOver> {
    const { rule } = evaluation;
    const { frequencyMs } = rule.schedule;
    const count = Math.max(1, Math.ceil(overMs / frequencyMs));
    const stepMs = Math.ceil(count / limits.maxPreviewEvaluations) * frequencyMs;
    const endMs = lastDueMs(rule.schedule, nowMs);
    const startMs = endMs - Math.floor(overMs / stepMs) * stepMs;
    const deadlineMs = this.#clock.monotonicMs() + limits.previewTimeoutMs;
    const transitions: Transition[] = [];
    let states: InstanceStates = noInstances;
    let [evaluations, failures, atMs] = [0, 0, startMs];
    for (; atMs <= endMs && this.#clock.monotonicMs() < deadlineMs; atMs += stepMs) {
      signal.throwIfAborted();
      const outcome = await this.#evaluator.evaluate({ ...evaluation, atMs }, signal);
      const step = stepInstances(states, outcome, rule, atMs);
      transitions.push(...step.transitions);
      states = step;
      evaluations += 1;
      if (outcome.kind === 'failed') failures += 1;
    }
    return {
      from: iso(startMs),
      to: iso(Math.max(startMs, atMs - stepMs)),
      isComplete: atMs > endMs,
      stepSeconds: stepMs / 1000,
      evaluations,
      failures,
      firings: firingsOf(transitions),
    };
  }
}

/** How far back to look, in milliseconds. @throws AppError `bad_request` */
export function readOver(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = (text.length > 60 ? 0 : (parseDuration(text.trim().toLowerCase()) ?? 0)) / 1000;
  if (ms > 0 && ms <= limits.maxPreviewMs) return ms;
  const days = limits.maxPreviewMs / 86_400_000;
  throw new AppError(
    'bad_request',
    `the parameter over must be a duration of at most ${days} days, such as 7d`,
  );
}

function shown(outcome: EvaluationOutcome, { rule, atMs }: Evaluation): Preview {
  const endMs = atMs - rule.delayMs;
  const step = stepInstances(noInstances, outcome, rule, atMs);
  const times = { evaluatedAt: iso(atMs), from: iso(endMs - rule.windowMs), to: iso(endMs) };
  const state = overallState({ ...step, instances: step.instances.filter(isActive) });
  if (outcome.kind === 'failed') {
    return { ...times, state, problem: { code: outcome.code, message: outcome.message }, rows: [] };
  }
  const rows = outcome.observations.map(({ labels, annotations, value, finding }) => ({
    labels,
    annotations,
    ...(value === undefined ? {} : { value }),
    holds: finding === 'holds',
  }));
  const { problem } = step;
  return {
    ...times,
    state,
    ...(problem === undefined ? {} : { problem: { code: problem.code, message: problem.message } }),
    rows,
  };
}

function firingsOf(transitions: readonly Transition[]): readonly Firing[] {
  const open = new Map<string, Firing>();
  const ended: Firing[] = [];
  for (const { atMs, fingerprint, labels = {}, from, to, value } of transitions) {
    if (fingerprint === undefined) continue;
    if (to === 'firing' && from !== 'recovering') {
      open.set(fingerprint, { labels, from: iso(atMs), ...(value === undefined ? {} : { value }) });
    }
    const firing = open.get(fingerprint);
    if (to !== 'inactive' || firing === undefined) continue;
    ended.push({ ...firing, to: iso(atMs) });
    open.delete(fingerprint);
  }
  return [...ended, ...open.values()]
    .sort((a, b) => (a.from < b.from ? -1 : 1))
    .slice(0, limits.maxPreviewFirings);
}

const iso = (ms: number): string => new Date(ms).toISOString();
