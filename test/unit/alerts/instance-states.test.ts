import { describe, expect, it } from 'vitest';
import {
  type EvaluationOutcome,
  fingerprintOf,
  type InstanceStates,
  isActive,
  type Judgement,
  type NamedState,
  noInstances,
  type Observation,
  overallState,
  resolveAll,
  stepInstances,
} from '../../../src/alerts/instance-states.ts';
import { limits } from '../../../src/limits/limits.ts';

const judgement: Judgement = {
  forMs: 0,
  keepFiringMs: 0,
  noData: 'ok',
  emptyIsNoData: true,
  onError: 'keep',
  maxInstances: 3,
};

const row = (finding: Observation['finding'], host = '', value?: number): Observation => ({
  labels: host === '' ? {} : { host },
  annotations: {},
  ...(value === undefined ? {} : { value }),
  finding,
});
const rows = (...observations: readonly Observation[]): EvaluationOutcome => ({ kind: 'rows', observations });
const minutes = (count: number): number => count * 60_000;

const H = rows(row('holds', '', 9));
const L = rows(row('holdsNot', '', 1));
/** A row without a number, and no row. */
const N = rows(row('noData'));
const none = rows();
const E: EvaluationOutcome = { kind: 'failed', code: 'query_timeout', message: 'too slow' };

const stateOf = (states: InstanceStates, host = ''): NamedState => {
  const fingerprint = fingerprintOf(host === '' ? {} : { host });
  const found = states.instances.find((each) => each.fingerprint === fingerprint);
  return found === undefined || found.status === 'resolved' ? 'inactive' : found.status;
};

/** Evaluates once a minute from minute 0, and tells the state of the instance after each time. */
function run(over: Partial<Judgement>, outcomes: readonly EvaluationOutcome[], host = ''): NamedState[] {
  let states: InstanceStates = noInstances;
  return outcomes.map((outcome, index) => {
    states = stepInstances(states, outcome, { ...judgement, ...over }, minutes(index));
    return stateOf(states, host);
  });
}

const [inactive, pending, firing, recovering] = ['inactive', 'pending', 'firing', 'recovering'] as const;

type Case = readonly [string, Partial<Judgement>, readonly EvaluationOutcome[], readonly NamedState[]];

/**
 * What Prometheus documents of `for` and `keep_firing_for` (alerting rules), and does in its evaluation: an
 * alert is pending until it has been active for `for`, and one that is active no more is kept firing until
 * that has lasted for `keep_firing_for`.
 */
const cases: readonly Case[] = [
  ['without for, it fires at once', {}, [L, H, H, L], [inactive, firing, firing, inactive]],
  [
    'with for, it is pending until the condition has held that long',
    { forMs: minutes(2) },
    [H, H, H, H, L],
    [pending, pending, firing, firing, inactive],
  ],
  [
    'an interruption of pending begins anew',
    { forMs: minutes(2) },
    [H, H, L, H, H, H],
    [pending, pending, inactive, pending, pending, firing],
  ],
  [
    'for that is shorter than the frequency needs a second evaluation',
    { forMs: 30_000 },
    [H, H],
    [pending, firing],
  ],
  [
    'with keep firing, it fires on until the condition has not held that long',
    { keepFiringMs: minutes(2) },
    [H, L, L, L, L],
    [firing, recovering, recovering, inactive, inactive],
  ],
  [
    'while it recovers, a condition that holds again makes it fire, without for',
    { forMs: minutes(1), keepFiringMs: minutes(2) },
    [H, H, L, H, L, L, L],
    [pending, firing, recovering, firing, recovering, recovering, inactive],
  ],
  [
    'keep firing says nothing of what is pending',
    { forMs: minutes(2), keepFiringMs: minutes(9) },
    [H, L],
    [pending, inactive],
  ],
  ['NULL is not 0: it ends what fires', {}, [H, N], [firing, inactive]],
  ['no row is not 0: it ends what fires', {}, [H, none], [firing, inactive]],
  ['no data keeps', { noData: 'keep' }, [H, N, none, L], [firing, firing, firing, inactive]],
  [
    'no data keeps nothing that was inactive',
    { noData: 'keep' },
    [L, N, none],
    [inactive, inactive, inactive],
  ],
  [
    'no data that keeps does not hold: what is pending stays so',
    { noData: 'keep', forMs: minutes(1) },
    [H, none, none],
    [pending, pending, pending],
  ],
  ['no data alerts', { noData: 'alert' }, [L, N, L, none, L], [inactive, firing, inactive, firing, inactive]],
  [
    'no data that alerts takes for',
    { noData: 'alert', forMs: minutes(1) },
    [none, none, L],
    [pending, firing, inactive],
  ],
  ['an error keeps', {}, [H, E, E, L, E], [firing, firing, firing, inactive, inactive]],
  ['an error alerts', { onError: 'alert' }, [L, E, E, L], [inactive, firing, firing, inactive]],
  [
    'where each row is an instance, no row says that there is none',
    { emptyIsNoData: false },
    [H, none],
    [firing, inactive],
  ],
];

