import type { DocumentStore } from '../documents/document-store.ts';
import type { DeliveryRecords } from '../notifications/delivery-records.ts';
import type { AlertEngine } from './alert-engine.ts';
import type { AlertStates } from './alert-states.ts';

/** What is recorded of deliveries: it lies in the states of the alerts. */
export class AlertDeliveries implements DeliveryRecords {
  readonly #states: Pick<AlertStates, 'keysOf' | 'get'>;
  readonly #engine: Pick<AlertEngine, 'retryDelivery'>;
  readonly #documents: Pick<DocumentStore, 'get'>;

  constructor(
    states: Pick<AlertStates, 'keysOf' | 'get'>,
    engine: Pick<AlertEngine, 'retryDelivery'>,
    documents: Pick<DocumentStore, 'get'>,
  ) {
    this.#states = states;
    this.#engine = engine;
    this.#documents = documents;
  }

  statesOf(tenant: string): ReturnType<DeliveryRecords['statesOf']> {
    return this.#states.keysOf(tenant).map((key) => {
      const { notifications: state } = this.#states.get(key);
      const title = this.#documents.get(tenant, 'alert', key.id)?.body['title'];
      return { alert: { id: key.id, title: typeof title === 'string' ? title : '' }, state };
    });
  }

  async retry(tenant: string, deliveryId: string): Promise<'retried' | 'not_found' | 'newer_waits'> {
    const key = this.#states
      .keysOf(tenant)
      .find((each) => this.#states.get(each).notifications.deliveries.some(({ id }) => id === deliveryId));
    return key === undefined ? 'not_found' : this.#engine.retryDelivery(key, deliveryId);
  }
}
