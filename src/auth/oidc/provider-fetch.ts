import type { Clock } from '../../lib/clock.ts';
import { limits } from '../../limits/limits.ts';

/** What the libraries ask the provider with; a redirect is not followed. */
interface FetchOptions {
  readonly method: string;
  readonly headers: NonNullable<RequestInit['headers']>;
  readonly redirect: 'manual';
  readonly body?: RequestInit['body'] | undefined;
  readonly signal?: AbortSignal | undefined;
}

type ProviderFetch = (url: string, options: FetchOptions) => Promise<Response>;

/**
 * `fetch`, of replies up to a size: what a provider, or whoever answers in its place, sends must not fill the memory.
 * @throws Error when the reply is larger
 */
export const fetchBounded: ProviderFetch = async (url, options) => {
  const { body = null, signal = null, ...others } = options;
  const reply = await fetch(url, { ...others, body, signal });
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of reply.body ?? []) {
    bytes += piece.byteLength;
    // Leaving the loop cancels what is still on its way.
    if (bytes > limits.maxOidcReplyBytes) throw new Error('the reply of the identity provider is too large');
    pieces.push(piece);
  }
  const { status, headers } = reply;
  return new Response(bytes === 0 ? null : Buffer.concat(pieces), { status, headers });
};

/**
 * Reads the provider's keys, and after a failure not before a pause: else each token that comes meanwhile, good or made
 * up, would be another request to a provider that is in trouble.
 */
export function createKeyFetch(clock: Clock): ProviderFetch {
  let failedMs = Number.NEGATIVE_INFINITY;
  return async (url, options) => {
    if (clock.monotonicMs() - failedMs < limits.oidcRetryIntervalMs) {
      throw new Error('the keys of the identity provider could not be read a moment ago');
    }
    try {
      const reply = await fetchBounded(url, options);
      if (reply.status !== 200) throw new Error(`the identity provider answers ${reply.status} for its keys`);
      return Response.json(keySet(await reply.json()));
    } catch (error) {
      failedMs = clock.monotonicMs();
      throw error;
    }
  };
}

/** @throws Error when it is something else */
function keySet(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys))
    return value;
  throw new Error('the identity provider answers with something else for its keys');
}
