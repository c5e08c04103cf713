import { ServiceError, send } from './api-client.ts';
import { type SentEvent, ServerSentEvents } from './server-sent-events.ts';

/** The service sends something each 15 seconds; a connection that is silent for longer is dead. */
const maxSilenceMs = 45_000;

export interface TailRequest {
  readonly dataset: string;
  /** In SQL; empty for all rows. */
  readonly condition: string;
  /** Where to go on; empty for now. */
  readonly lastId: string;
  readonly signal: AbortSignal;
}

export interface TailPart {
  readonly events: readonly SentEvent[];
  /** Where to go on behind them. */
  readonly lastId: string;
}

/**
 * One connection of a live tail: an empty part when the service has accepted it, then what it sends, until
 * the connection ends.
 * @throws ServiceError, or an AbortError
 */
export async function* readLiveTail(request: TailRequest): AsyncGenerator<TailPart, void> {
  const { dataset, condition, lastId, signal } = request;
  const { body } = await send(`api/v1/logstream/${encodeURIComponent(dataset)}/tail`, {
    method: 'POST',
    body: condition === '' ? {} : { where: condition },
    headers: lastId === '' ? {} : { 'Last-Event-ID': lastId },
    signal,
  });
  if (body === null) throw connectionLost();
  const reader = body.getReader();
  const parser = new ServerSentEvents(lastId);
  try {
    yield { events: [], lastId };
    for (;;) {
      const silence = setTimeout(() => void reader.cancel(), maxSilenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      yield { events: parser.push(value), lastId: parser.lastId };
    }
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof RangeError) throw new ServiceError(0, { detail: thrown.message });
    throw connectionLost();
  } finally {
    // Nothing is left of a connection that has failed.
    await reader.cancel().catch(() => {});
  }
}

/** What may be tried again. */
export const connectionLost = (): ServiceError =>
  new ServiceError(0, { detail: 'The connection to the service was lost.', code: 'connection_lost' }, 0);
