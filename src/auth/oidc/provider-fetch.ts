import type { Clock } from '../../lib/clock.ts';
import { limits } from '../../limits/limits.ts';

/** The fetch options that the libraries use. Redirects are not followed. */
interface FetchOptions {
  readonly method: string;
  readonly headers: NonNullable<RequestInit['headers']>;
  readonly redirect: 'manual';
  readonly body?: RequestInit['body'] | undefined;
  readonly signal?: AbortSignal | undefined;
}

type ProviderFetch = (url: string, options: FetchOptions) => Promise<Response>;

/**
 * `fetch` with a bound on the size of the reply, so that a provider, or whoever answers in its
 * place, cannot fill memory.
 * @throws Error if the reply is larger
 */
export const fetchBounded: ProviderFetch = async (url, options) => {
  const { body = null, signal = null, ...others } = options;
  const reply = await fetch(url, { ...others, body, signal });
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of reply.body ?? []) {
    bytes += piece.byteLength;
    // Leaving the loop cancels the rest of the transfer.
    if (bytes > limits.maxOidcReplyBytes) throw new Error('the reply of the identity provider is too large');
    pieces.push(piece);
  }
  const { status, headers } = reply;
  return new Response(bytes === 0 ? null : Buffer.concat(pieces), { status, headers });
};

/**
 * Fetches the provider's keys. After a failure it pauses: otherwise each token that arrives meanwhile, valid
 * or invented, would cause another request to a provider in trouble.
 */
export function createKeyFetch(clock: Clock): ProviderFetch {
  let failedMs = Number.NEGATIVE_INFINITY;
  return async (url, options) => {
    if (clock.monotonicMs() - failedMs < limits.oidcRetryIntervalMs) {
      throw new Error('the keys of the identity provider could not be read; they are read again in a moment');
    }
    try {
      const reply = await fetchBounded(url, options);
      if (reply.status !== 200)
        throw new Error(`the identity provider returned ${reply.status} for its keys`);
      return Response.json(keySet(await reply.json()));
    } catch (error) {
      failedMs = clock.monotonicMs();
      throw error;
    }
  };
}

/** @throws Error if it is not a key set */
function keySet(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys))
    return value;
  throw new Error('the identity provider did not return a key set');
}
