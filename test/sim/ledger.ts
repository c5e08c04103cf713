/** What became of a request, as its sender knows. */
export type Outcome = 'waiting' | 'acknowledged' | 'refused' | 'unanswered';

export interface SentRequest {
  readonly client: number;
  /** Row ids by table, `<database>.<table>`. */
  readonly rows: ReadonlyMap<string, readonly number[]>;
  outcome: Outcome;
}

/** The memory of all senders: it outlives the service, and is what the store is measured against. */
export class Ledger {
  readonly requests: SentRequest[] = [];
  #lastId = 0;

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  sent(client: number, rows: ReadonlyMap<string, readonly number[]>): SentRequest {
    const request: SentRequest = { client, rows, outcome: 'waiting' };
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
