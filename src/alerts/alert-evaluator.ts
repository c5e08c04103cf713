import type { Owner } from '../documents/document.ts';
import { AppError, errorText } from '../errors.ts';
import { backoffMs } from '../lib/backoff.ts';
import { Cancellation, type CancelSignal } from '../lib/cancellation.ts';
import type { Timers } from '../lib/clock.ts';
import { quotedName } from '../lib/credential-shape.ts';
import type { Logger } from '../lib/log.ts';
import { limits } from '../limits/limits.ts';
import type { Principal } from '../model/identity.ts';
import type { Query, QueryResult } from '../query/request.ts';
import { RowReader } from './alert-columns.ts';
import type { AlertRule } from './alert-document.ts';
import type { EvaluationOutcome, Observation } from './instance-states.ts';

export interface AlertEvaluatorParts {
  readonly query: Pick<Query, 'run'>;
  /**
   * The present principal of an owner; undefined if it does not exist any more.
   * @throws AppError `store_unavailable` while identities may be out of date, `forbidden`
   */
  principalOf(tenant: string, owner: Owner): Principal | undefined;
  /** Whether somebody may write alerts on a dataset. */
  mayWrite(principal: Principal, dataset: string): boolean;
  readonly timers: Timers;
  readonly log: Logger;
}

/** What is evaluated. */
export interface Evaluation {
  readonly tenant: string;
  readonly rule: AlertRule;
  readonly runsAs: Owner;
  readonly datasets: readonly string[];
  /** The time of the evaluation: it sees rows from before it, less the delay. Milliseconds since 1970. */
  readonly atMs: number;
}

/**
 * Runs the query of an alert once, with the privileges that its owner has at this moment: whoever lost them,
 * or was deleted, has alerts that cannot be evaluated. Everything that goes wrong is an outcome.
 */
export class AlertEvaluator {
  readonly #parts: AlertEvaluatorParts;

  constructor(parts: AlertEvaluatorParts) {
    this.#parts = parts;
  }

  /**
   * Evaluates; a failure that may pass is tried again.
   * @param signal ends the evaluation, which then fails
   */
  async evaluate(evaluation: Evaluation, signal: CancelSignal): Promise<EvaluationOutcome> {
    for (let tries = 1; ; tries += 1) {
      try {
        return { kind: 'rows', observations: await this.#observe(evaluation, signal) };
      } catch (thrown) {
        const isLast = tries >= limits.maxEvaluationTries || signal.aborted;
        if (isLast || !(thrown instanceof AppError) || !thrown.definition.retryable)
          return this.#failed(thrown);
        await this.#pause(tries);
      }
    }
  }

  /**
   * The principal as whom an alert runs.
   * @throws AppError `forbidden`, `store_unavailable`
   */
  principalOf({ tenant, runsAs, datasets }: Omit<Evaluation, 'rule' | 'atMs'>): Principal {
    const { principalOf, mayWrite } = this.#parts;
    const who = `the alert runs as ${kinds[runsAs.kind]} ${quotedName(runsAs.name)}, who`;
    const principal = principalOf(tenant, runsAs);
    if (principal === undefined) throw new AppError('forbidden', `${who} does not exist any more`);
    const refused = datasets.find((dataset) => !mayWrite(principal, dataset));
    if (refused === undefined) return principal;
    throw new AppError('forbidden', `${who} may not write alerts on dataset ${quotedName(refused)} any more`);
  }

  async #observe(evaluation: Evaluation, signal: CancelSignal): Promise<readonly Observation[]> {
    const { tenant, rule, atMs } = evaluation;
    const principal = this.principalOf(evaluation);
    const timeoutMs = Math.max(rule.schedule.frequencyMs, limits.alertFrequencyMs[0] * 2);
    const cancellation = new Cancellation();
    const slow = `the query takes longer than ${timeoutMs / 1000} seconds, the time to the next evaluation`;
    const endTimeout = this.#parts.timers.after(timeoutMs, () =>
      cancellation.cancel(new AppError('query_timeout', slow)),
    );
    const onAbort = () => cancellation.cancel(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
    try {
      const endMs = atMs - rule.delayMs;
      const result = await this.#parts.query.run({
        principal,
        tenant,
        sql: rule.query,
        startTime: new Date(endMs - rule.windowMs).toISOString(),
        endTime: new Date(endMs).toISOString(),
        format: 'ndjson',
        signal: cancellation,
      });
      return await readRows(result, rule);
    } finally {
      endTimeout();
      signal.removeEventListener('abort', onAbort);
    }
  }

  #failed(thrown: unknown): EvaluationOutcome {
    if (thrown instanceof AppError) return { kind: 'failed', code: thrown.code, message: thrown.message };
    this.#parts.log.error({ err: thrown }, 'an alert could not be evaluated');
    return { kind: 'failed', code: 'internal', message: `an internal error: ${errorText(thrown)}` };
  }

  #pause(tries: number): Promise<void> {
    const { timers } = this.#parts;
    const { evaluationRetryMinMs, evaluationRetryMaxMs } = limits;
    const ms = backoffMs(tries - 1, evaluationRetryMinMs, evaluationRetryMaxMs, timers);
    return new Promise((resolve) => timers.after(ms, resolve));
  }
}

const kinds: Readonly<Record<Owner['kind'], string>> = {
  root: 'the administrator',
  user: 'the user',
  apiKey: 'the API key',
  oidc: 'the user of the identity provider',
};

/** Reads the rows, up to their bounds. @throws AppError `alert_result_too_large`, and those of the query */
async function readRows(result: QueryResult, rule: AlertRule): Promise<readonly Observation[]> {
  const reader = new RowReader(result.columns, rule);
  const observations: Observation[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  const add = (line: string): void => {
    if (line === '') return;
    if (observations.length >= limits.maxAlertRows) throw tooLarge(`more than ${limits.maxAlertRows} rows`);
    observations.push(reader.read(JSON.parse(line) as Record<string, unknown>));
  };
  for await (const { parts } of result.chunks) {
    for (const part of parts) {
      bytes += part.byteLength;
      if (bytes > limits.maxAlertResultBytes) throw tooLarge(`more than ${limits.maxAlertResultBytes} bytes`);
      const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) add(line);
    }
  }
  add(rest + decoder.decode());
  return observations;
}

const tooLarge = (what: string): AppError =>
  new AppError('alert_result_too_large', `the result of the query has ${what}; group them, or add a LIMIT`);
