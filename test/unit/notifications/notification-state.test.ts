import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { type DeliveryOutcome, deliveryOutcome } from '../../../src/notifications/delivery-outcome.ts';
import type { AlertSummary, Notifiable, TargetType } from '../../../src/notifications/notification.ts';
import {
  emptyNotificationState,
  type NotificationState,
  notificationStep,
} from '../../../src/notifications/notification-state.ts';

/**
 * The rules of grouping, as Alertmanager documents `group_wait`, `group_interval` and `repeat_interval`
 * (prometheus.io/docs/alerting/latest/configuration/#route), and those of Prometheus for what is sent to
 * Alertmanager, on a simulated clock.
 */

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const startMs = Date.UTC(2026, 0, 5, 12);

const alert: AlertSummary = {
  id: '01ALERT',
  title: 'High load',
  severity: 'high',
  datasets: ['app'],
  intervalMs: minuteMs,
};

/** `1:30:05` or `2:30`: hours, minutes and seconds after the start. */
function clock(text: string): number {
  const [seconds = 0, minutes = 0, hours = 0] = text.split(':').map(Number).reverse();
  return startMs + hours * hourMs + minutes * minuteMs + seconds * secondMs;
}

function clockText(ms: number): string {
  const seconds = Math.round((ms - startMs) / secondMs);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

interface Change {
  /** Instances that fire from then on, separated by blanks; the others have resolved. */
  readonly firing?: string;
  readonly silenced?: string;
  readonly outcome?: DeliveryOutcome['kind'];
  readonly targets?: string;
}

/**
 * An alert over some hours. Steps are made when something changes, when a step says that the next one is due,
 * and for an evaluation each minute. A waiting delivery is tried at its time, and its outcome is the present
 * one. Each line of `log` is a try: `0:00:30 page firing a b, resolved c`.
 */
class Simulation {
  state: NotificationState = emptyNotificationState;
  readonly log: string[] = [];
  readonly repeats: string[] = [];
  writes = 0;
  readonly #timing: typeof alertmanagerDefaults;
  #nowMs = startMs;
  #nextMs: number | undefined;
  #ids = 0;
  #firing = new Map<string, number>();
  #silenced = new Set<string>();
  #outcome: DeliveryOutcome['kind'] = 'delivered';
  #targets: ReadonlyArray<{ id: string; type: TargetType }>;

  constructor(timing: typeof alertmanagerDefaults, targets: string) {
    this.#timing = timing;
    this.#targets = readTargets(targets);
  }

  run(changes: Readonly<Record<string, Change>>, end: string): void {
    const times = Object.keys(changes).map((text) => [clock(text), changes[text] ?? {}] as const);
    while (this.#nowMs <= clock(end)) {
      const change = times.find(([ms]) => ms === this.#nowMs)?.[1];
      const resolved = change === undefined ? [] : this.#apply(change);
      const isEvaluation = (this.#nowMs - startMs) % minuteMs === 0;
      if (change !== undefined || isEvaluation || (this.#nextMs ?? Number.MAX_VALUE) <= this.#nowMs)
        this.#step(resolved, isEvaluation);
      this.#deliver();
      this.#nowMs += secondMs;
    }
  }

  #apply(change: Change): Notifiable[] {
    if (change.outcome !== undefined) this.#outcome = change.outcome;
    if (change.silenced !== undefined) this.#silenced = new Set(words(change.silenced));
    if (change.targets !== undefined) this.#targets = readTargets(change.targets);
    if (change.firing === undefined) return [];
    const before = this.#firing;
    this.#firing = new Map(words(change.firing).map((name) => [name, before.get(name) ?? this.#nowMs]));
    return [...before]
      .filter(([name]) => !this.#firing.has(name))
      .map(([name, startsAtMs]) => ({
        ...instance(name, startsAtMs),
        status: 'resolved',
        endsAtMs: this.#nowMs,
      }));
  }

  #step(resolved: readonly Notifiable[], isEvaluation: boolean): void {
    const firing = [...this.#firing].map(([name, startsAtMs]) => instance(name, startsAtMs));
    const step = notificationStep(this.state, {
      alert,
      targets: this.#targets,
      ...this.#timing,
      notifiables: [...firing, ...resolved],
      isSilenced: ({ host = '' }) => this.#silenced.has(host),
      isEvaluation,
      nowMs: this.#nowMs,
      newId: () => {
        this.#ids += 1;
        return `id${this.#ids}`;
      },
    });
    this.#write(step.state);
    this.#nextMs = step.nextMs;
    for (const { targetId, notification } of step.repeats)
      this.repeats.push(`${clockText(this.#nowMs)} ${targetId} ${summary(notification.alerts)}`);
  }

  #deliver(): void {
    for (const { id, status, targetId, nextTryAtMs, notification } of this.state.deliveries) {
      if (status !== 'waiting' || nextTryAtMs > this.#nowMs) continue;
      this.log.push(`${clockText(this.#nowMs)} ${targetId} ${summary(notification.alerts)}`);
      const error = { code: 'target_status' as const, message: 'status 500' };
      const outcome: DeliveryOutcome =
        this.#outcome === 'delivered' ? { kind: 'delivered' } : { kind: this.#outcome, error };
      this.#write(deliveryOutcome(this.state, id, outcome, this.#nowMs, () => 0));
    }
  }

  #write(state: NotificationState): void {
    if (state !== this.state) this.writes += 1;
    this.state = state;
  }
}

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');

const readTargets = (text: string): ReadonlyArray<{ id: string; type: TargetType }> =>
  words(text).map((id) => ({ id, type: id.startsWith('am') ? 'alertManager' : 'webhook' }));

const instance = (name: string, startsAtMs: number): Notifiable => ({
  fingerprint: name,
  labels: { host: name },
  annotations: {},
  status: 'firing',
  startsAtMs,
});

function summary(alerts: readonly Notifiable[]): string {
  const named = (status: string) =>
    alerts.filter((each) => each.status === status).map(({ fingerprint }) => fingerprint);
  return (['firing', 'resolved'] as const)
    .filter((status) => named(status).length > 0)
    .map((status) => `${status} ${named(status).join(' ')}`)
    .join(', ');
}

const alertmanagerDefaults = {
  groupWaitMs: 30 * secondMs,
  groupIntervalMs: 5 * minuteMs,
  repeatMs: 4 * hourMs,
};

interface Case {
  readonly it: string;
  readonly timing?: Partial<typeof alertmanagerDefaults>;
  readonly changes: Readonly<Record<string, Change>>;
  readonly end: string;
  readonly sent: readonly string[];
}

const cases: readonly Case[] = [
  {
    it: 'collects what fires within the group wait into the first notification',
    changes: { '0:10': { firing: 'a' }, '0:25': { firing: 'a b' } },
    end: '10:00',
    sent: ['0:00:40 page firing a b'],
  },
  {
    it: 'tells nothing of what fires and resolves within the group wait',
    changes: { '0:10': { firing: 'a' }, '0:25': { firing: '' } },
    end: '10:00',
    sent: [],
  },
  {
    it: 'waits again for a group that ended and begins anew',
    changes: { '0:00': { firing: 'a' }, '1:00': { firing: '' }, '7:00': { firing: 'a' } },
    end: '10:00',
    sent: ['0:00:30 page firing a', '0:05:30 page resolved a', '0:07:30 page firing a'],
  },
  {
    it: 'tells a change at the next tick of the group interval',
    changes: { '0:00': { firing: 'a' }, '1:00': { firing: 'a b' }, '6:00': { firing: 'a b c' } },
    end: '11:00',
    sent: ['0:00:30 page firing a', '0:05:30 page firing a b', '0:10:30 page firing a b c'],
  },
  {
    it: 'keeps the ticks where they are when nothing was to be told for a while',
    changes: { '0:00': { firing: 'a' }, '22:00': { firing: 'a b' } },
    end: '30:00',
    sent: ['0:00:30 page firing a', '0:25:30 page firing a b'],
  },
  {
    it: 'tells what resolved together with what still fires',
    changes: { '0:00': { firing: 'a b' }, '1:00': { firing: 'b' } },
    end: '10:00',
    sent: ['0:00:30 page firing a b', '0:05:30 page firing b, resolved a'],
  },
  {
    it: 'tells of each resolved instance once',
    changes: { '0:00': { firing: 'a b' }, '1:00': { firing: 'b' }, '6:00': { firing: '' } },
    end: '20:00',
    sent: ['0:00:30 page firing a b', '0:05:30 page firing b, resolved a', '0:10:30 page resolved b'],
  },
  {
    it: 'tells nothing of an instance that resolves and fires again between two ticks',
    changes: { '0:00': { firing: 'a' }, '1:00': { firing: '' }, '2:00': { firing: 'a' } },
    end: '20:00',
    sent: ['0:00:30 page firing a'],
  },
  {
    it: 'does not tell as resolved what the target never knew',
    changes: { '0:00': { firing: 'a' }, '1:00': { firing: 'a b' }, '2:00': { firing: 'a' } },
    end: '20:00',
    sent: ['0:00:30 page firing a'],
  },
  {
    it: 'repeats what has not changed after the repeat interval',
    changes: { '0:00': { firing: 'a' } },
    end: '9:00:00',
    sent: ['0:00:30 page firing a', '4:00:30 page firing a', '8:00:30 page firing a'],
  },
  {
    it: 'rounds a repeat interval up to a multiple of the group interval',
    timing: { repeatMs: 12 * minuteMs },
    changes: { '0:00': { firing: 'a' } },
    end: '40:00',
    sent: ['0:00:30 page firing a', '0:15:30 page firing a', '0:30:30 page firing a'],
  },
  {
    it: 'counts the repeat interval from the last notification',
    timing: { repeatMs: 10 * minuteMs },
    changes: { '0:00': { firing: 'a' }, '6:00': { firing: 'a b' } },
    end: '21:00',
    sent: ['0:00:30 page firing a', '0:10:30 page firing a b', '0:20:30 page firing a b'],
  },
  {
    it: 'tells at once without waits',
    timing: { groupWaitMs: 0, groupIntervalMs: secondMs, repeatMs: minuteMs },
    changes: { '0:05': { firing: 'a' }, '0:20': { firing: 'a b' }, '0:30': { firing: '' } },
    end: '5:00',
    sent: ['0:00:05 page firing a', '0:00:20 page firing a b', '0:00:30 page resolved a b'],
  },
  {
    it: 'tells nothing of silenced instances, and of them at the first tick when the silence is over',
    changes: { '0:00': { firing: 'a', silenced: 'a' }, '12:00': { silenced: '' } },
    end: '20:00',
    sent: ['0:15:30 page firing a'],
  },
  {
    it: 'leaves silenced instances out of a notification, and does not call them resolved',
    changes: {
      '0:00': { firing: 'a b' },
      '1:00': { silenced: 'a' },
      '2:00': { firing: 'a b c' },
    },
    end: '20:00',
    sent: ['0:00:30 page firing a b', '0:05:30 page firing b c'],
  },
  {
    it: 'tells when the silence is over that a known instance has resolved meanwhile',
    changes: {
      '0:00': { firing: 'a' },
      '1:00': { silenced: 'a' },
      '2:00': { firing: '' },
      '50:00': { silenced: '' },
    },
    end: '60:00',
    sent: ['0:00:30 page firing a', '0:50:30 page resolved a'],
  },
  {
    it: 'does not repeat what is silenced, and does at once when the silence and the repeat interval are over',
    changes: { '0:00': { firing: 'a' }, '1:00': { silenced: 'a' }, '5:00:00': { silenced: '' } },
    end: '6:00:00',
    sent: ['0:00:30 page firing a', '5:00:00 page firing a'],
  },
  {
    it: 'closes what is open at a target that the alert loses',
    changes: { '0:00': { firing: 'a' }, '2:00': { targets: 'other' } },
    end: '3:00',
    sent: ['0:00:30 page firing a', '0:02:00 other firing a', '0:02:00 page resolved a'],
  },
  {
    it: 'tries again with growing pauses',
    changes: { '0:00': { firing: 'a', outcome: 'retry' }, '2:00': { outcome: 'delivered' } },
    end: '20:00',
    sent: [
      '0:00:30 page firing a',
      '0:00:35 page firing a',
      '0:00:45 page firing a',
      '0:01:05 page firing a',
      '0:01:45 page firing a',
      '0:03:05 page firing a',
    ],
  },
  {
    it: 'merges what waits into the next notification, and does not hurry for it',
    changes: {
      '0:00': { firing: 'a', outcome: 'retry' },
      '1:00': { firing: 'b' },
      '6:00': { firing: 'b c' },
      '12:00': { outcome: 'delivered' },
    },
    end: '20:00',
    sent: [
      '0:00:30 page firing a',
      '0:00:35 page firing a',
      '0:00:45 page firing a',
      '0:01:05 page firing a',
      '0:01:45 page firing a',
      '0:03:05 page firing a',
      '0:05:45 page firing b, resolved a',
      '0:10:45 page firing b c, resolved a',
      '0:15:45 page firing b c, resolved a',
    ],
  },
  {
    it: 'tells that an instance resolved though no try of its firing succeeded',
    changes: {
      '0:00': { firing: 'a', outcome: 'retry' },
      '1:00': { firing: '' },
      '5:00': { outcome: 'delivered' },
    },
    end: '20:00',
    sent: [
      '0:00:30 page firing a',
      '0:00:35 page firing a',
      '0:00:45 page firing a',
      '0:01:05 page firing a',
      '0:01:45 page firing a',
      '0:03:05 page firing a',
      '0:05:45 page resolved a',
    ],
  },
  {
    it: 'tries a delivery once that can never succeed, and again with the next change',
    changes: {
      '0:00': { firing: 'a', outcome: 'failed' },
      '2:00': { firing: 'a b', outcome: 'delivered' },
    },
    end: '20:00',
    sent: ['0:00:30 page firing a', '0:05:30 page firing a b'],
  },
];

describe('a group of notifications', () => {
  for (const { it: name, timing, changes, end, sent } of cases) {
    it(name, () => {
      const simulation = new Simulation({ ...alertmanagerDefaults, ...timing }, 'page');
      simulation.run(changes, end);
      expect(simulation.log).toEqual(sent);
    });
  }

  it('writes nothing while nothing changes', () => {
    const simulation = new Simulation(alertmanagerDefaults, 'page');
    simulation.run({ '0:00': { firing: 'a' } }, '3:00:00');
    // The group, its first notification, and the outcome.
    expect(simulation.writes).toBe(3);
  });

  it('tells at once of what has fired for longer than the group wait', () => {
    const step = notificationStep(emptyNotificationState, {
      ...once([instance('a', startMs - minuteMs)]),
      ...alertmanagerDefaults,
    });
    expect(step.state.deliveries).toHaveLength(1);
  });

  it('lists a bounded number of instances and counts the rest', () => {
    const many = Array.from({ length: limits.maxAlertsPerNotification + 7 }, (_, index) =>
      instance(`i${index}`, startMs - minuteMs),
    );
    const { state } = notificationStep(emptyNotificationState, { ...once(many), ...alertmanagerDefaults });
    const [delivery] = state.deliveries;
    expect(delivery?.notification.alerts).toHaveLength(limits.maxAlertsPerNotification);
    expect(delivery?.notification.truncatedAlerts).toBe(7);
    expect(state.groups[0]?.told).toHaveLength(many.length);
  });

  it('takes what was told and is missing for resolved', () => {
    const simulation = new Simulation(alertmanagerDefaults, 'page');
    simulation.run({ '0:00': { firing: 'a' } }, '1:00');
    const { state } = notificationStep(simulation.state, {
      ...once([]),
      ...alertmanagerDefaults,
      nowMs: clock('5:30'),
    });
    // The change is noticed now, which is a tick.
    expect(state.deliveries[0]?.notification.alerts).toMatchObject([
      { fingerprint: 'a', status: 'resolved', labels: { alertname: 'High load' } },
    ]);
  });
});

const once = (notifiables: readonly Notifiable[]) => ({
  alert,
  targets: [{ id: 'page', type: 'webhook' as const }],
  notifiables,
  isSilenced: () => false,
  isEvaluation: true,
  nowMs: startMs,
  newId: () => 'id',
});

describe('a target of the type alertManager', () => {
  it('is told of changes at once, and at each evaluation of everything that fires', () => {
    const simulation = new Simulation(alertmanagerDefaults, 'am');
    simulation.run({ '0:10': { firing: 'a' }, '1:30': { firing: 'a b' } }, '3:00');
    expect(simulation.log).toEqual(['0:00:10 am firing a', '0:01:30 am firing b']);
    expect(simulation.repeats).toEqual([
      '0:01:00 am firing a',
      '0:02:00 am firing a b',
      '0:03:00 am firing a b',
    ]);
  });

  it('is told for a quarter of an hour that an instance has resolved', () => {
    const simulation = new Simulation(alertmanagerDefaults, 'am');
    simulation.run({ '0:00': { firing: 'a' }, '0:30': { firing: '' } }, '20:00');
    expect(simulation.log).toEqual(['0:00:00 am firing a', '0:00:30 am resolved a']);
    expect(simulation.repeats).toEqual(
      Array.from({ length: 15 }, (_, index) => `0:${String(index + 1).padStart(2, '0')}:00 am resolved a`),
    );
  });

  it('writes nothing for repeats', () => {
    const simulation = new Simulation(alertmanagerDefaults, 'am');
    simulation.run({ '0:00': { firing: 'a' } }, '1:00:00');
    // The group with its notification, and the outcome.
    expect(simulation.writes).toBe(2);
  });

  it('is told of all instances, however many', () => {
    const many = Array.from({ length: 300 }, (_, index) => instance(`i${index}`, startMs));
    const input = { ...once(many), ...alertmanagerDefaults };
    const { state } = notificationStep(emptyNotificationState, {
      ...input,
      targets: [{ id: 'am', type: 'alertManager' }],
    });
    expect(state.deliveries[0]?.notification.alerts).toHaveLength(300);
  });

  it('is told what waits together with what is new', () => {
    const simulation = new Simulation(alertmanagerDefaults, 'am');
    simulation.run(
      {
        '0:00': { firing: 'a b', outcome: 'retry' },
        '0:12': { firing: 'b c' },
        '0:14': { outcome: 'delivered' },
      },
      '1:30',
    );
    expect(simulation.log).toEqual([
      '0:00:00 am firing a b',
      '0:00:05 am firing a b',
      '0:00:15 am firing b c, resolved a',
    ]);
    expect(simulation.repeats).toEqual(['0:01:00 am firing b c, resolved a']);
  });
});
