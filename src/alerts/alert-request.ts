import * as v from 'valibot';
import { AppError } from '../errors.ts';
import { type Expectation, listOf, members, oneOf, text, validate } from '../lib/validation.ts';
import { limits } from '../limits/limits.ts';
import { parseDuration } from '../query/time-range.ts';

/**
 * What somebody asks for when making or changing an alert. It has Parseable's form: a query with one
 * aggregate and a threshold, or its rows are the instances. Beyond Parseable's members it has those of
 * Prometheus' rules. All members are kept as they are sent; `alertRule` reads them.
 */

const severities = ['critical', 'high', 'medium', 'low'] as const;
const operators = ['>', '<', '=', '!=', '>=', '<='] as const;

const numberFrom = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.check(
      (value) => Number.isFinite(value) && value >= min && value <= max,
      `must be a number from ${min} to ${max}`,
    ),
  );
const integerFrom = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.check(
      (value) => Number.isInteger(value) && value >= min && value <= max,
      `must be a whole number from ${min} to ${max}`,
    ),
  );
const hold = v.optional(numberFrom(0, limits.maxAlertHoldMs / 1000));

const tags = listOf(text(limits.maxAlertTagLength), limits.maxAlertTags, 'are an array of texts');

const known = {
  title: v.pipe(v.string(), v.minLength(1), v.maxLength(limits.maxAlertTitleLength)),
  severity: v.optional(oneOf(severities)),
  query: v.pipe(v.string(), v.description('SQL. Each row of its result is an instance, or a group of one.')),
  queryType: v.optional(oneOf(['builder', 'code', 'sql', 'promql'])),
  alertType: v.optional(oneOf(['threshold', 'anomaly', 'forecast'])),
  thresholdConfig: v.nullish(
    v.pipe(
      members({ operator: oneOf(operators), value: v.number() }),
      v.description('The condition on the number of a row. Without it the condition holds for every row.'),
    ),
  ),
  evalConfig: members({
    rollingWindow: members({
      evalStart: v.pipe(v.string(), v.description('How far an evaluation looks back: `5m`, `1h 30m`.')),
      evalEnd: v.optional(v.string()),
      evalFrequency: v.optional(
        v.pipe(v.number(), v.description('Minutes from one evaluation to the next.')),
      ),
    }),
  }),
  frequencySeconds: v.optional(
    v.pipe(
      integerFrom(limits.alertFrequencyMs[0] / 1000, limits.alertFrequencyMs[1] / 1000),
      v.description('In place of `evalFrequency`.'),
    ),
  ),
  notificationConfig: v.optional(
    members({
      interval: v.pipe(
        v.number(),
        v.description(
          'Minutes from one notification of changes to the next. It cannot exceed the frequency.',
        ),
      ),
    }),
  ),
  targets: v.optional(
    listOf(v.pipe(v.string(), v.description('The id of a target.')), limits.maxAlertTargets, 'are an array'),
  ),
  tags: v.nullish(tags),
  anomalyConfig: v.nullish(v.unknown()),
  forecastConfig: v.nullish(v.unknown()),
  forSeconds: hold,
  keepFiringSeconds: hold,
  groupWaitSeconds: v.optional(numberFrom(0, limits.maxAlertGroupWaitMs / 1000)),
  repeatMinutes: v.optional(numberFrom(1, limits.maxAlertRepeatMinutes)),
  delaySeconds: v.optional(numberFrom(0, limits.maxAlertDelayMs / 1000)),
  noData: v.optional(oneOf(['ok', 'alert', 'keep'])),
  onError: v.optional(oneOf(['alert', 'keep'])),
  maxInstances: v.optional(integerFrom(1, limits.maxInstancesPerAlert)),
  annotations: v.optional(v.record(v.string(), text(limits.maxAnnotationLength))),
};

/**
 * Members of replies, and of what is kept. A client that sends back what it got means none of them.
 */
const ofReplies: ReadonlySet<string> = new Set([
  'version',
  'id',
  'datasets',
  'state',
  'notificationState',
  'created',
  'modified',
  'owner',
  'runsAs',
  'valueColumn',
  'isDisabled',
  'askedAtMs',
  'revision',
  'lastTriggeredAt',
  'tenantId',
]);

const schema = v.looseObject(known);
export type AlertRequest = Readonly<v.InferOutput<v.ObjectSchema<typeof known, undefined>>>;

