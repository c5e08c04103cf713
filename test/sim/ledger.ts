/** What became of a request, as its sender knows. */
export type Outcome = 'waiting' | 'acknowledged' | 'refused' | 'unanswered';

export interface SentRequest {
  readonly client: number;
  /** The name of the dataset. */
  readonly dataset: string;
  /** Row ids by table, `<database>.<table>`, as they are called until the store says otherwise. */
  readonly rows: ReadonlyMap<string, readonly number[]>;
  /** The dataset may have been deleted since. */
  mayBeGone: boolean;
  outcome: Outcome;
}

/** The memory of all senders: it outlives the service, and is what the store is measured against. */
export class Ledger {
  readonly requests: SentRequest[] = [];
  /** How many deletions of each dataset have begun, and it is not known how they ended. */
  readonly #ending = new Map<string, number>();
  #lastId = 0;

  /** A dataset is about to be deleted: until that is over, nobody knows what is stored of it. */
  ending(dataset: string): void {
    this.#ending.set(dataset, this.#endings(dataset) + 1);
    for (const request of this.requests) if (request.dataset === dataset) request.mayBeGone = true;
  }

  /** It was deleted, or was not there: what is sent from here on belongs to the next one of that name. */
  ended(dataset: string): void {
    this.#ending.set(dataset, this.#endings(dataset) - 1);
  }

  #endings(dataset: string): number {
    return this.#ending.get(dataset) ?? 0;
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  sent(client: number, dataset: string, rows: ReadonlyMap<string, readonly number[]>): SentRequest {
    const mayBeGone = this.#endings(dataset) > 0;
    const request: SentRequest = { client, dataset, rows, mayBeGone, outcome: 'waiting' };
    this.requests.push(request);
    return request;
  }

  /** The service is gone; who waits for an answer gets none. */
  disconnect(): void {
    for (const request of this.requests) if (request.outcome === 'waiting') request.outcome = 'unanswered';
  }

  count(outcome: Outcome): number {
    return this.requests.filter((request) => request.outcome === outcome).length;
  }
}
