import { parseResult, type Result, ResultError } from '../query/parse-result.ts';
import { ServiceError, send } from './api-client.ts';

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Waits until rows that were acknowledged before are there. */
  readonly latest?: boolean;
}

/** The service runs four queries of all its clients at once; one page takes half of them. */
const maxRunning = 2;
let running = 0;
const waiting: Array<() => void> = [];

async function turn(signal: AbortSignal | undefined): Promise<void> {
  if (running >= maxRunning) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  if (signal?.aborted !== true) return;
  done();
  signal.throwIfAborted();
}

/** The turn goes to the next one, if anybody waits. */
function done(): void {
  const next = waiting.shift();
  if (next === undefined) running -= 1;
  else next();
}

/**
 * Runs a query; its rows as arrays.
 * @throws ServiceError, or an AbortError
 */
export async function runQuery(sql: string, { signal, latest = false }: RunOptions = {}): Promise<Result> {
  await turn(signal);
  try {
    const response = await send('api/v1/query?format=ndjson&fields=arrays', {
      method: 'POST',
      body: { query: sql },
      signal,
      headers: latest ? { 'Millrace-Consistency': 'latest' } : {},
    });
    return parseResult(await response.text());
  } catch (error) {
    if (error instanceof ResultError) throw new ServiceError(200, error.problem);
    throw error;
  } finally {
    done();
  }
}
