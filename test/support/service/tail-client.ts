import { readTail, type TailReading } from '../http/event-stream.ts';
import { authorization, UnexpectedReply } from './service.ts';

export interface TailOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a POST; without one it is a GET. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly lastEventId?: string;
}

/** A client of a live tail that reads all the time. */
export class TailClient {
  readonly response: Response;
  readonly #leaving: AbortController;
  #text = '';
  isEnded = false;

  private constructor(response: Response, leaving: AbortController) {
    this.response = response;
    this.#leaving = leaving;
  }

  /** Fulfils when the tail has begun, or was refused. */
  static async open(url: string, dataset: string, options: TailOptions = {}): Promise<TailClient> {
    const { headers = { authorization }, body, lastEventId } = options;
    const leaving = new AbortController();
    const response = await fetch(`${url}/api/v1/logstream/${dataset}/tail`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: leaving.signal,
    });
    const client = new TailClient(response, leaving);
    void client.#read();
    return client;
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const part of this.response.body ?? []) this.#text += decoder.decode(part, { stream: true });
    } catch (error) {
      if (!this.#leaving.signal.aborted) throw error;
    }
    this.isEnded = true;
  }

  get text(): string {
    return this.#text;
  }

  get read(): TailReading {
    return readTail(this.#text);
  }

  leave(): void {
    this.#leaving.abort();
  }
}

/** Sends a request as the administrator. @throws Error unless the reply is 200 */
export async function administer<T>(url: string, method: string, path: string, body?: unknown): Promise<T> {
  const reply = await fetch(url + path, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (reply.status !== 200) throw new UnexpectedReply(`${method} ${path}`, reply.status, text);
  return (text.startsWith('{') ? JSON.parse(text) : text) as T;
}