describe('an instance over time', () => {
  it.each(cases)('%s', (_, over, outcomes, states) => {
    expect(run(over, outcomes)).toEqual(states);
  });

  it('is one of many: each label set has a state of its own', () => {
    const outcomes = [
      rows(row('holds', 'a'), row('holdsNot', 'b')),
      rows(row('holds', 'a'), row('holds', 'b')),
      rows(row('holdsNot', 'a'), row('holds', 'b')),
      rows(row('holds', 'b')),
    ];
    expect(run({}, outcomes, 'a')).toEqual([firing, firing, inactive, inactive]);
    expect(run({}, outcomes, 'b')).toEqual([inactive, firing, firing, firing]);
  });

  it('that is missing among other rows does not hold, whatever no data is', () => {
    const outcomes = [rows(row('holds', 'a'), row('holds', 'b')), rows(row('holds', 'b'))];
    for (const noData of ['ok', 'keep', 'alert'] as const) {
      expect(run({ noData }, outcomes, 'a')).toEqual([firing, inactive]);
    }
  });

  it('holds if one of two rows with its labels does', () => {
    expect(run({}, [rows(row('holdsNot', 'a', 1), row('holds', 'a', 9))], 'a')).toEqual([firing]);
    expect(run({}, [rows(row('holds', 'a', 9), row('holdsNot', 'a', 1))], 'a')).toEqual([firing]);
  });
});

