/** What the sender of a request knows about its outcome. */
export type Outcome = 'waiting' | 'acknowledged' | 'refused' | 'unanswered';

export interface SentRequest {
  readonly client: number;
  /** The name of the dataset. */
  readonly dataset: string;
  /**
   * It was sent before the store had been read: should its dataset have ended, it belongs to the next one.
   */
  readonly presumed: boolean;
  /** Row ids by table, `<database>.<table>`, as they are called until the store says otherwise. */
  readonly rows: ReadonlyMap<string, readonly number[]>;
  /** The dataset may have been deleted since. */
  mayBeGone: boolean;
  /** The dataset has been deleted since. */
  isGone: boolean;
  outcome: Outcome;
}

/** A deletion of a dataset that is under way. */
export interface Ending {
  readonly dataset: string;
  /** What had been sent to it when it began. */
  readonly sent: readonly SentRequest[];
}

/** The memory of all senders. It outlives the service, and the content of the store is compared with it. */
export class Ledger {
  readonly requests: SentRequest[] = [];
  /** Deletions of which it is not known how they ended. */
  readonly #endings = new Set<Ending>();
  #lastId = 0;

  /** A dataset is about to be deleted: until that is over, nobody knows what is stored of it. */
  ending(dataset: string): Ending {
    const ending = { dataset, sent: this.requests.filter((request) => request.dataset === dataset) };
    this.#endings.add(ending);
    for (const request of ending.sent) request.mayBeGone = true;
    return ending;
  }

  /** It was deleted. */
  ended(ending: Ending): void {
    for (const request of ending.sent) request.isGone = !request.presumed;
    this.over(ending);
  }

  /** What is sent from here on belongs to the next dataset of that name. */
  over(ending: Ending): void {
    this.#endings.delete(ending);
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  sent(request: Pick<SentRequest, 'client' | 'dataset' | 'presumed' | 'rows'>): SentRequest {
    const mayBeGone = [...this.#endings].some(({ dataset }) => dataset === request.dataset);
    const sent: SentRequest = { ...request, mayBeGone, isGone: false, outcome: 'waiting' };
    this.requests.push(sent);
    return sent;
  }

  /**
   * The service is gone, so senders that wait get no answer. A deletion that has not happened by now never
   * will.
   */
  disconnect(): void {
    this.#endings.clear();
    for (const request of this.requests) if (request.outcome === 'waiting') request.outcome = 'unanswered';
  }

  count(outcome: Outcome): number {
    return this.requests.filter((request) => request.outcome === outcome).length;
  }
}