/** In the reference of the API, and what `validate` reads. */
export const alertRequestSchema = v.pipe(schema, v.title('AlertRequest'));

export const alertExpectation: Expectation<AlertRequest> = {
  schema: alertRequestSchema,
  name: '',
  whole: 'an alert must be an object with title, query and evalConfig',
  code: 'bad_alert',
};

/**
 * Reads a request: what is kept of it, with the defaults of Parseable's members.
 * @throws AppError `bad_alert`
 */
export function readAlertRequest(body: unknown): AlertRequest {
  const request = validate(alertExpectation, body);
  const entries = Object.entries(request).filter(([name]) => !ofReplies.has(name));
  const others = entries.filter(([name]) => !Object.hasOwn(known, name));
  if (others.length > limits.maxOtherAlertMembers) {
    const reason = `the alert has ${others.length} members that are not known here; ${limits.maxOtherAlertMembers} are allowed`;
    throw new AppError('bad_alert', reason);
  }
  const asked = Object.fromEntries(entries) as AlertRequest;
  const { queryType = 'builder', alertType = 'threshold', evalConfig } = asked;
  if (alertType !== 'threshold') throw refused(`alertType ${alertType} is not supported; threshold is`);
  if (queryType === 'promql')
    throw refused('queryType promql is not supported yet; builder and code (SQL) are');
  if (asked.query.trim() === '') throw refused('Invalid alert query: Empty query');
  const count = Object.keys(asked.annotations ?? {}).length;
  if (count > limits.maxAlertAnnotations) {
    throw refused(`annotations has ${count} entries; ${limits.maxAlertAnnotations} are allowed`);
  }
  const { evalStart, evalFrequency } = evalConfig.rollingWindow;
  readWindowMs(evalStart);
  if (asked.frequencySeconds === undefined) checkFrequency(evalFrequency);
  const frequencyMs = frequencyOf(asked);
  const interval = asked.notificationConfig?.interval ?? Math.min(1, frequencyMs / 60_000);
  if (interval <= 0) throw refused('notificationConfig.interval cannot be 0');
  if (asked.notificationConfig !== undefined && interval * 60_000 > frequencyMs) {
    throw refused('Notification interval cannot exceed evaluation frequency');
  }
  return {
    ...asked,
    severity: asked.severity ?? 'medium',
    queryType: queryType === 'sql' ? 'code' : queryType,
    alertType,
    notificationConfig: { interval },
    targets: [...new Set(asked.targets ?? [])],
  };
}

/** Members that nobody here knows; they are kept and shown. */
export const otherMembers = (request: AlertRequest): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(request).filter(([name]) => !Object.hasOwn(known, name) && !ofReplies.has(name)),
  );

/** Milliseconds from one evaluation to the next. */
export function frequencyOf({ frequencySeconds, evalConfig }: AlertRequest): number {
  if (frequencySeconds !== undefined) return frequencySeconds * 1000;
  return Math.round((evalConfig.rollingWindow.evalFrequency ?? 0) * 60_000);
}

/** How far an evaluation looks back. @throws AppError `bad_alert` */
export function readWindowMs(evalStart: string): number {
  const [min, max] = limits.alertWindowMs;
  const short = evalStart.trim().toLowerCase();
  const micros = short.length > maxDurationLength ? undefined : parseDuration(short);
  if (micros === undefined) {
    const shown = JSON.stringify(short.slice(0, maxDurationLength));
    throw refused(`evalStart should be of type humantime, such as 5m or 1h 30m; it is ${shown}`);
  }
  const ms = micros / 1000;
  if (ms >= min && ms <= max) return ms;
  throw refused(
    `evalStart must be from ${min / 1000} seconds to ${max / 86_400_000} days; it is ${evalStart}`,
  );
}

/** @param minutes Parseable's `evalFrequency` */
function checkFrequency(minutes: number | undefined): void {
  const [min, max] = limits.alertFrequencyMs;
  if (minutes === undefined)
    throw refused('evalConfig.rollingWindow.evalFrequency is missing; it is in minutes');
  if (minutes === 0) throw refused('evalConfig.rollingWindow.evalFrequency cannot be 0');
  const ms = minutes * 60_000;
  if (ms >= min && ms <= max) return;
  throw refused(
    `evalFrequency must be from ${min / 1000} seconds to ${max / 60_000} minutes; it is ${minutes} minutes`,
  );
}

const refused = (reason: string): AppError => new AppError('bad_alert', reason);
const maxDurationLength = 60;
