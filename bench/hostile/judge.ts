import type { Answer } from './answer.ts';
import type { Attack } from './attack.ts';
import { shownAnswers } from './shown-answers.ts';
import type { Probe } from './victim-thread.ts';

/**
 * The bounds that must hold while the service is attacked, on an idle machine with a query limit of five
 * seconds.
 */
export const bounds = {
  replyMs: 15_000,
  livenessMs: 200,
  victimMs: 1000,
  rssBytes: 1.5e9,
  /** Of a second, five seconds after the reply. */
  busyCores: 0.5,
} as const;

export interface Measured {
  readonly answers: readonly Answer[];
  /** How long the slowest request waited for its reply; what is sent slowly on purpose does not count. */
  readonly replyMs: number;
  readonly worstMs: Readonly<Record<Probe, number>>;
  /** Replies to the victim other than 2xx. */
  readonly failures: readonly string[];
  /** From the last reply until no core was busy any more, or for five seconds. */
  readonly cpuSecondsAfter: number;
  /** CPU seconds in the second that follows those five. */
  readonly busyCores: number;
  readonly peakBytes: number;
  /** How the process ended; undefined while it runs as before. */
  readonly ended: string | undefined;
}

/** A reply that a hostile request may have. */
export function isAllowed({ status }: Answer, { mayClose }: Pick<Attack, 'mayClose'>): boolean {
  if (status === 'left') return true;
  // The server answers 505 to other versions of HTTP, and to bytes that are not a request.
  if (status === 'closed' || status === 505) return mayClose === true;
  return typeof status === 'number' && ((status >= 200 && status < 500) || status === 503);
}

/** The bounds that an attack broke, one line each. */
export function brokenBounds(attack: Attack, measured: Measured): readonly string[] {
  const { answers, replyMs, worstMs, failures, busyCores, peakBytes, ended } = measured;
  const wrong = answers.filter((answer) => !isAllowed(answer, attack));
  const checks: ReadonlyArray<readonly [boolean, string]> = [
    [ended === undefined, `the process ${ended}`],
    [wrong.length === 0, `answered with ${shownAnswers(wrong)}`],
    [replyMs < bounds.replyMs, `a request waited for ${seconds(replyMs)} s`],
    [worstMs.liveness <= bounds.livenessMs, `liveness took ${Math.round(worstMs.liveness)} ms`],
    [worstMs.query <= bounds.victimMs, `the victim's query took ${Math.round(worstMs.query)} ms`],
    [worstMs.ingest <= bounds.victimMs, `the victim's ingest took ${Math.round(worstMs.ingest)} ms`],
    [
      worstMs.sqlClient <= bounds.victimMs,
      `the victim's sign-in and query as a SQL client took ${Math.round(worstMs.sqlClient)} ms`,
    ],
    [failures.length === 0, `the victim got ${failures.join('; ')}`],
    [busyCores < bounds.busyCores, `${busyCores.toFixed(1)} cores were busy five seconds later`],
    [peakBytes < bounds.rssBytes, `${(peakBytes / 1e9).toFixed(2)} GB of memory`],
  ];
  return checks.filter(([holds]) => !holds).map(([, what]) => what);
}

export const seconds = (ms: number): string => (ms / 1000).toFixed(1);
