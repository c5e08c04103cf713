import type { Owner, StoredDocument } from '../documents/document.ts';
import { limits } from '../limits/limits.ts';
import { type AlertRequest, frequencyOf, readWindowMs } from './alert-request.ts';
import type { Judgement } from './instance-states.ts';
import { type Schedule, scheduleOf } from './schedule.ts';

/** Until when nothing is sent: RFC 3339, or for ever. */
export type NotificationMute = 'notify' | { readonly mute: string };

/** What is kept of an alert as a document: the request, as `readAlertRequest` returned it, and more. */
export type AlertBody = AlertRequest & {
  /** The datasets that its query reads. */
  readonly datasets: readonly string[];
  /** The column with the number that is compared; absent if every row is an instance. */
  readonly valueColumn?: string;
  /**
   * As whom the query runs: who wrote it last. Otherwise somebody with few privileges could change an alert
   * of somebody with many, and read with those.
   */
  readonly runsAs: Owner;
  readonly isDisabled: boolean;
  readonly notificationState: NotificationMute;
  /** When somebody last asked for an evaluation. */
  readonly askedAtMs?: number;
};

export type AlertDocument = StoredDocument<AlertBody>;

export interface Threshold {
  readonly operator: '>' | '<' | '=' | '!=' | '>=' | '<=';
  readonly value: number;
}

/** An alert as the engine uses it. Durations in milliseconds. */
export interface AlertRule extends Judgement {
  readonly query: string;
  readonly schedule: Schedule;
  readonly windowMs: number;
  readonly delayMs: number;
  readonly threshold?: Threshold;
  readonly valueColumn?: string;
  /** Templates: `{{ name }}` stands for a column of the row. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly repeatMs: number;
  readonly targets: readonly string[];
}

export function alertRule({ id, body }: Pick<AlertDocument, 'id' | 'body'>): AlertRule {
  const { valueColumn, ...request } = body;
  const { noData = 'ok', thresholdConfig } = request;
  const threshold = thresholdConfig ?? undefined;
  const frequencyMs = frequencyOf(request);
  return {
    query: request.query,
    schedule: scheduleOf(id, frequencyMs),
    windowMs: readWindowMs(request.evalConfig.rollingWindow.evalStart),
    delayMs: ms(request.delaySeconds, limits.defaultAlertDelayMs),
    ...(threshold === undefined ? {} : { threshold }),
    ...(valueColumn === undefined ? {} : { valueColumn }),
    annotations: request.annotations ?? {},
    forMs: ms(request.forSeconds, 0),
    keepFiringMs: ms(request.keepFiringSeconds, 0),
    noData,
    emptyIsNoData: threshold !== undefined || noData !== 'ok',
    onError: request.onError ?? 'keep',
    maxInstances: request.maxInstances ?? limits.defaultInstancesPerAlert,
    groupWaitMs: ms(request.groupWaitSeconds, 0),
    groupIntervalMs: (request.notificationConfig?.interval ?? 1) * 60_000,
    repeatMs: (request.repeatMinutes ?? limits.defaultAlertRepeatMinutes) * 60_000,
    targets: request.targets ?? [],
  };
}

const ms = (seconds: number | undefined, otherwiseMs: number): number =>
  seconds === undefined ? otherwiseMs : Math.round(seconds * 1000);

/** Until when nothing is sent: milliseconds since 1970. */
export function muteEndMs(state: NotificationMute): number {
  if (state === 'notify') return 0;
  return state.mute === 'indefinite' ? Number.POSITIVE_INFINITY : Date.parse(state.mute);
}