describe('a step', () => {
  it('tells times: since when it holds, fires, and has ended', () => {
    const over = { ...judgement, forMs: minutes(1), keepFiringMs: minutes(1) };
    let states: InstanceStates = noInstances;
    for (const [minute, outcome] of [H, H, L, L].entries()) {
      states = stepInstances(states, outcome, over, minutes(10 + minute));
    }
    expect(states.instances).toEqual([
      {
        fingerprint: fingerprintOf({}),
        labels: {},
        annotations: {},
        status: 'resolved',
        cause: 'value',
        value: 9,
        activeAtMs: minutes(10),
        firedAtMs: minutes(11),
        resolvedAtMs: minutes(13),
      },
    ]);
  });

  it('that changes nothing but values need not be written', () => {
    const first = stepInstances(noInstances, rows(row('holds', 'a', 1)), judgement, 0);
    expect(first.isChanged).toBe(true);
    const second = stepInstances(first, rows(row('holds', 'a', 2)), judgement, minutes(1));
    expect(second).toMatchObject({ isChanged: false, transitions: [], instances: [{ value: 2 }] });
    const third = stepInstances(second, rows(row('holdsNot', 'a', 0)), judgement, minutes(2));
    expect(third.isChanged).toBe(true);
    const healthy = stepInstances(third, rows(row('holdsNot', 'a', 0)), judgement, minutes(3));
    expect(healthy.isChanged).toBe(false);
  });

  it('keeps what has ended for a quarter of an hour, and then drops it', () => {
    const fired = stepInstances(noInstances, H, judgement, 0);
    const ended = stepInstances(fired, L, judgement, minutes(1));
    const kept = stepInstances(ended, L, judgement, minutes(1) + limits.resolvedRetentionMs);
    expect(kept.instances).toHaveLength(1);
    const gone = stepInstances(kept, L, judgement, minutes(2) + limits.resolvedRetentionMs);
    expect(gone.instances).toEqual([]);
  });

  it('that fires again after its end begins anew', () => {
    let states = stepInstances(noInstances, H, judgement, 0);
    states = stepInstances(states, L, judgement, minutes(1));
    states = stepInstances(states, H, judgement, minutes(2));
    expect(states.instances).toMatchObject([{ status: 'firing', activeAtMs: minutes(2) }]);
    expect(states.instances[0]).not.toHaveProperty('resolvedAtMs');
  });

  it('after a pause counts only what was watched', () => {
    const over = { ...judgement, forMs: minutes(15) };
    const first = stepInstances(noInstances, H, over, 0);
    // Nothing was evaluated for an hour, less the minute after which the next time was due.
    const second = stepInstances(first, H, over, minutes(60), minutes(59));
    expect(second).toMatchObject({
      isChanged: true,
      instances: [{ status: 'pending', activeAtMs: minutes(59) }],
    });
    expect(stateOf(stepInstances(second, H, over, minutes(73)))).toBe(pending);
    expect(stateOf(stepInstances(second, H, over, minutes(74)))).toBe(firing);
    const recovers = { ...judgement, keepFiringMs: minutes(15) };
    const ending = stepInstances(stepInstances(noInstances, H, recovers, 0), L, recovers, minutes(1));
    expect(stateOf(stepInstances(ending, L, recovers, minutes(61), minutes(59)))).toBe(recovering);
  });

  it('with a clock that was set back does not wait for the old time', () => {
    const over = { ...judgement, forMs: minutes(2) };
    const first = stepInstances(noInstances, H, over, minutes(600));
    const second = stepInstances(first, H, over, minutes(10));
    expect(stateOf(stepInstances(second, H, over, minutes(12)))).toBe(firing);
  });

  it('with too many instances is an error, and changes none', () => {
    const fired = stepInstances(noInstances, rows(row('holds', 'a')), judgement, 0);
    const many = rows(...['a', 'b', 'c', 'd'].map((host) => row('holds', host)));
    const step = stepInstances(fired, many, judgement, minutes(1));
    expect(step.problem).toMatchObject({ code: 'alert_result_too_large', sinceMs: minutes(1) });
    expect(step.problem?.message).toContain('4 rows');
    expect(step.instances.filter(isActive).map(({ labels }) => labels)).toEqual([{ host: 'a' }]);
  });
});

describe('an alert as a whole', () => {
  it('has the state of what matters most, and a history of it', () => {
    let states: InstanceStates = noInstances;
    const history: unknown[] = [];
    const overall: NamedState[] = [];
    for (const [minute, outcome] of [L, none, H, E, E, L].entries()) {
      const step = stepInstances(states, outcome, judgement, minutes(minute));
      history.push(...step.transitions.map(({ atMs, from, to }) => [atMs / 60_000, from, to]));
      overall.push(overallState(step));
      states = step;
    }
    expect(overall).toEqual(['inactive', 'noData', 'firing', 'error', 'error', 'inactive']);
    expect(history).toEqual([
      [1, 'inactive', 'noData'],
      [2, 'noData', 'inactive'],
      [2, 'inactive', 'firing'],
      [3, 'inactive', 'error'],
      [5, 'error', 'inactive'],
      [5, 'firing', 'inactive'],
    ]);
  });

  it('that ends resolves what fires, forgets what is pending, and says why', () => {
    const over = { ...judgement, forMs: minutes(1) };
    let states: InstanceStates = stepInstances(noInstances, rows(row('holds', 'a')), over, 0);
    states = stepInstances(states, rows(row('holds', 'a'), row('holds', 'b')), over, minutes(1));
    const end = resolveAll(states, minutes(2), 'the alert was deleted');
    expect(end.instances).toMatchObject([
      { labels: { host: 'a' }, status: 'resolved', resolvedAtMs: minutes(2) },
    ]);
    expect(end.transitions.map(({ from, to, reason }) => [from, to, reason])).toEqual([
      ['firing', 'inactive', 'the alert was deleted'],
      ['pending', 'inactive', 'the alert was deleted'],
    ]);
    expect(resolveAll(end, minutes(3), 'again').isChanged).toBe(false);
  });
});
