import { AlertAdministration } from '../alerts/alert-administration.ts';
import { AlertDeliveries } from '../alerts/alert-deliveries.ts';
import { AlertEngine, type EngineNotifications } from '../alerts/alert-engine.ts';
import { AlertEvaluator } from '../alerts/alert-evaluator.ts';
import { AlertPreview } from '../alerts/alert-preview.ts';
import { AlertStates } from '../alerts/alert-states.ts';
import { EngineLease } from '../alerts/engine-lease.ts';
import { decide } from '../auth/policy.ts';
import type { Owner } from '../documents/document.ts';
import type { DocumentStore } from '../documents/document-store.ts';
import { liveGauge } from '../lib/live-gauge.ts';
import type { Principal } from '../model/identity.ts';
import type { DeliveryQueue } from '../notifications/delivery-queue.ts';
import { labelSetsOf, type Silences } from '../notifications/silences.ts';
import type { Targets } from '../notifications/targets.ts';
import type { Query } from '../query/request.ts';
import type { AppContext } from './app-context.ts';
import type { StoreParts } from './start-store.ts';

interface Parts {
  /** The name of this node. */
  readonly node: string;
  /** Whether other nodes share the store. */
  readonly isShared: boolean;
  readonly documents: DocumentStore;
  readonly query: Query;
  /** The present principal of an owner; undefined if it does not exist any more. */
  readonly principalOf: (tenant: string, owner: Owner) => Principal | undefined;
  readonly notifications: {
    readonly targets: Targets;
    readonly silences: Silences;
    readonly queue: DeliveryQueue;
  };
}

/** Starts the evaluation of alerts, which hands notifications to their queue. */
export function startAlerts(
  { clock, metrics, log }: Pick<AppContext, 'clock' | 'metrics' | 'log'>,
  { metadata, tenants, cleaner }: Pick<StoreParts, 'metadata' | 'tenants' | 'cleaner'>,
  { node, isShared, documents, query, principalOf, notifications: { targets, silences, queue } }: Parts,
) {
  const states = new AlertStates(metadata);
  const mayWrite = (principal: Principal, dataset: string) => decide(principal, 'alert.write', dataset);
  const evaluator = new AlertEvaluator({ query, principalOf, mayWrite, timers: clock, log });
  /** Whether somebody may change an alert on these datasets now. */
  const maySilence = (tenant: string, datasets: readonly string[]) => (owner: Owner) => {
    const principal = principalOf(tenant, owner);
    return principal !== undefined && datasets.every((dataset) => mayWrite(principal, dataset));
  };
  const notifications: EngineNotifications = {
    targetsOf: (tenant, ids) =>
      ids.flatMap((id) => {
        const type = targets.typeOf(tenant, id);
        return type === undefined ? [] : [{ id, type }];
      }),
    silencer: (tenant, alert, notifiables, state) =>
      silences.silencer(
        tenant,
        alert,
        labelSetsOf(alert, notifiables, state),
        maySilence(tenant, alert.datasets),
      ),
    nextSilenceChangeMs: (tenant) => silences.nextChangeMs(tenant),
    offer: (key, { id, targetId, notification, nextTryAtMs }) => {
      const targetType = targets.typeOf(key.tenant, targetId);
      const offered = { tenant: key.tenant, alertId: key.id, targetId, id, notification };
      return queue.offer({
        ...offered,
        // What became of the target, the try tells.
        targetType: targetType ?? 'webhook',
        notBeforeMs: nextTryAtMs,
        isRepeat: false,
        onOutcome: (outcome) => void engine.delivered(key, id, outcome),
      });
    },
    repeat: (key, targetId, id, notification) => {
      const targetType = targets.typeOf(key.tenant, targetId);
      if (targetType === undefined) return;
      const offered = { tenant: key.tenant, alertId: key.id, targetId, targetType, id, notification };
      queue.offer({ ...offered, notBeforeMs: 0, isRepeat: true, onOutcome: () => {} });
    },
    forget: ({ tenant, id }) => queue.forget(tenant, id),
  };
  const engine: AlertEngine = new AlertEngine({
    documents,
    states,
    lease: new EngineLease({ log: metadata, node, isShared, clock }),
    evaluator,
    notifications,
    hasEnded: (tenant) => tenants.hasEnded(tenant),
    isShared,
    clock,
    metrics,
    log,
  });
  liveGauge(
    {
      name: 'millrace_alerts_evaluated',
      help: 'Alerts that this node evaluates; 0 where another node does.',
      registers: [metrics.registry],
    },
    () => engine.size,
  );
  cleaner.add(states);
  engine.start();
  const preview = new AlertPreview(evaluator, clock);
  return {
    alerts: new AlertAdministration({ documents, engine, preview, query, clock }),
    records: new AlertDeliveries(states, engine, documents),
    stop: () => engine.stop(),
  };
}
