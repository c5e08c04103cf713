import { describe, expect, it } from 'vitest';
import { alertRule } from '../../../src/alerts/alert-document.ts';
import { frequencyOf, readAlertRequest } from '../../../src/alerts/alert-request.ts';
import { AppError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits/limits.ts';

/** The request of Parseable's test suite (quest, `getAlertBody`). */
const quest = {
  severity: 'medium',
  title: 'AlertTitle',
  query: "select count(level) from app where level = 'info'",
  alertType: 'threshold',
  thresholdConfig: { operator: '=', value: 100 },
  anomalyConfig: { historicDuration: '1d' },
  forecastConfig: { historicDuration: '1d', forecastDuration: '3h' },
  evalConfig: { rollingWindow: { evalStart: '5m', evalEnd: 'now', evalFrequency: 1 } },
  notificationConfig: { interval: 1 },
  targets: ['01JB00000000000000000TARGET'],
  tags: ['quest-test'],
};

const refusal = (body: unknown): string => {
  try {
    readAlertRequest(body);
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
};
const rolling = (members: object) => ({
  ...quest,
  evalConfig: { rollingWindow: { ...quest.evalConfig.rollingWindow, ...members } },
});

describe('a request for an alert', () => {
  it('of Parseable’s form is kept as it is', () => {
    expect(readAlertRequest(quest)).toEqual({ ...quest, queryType: 'builder' });
  });

  it('has defaults, and drops what a reply says', () => {
    const { severity: _, notificationConfig: __, targets: ___, ...least } = quest;
    const asked = readAlertRequest({
      ...least,
      id: 'x',
      state: 'triggered',
      datasets: ['b'],
      runsAs: 'me',
      own: 1,
    });
    expect(asked).toEqual({
      ...least,
      queryType: 'builder',
      severity: 'medium',
      notificationConfig: { interval: 1 },
      targets: [],
      own: 1,
    });
  });

  it.each([
    ['5m', 300_000],
    ['10 minutes', 600_000],
    ['1h 30m', 5_400_000],
    ['2 days', 172_800_000],
  ])('looks back %s', (evalStart, ms) => {
    const request = readAlertRequest(rolling({ evalStart }));
    const body = { ...request, datasets: [], runsAs: { kind: 'root', name: 'a' } as const };
    const rule = alertRule({ id: 'a', body: { ...body, isDisabled: false, notificationState: 'notify' } });
    expect(rule).toMatchObject({ windowMs: ms, repeatMs: limits.defaultAlertRepeatMinutes * 60_000 });
    expect(rule.schedule.frequencyMs).toBe(60_000);
  });

  it('can have a frequency in seconds, of which notifications follow', () => {
    const { notificationConfig: _, ...rest } = quest;
    const evalConfig = { rollingWindow: { evalStart: '1m' } };
    const asked = readAlertRequest({ ...rest, evalConfig, frequencySeconds: 10 });
    expect(frequencyOf(asked)).toBe(10_000);
    expect(asked.notificationConfig).toEqual({ interval: 1 / 6 });
  });

  it.each([
    [
      { ...quest, notificationConfig: { interval: 2 } },
      'Notification interval cannot exceed evaluation frequency',
    ],
    [{ ...quest, notificationConfig: { interval: 0 } }, 'cannot be 0'],
    [rolling({ evalFrequency: 0 }), 'cannot be 0'],
    [rolling({ evalFrequency: undefined }), 'evalFrequency is missing'],
    [rolling({ evalStart: 'yesterday' }), 'evalStart should be of type humantime'],
    [rolling({ evalStart: '3 months' }), 'evalStart should be of type humantime'],
    [rolling({ evalStart: '400 days' }), 'evalStart must be from'],
    [rolling({ evalStart: '9'.repeat(10_000) }), 'evalStart should be of type humantime'],
    [{ ...quest, query: ' ' }, 'Invalid alert query: Empty query'],
    [{ ...quest, alertType: 'anomaly' }, 'alertType anomaly is not supported'],
    [{ ...quest, queryType: 'promql' }, 'queryType promql is not supported yet'],
    [{ ...quest, severity: 'worst' }, 'severity must be one of critical, high, medium, low'],
    [{ ...quest, title: '' }, 'title must have at least 1 characters'],
    [{ ...quest, title: undefined }, 'title is missing'],
    [{ ...quest, thresholdConfig: { operator: '~', value: 1 } }, 'thresholdConfig.operator must be one of'],
    [{ ...quest, thresholdConfig: { operator: '>', value: '1' } }, 'thresholdConfig.value must be a number'],
    [{ ...quest, forSeconds: -1 }, 'forSeconds must be a number from 0'],
    [{ ...quest, maxInstances: 1e9 }, 'maxInstances must be a whole number from 1 to 500'],
    [{ ...quest, tags: Array.from({ length: 1000 }, () => 'a') }, 'tags has 1000 entries'],
    [
      { ...quest, ...Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`own${index}`, 1])) },
      '11 members that are not known',
    ],
    ['text', 'must be an object'],
  ])('is refused with the reason', (body, reason) => {
    expect(refusal(body)).toMatch(/^bad_alert: /);
    expect(refusal(body)).toContain(reason);
  });
});
