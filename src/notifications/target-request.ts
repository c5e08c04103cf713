/**
 * One HTTP request to a target, which its tenant chose and nobody trusts: only to addresses that the guard
 * has checked, without redirects, proxies or kept connections, within a bounded time, and little of the
 * reply is read.
 */

import { type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import { AppError } from '../errors.ts';
import { limits } from '../limits/limits.ts';
import type { AddressGuard } from './address-guard.ts';
import type { DeliveryOutcome } from './delivery-outcome.ts';
import type { DeliveryError } from './notification-state.ts';

export interface TargetRequest {
  readonly url: URL;
  /** In addition to `Content-Type`, `Content-Length` and `User-Agent`. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly skipTlsCheck: boolean;
  /**
   * Whether the URL is not that of the service it is meant for, and so must be in the operator's networks.
   */
  readonly mustBeListed: boolean;
}

export interface TargetReply {
  readonly status: number;
  /** What `Retry-After` asks for; undefined if there is none. */
  readonly retryAfterMs: number | undefined;
  /** The beginning of the body. It is never shown: it may come from where the tenant cannot look. */
  readonly text: string;
}

/** Timeouts, as tests shorten them. */
export interface RequestTimeouts {
  readonly connectMs: number;
  readonly totalMs: number;
}

const usualTimeouts: RequestTimeouts = {
  connectMs: limits.targetConnectMs,
  totalMs: limits.targetRequestMs,
};

/**
 * Sends a POST request.
 * @param signal ends it
 * @throws AppError `target_refused`, or `target_unreachable` if there is no whole reply
 */
export async function postToTarget(
  guard: AddressGuard,
  target: TargetRequest,
  signal: AbortSignal,
  timeouts: RequestTimeouts = usualTimeouts,
): Promise<TargetReply> {
  const addresses = await guard.addressesOf(target.url);
  requireAllowed(guard, target, addresses);
  return exchange(target, addresses, signal, timeouts);
}

/** Credentials go over plain HTTP only where the operator has said that the network is his. */
function requireAllowed(guard: AddressGuard, target: TargetRequest, addresses: readonly string[]): void {
  const { url, headers, mustBeListed } = target;
  if (guard.areListed(addresses)) return;
  if (mustBeListed) {
    const reason = `${url.host} is neither the service itself nor in MILLRACE_TARGET_ALLOWED_NETWORKS`;
    throw new AppError('target_refused', reason);
  }
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (url.protocol === 'https:' || !names.includes('authorization')) return;
  throw new AppError(
    'target_refused',
    'credentials are sent over https, or to networks in MILLRACE_TARGET_ALLOWED_NETWORKS, and not over plain http',
  );
}

function exchange(
  { url, headers, body, skipTlsCheck }: TargetRequest,
  addresses: readonly string[],
  signal: AbortSignal,
  { connectMs, totalMs }: RequestTimeouts,
): Promise<TargetReply> {
  const isHttps = url.protocol === 'https:';
  const options: RequestOptions & { readonly rejectUnauthorized: boolean } = {
    method: 'POST',
    // A connection of its own, which no earlier name has opened and no proxy takes.
    agent: false,
    lookup: onlyThese(addresses),
    maxHeaderSize: limits.maxTargetReplyHeaderBytes,
    rejectUnauthorized: !skipTlsCheck,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'millrace',
      connection: 'close',
    },
  };
  return new Promise((resolve, reject) => {
    const request = isHttps ? requestHttps(url, options) : requestHttp(url, options);
    const end = () => {
      clearTimeout(connecting);
      clearTimeout(whole);
      signal.removeEventListener('abort', onAbort);
      request.destroy();
    };
    const fail = (reason: string) => {
      end();
      reject(new AppError('target_unreachable', reason));
    };
    const onAbort = () => fail('the service is stopping');
    const connecting = setTimeout(() => fail(`no connection after ${connectMs} ms`), connectMs);
    const whole = setTimeout(() => fail(`no whole reply after ${totalMs} ms`), totalMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    request.on('socket', (socket) =>
      socket.once(isHttps ? 'secureConnect' : 'connect', () => clearTimeout(connecting)),
    );
    request.on('error', (error: NodeJS.ErrnoException) => fail(explain(error)));
    // Switching to another protocol is no answer.
    request.on('upgrade', () => fail('the target wants another protocol'));
    request.on('response', (reply) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      const finish = () => {
        end();
        const text = Buffer.concat(pieces).toString('utf8', 0, limits.maxTargetReplyBytes);
        const status = reply.statusCode ?? 0;
        resolve({ status, retryAfterMs: retryAfterMs(reply.headers['retry-after']), text });
      };
      reply.on('data', (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.byteLength;
        if (bytes >= limits.maxTargetReplyBytes) finish();
      });
      reply.on('end', finish);
      reply.on('error', (error: NodeJS.ErrnoException) => fail(explain(error)));
    });
    request.end(body);
  });
}

/** Answers with the checked addresses, whatever the name means by now. */
const onlyThese =
  (addresses: readonly string[]): LookupFunction =>
  (_host, { all }, done) => {
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    if (all === true) done(null, found);
    else done(null, found[0]?.address ?? '', found[0]?.family ?? 4);
  };

const explain = (error: NodeJS.ErrnoException): string =>
  reasons[error.code ?? ''] ?? `the request failed: ${error.code ?? 'no whole reply'}`;

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before the reply',
  EPIPE: 'the connection was closed before the reply',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
  ETIMEDOUT: 'no connection in time',
  HPE_HEADER_OVERFLOW: 'the headers of the reply are too large',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate is signed by an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
};

/**
 * `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
 * @returns undefined if it is missing or neither
 */
export function retryAfterMs(value: string | undefined, nowMs = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const dateMs = Date.parse(value);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

/** Statuses that may be others later: 408, 429 and those of servers (5xx). */
export const isRetryableStatus = (status: number): boolean =>
  status === 408 || status === 429 || status >= 500;

/** What most services mean by the status of a reply: 2xx arrived, a few can be tried again, others never. */
export function outcomeOfReply({ status, retryAfterMs: afterMs }: TargetReply): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const why = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  const error: DeliveryError = {
    code: 'target_status',
    message: `the target answered with status ${status}${why}`,
    status,
  };
  if (!isRetryableStatus(status)) return { kind: 'failed', error };
  return { kind: 'retry', error, ...(afterMs === undefined ? {} : { afterMs }) };
}

/** What an error of a try means for the delivery. @throws what is no `AppError` */
export function outcomeOfError(error: unknown): DeliveryOutcome {
  if (!(error instanceof AppError)) throw error;
  const { code, message, definition } = error;
  // Who tests a target is not told to try again at once; a delivery has a day.
  const mayPass = definition.retryable || code === 'target_unreachable';
  return { kind: mayPass ? 'retry' : 'failed', error: { code, message } };
}
