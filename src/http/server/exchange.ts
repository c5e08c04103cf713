import type { Gate } from '../../access/gate.ts';
import type { AuditLog } from '../../audit/audit-log.ts';
import type { PresentedCredential } from '../../auth/credentials.ts';
import { AppError } from '../../errors.ts';
import { Cancellation, type CancelSignal } from '../../lib/cancellation.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Networks } from '../../lib/ip-address.ts';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { limits } from '../../limits/limits.ts';
import type { Principal } from '../../model/identity.ts';
import { clientAddress, type ForwardingHeaders, notForwarded } from './client-address.ts';
import { acceptContent, noContent } from './content.ts';
import { type CorsOrigins, preflightReply, withCors } from './cors.ts';
import {
  closesConnection,
  declaredLength,
  keptHeader,
  presentedCredential,
  type RequestHeaders,
  readHeaders,
} from './headers.ts';
import type { Sending, ServerRequest } from './listener.ts';
import { requireSameSite } from './origin.ts';
import { decodeParameter, requestDataset } from './path-parameter.ts';
import {
  type BodyStream,
  isStream,
  problemReply,
  RefusalWithHeaders,
  type Reply,
  withoutPrompt,
} from './reply.ts';
import { BodyReader } from './request-body.ts';
import type { BodyRules, PublicRequest, PublicRoute, RefusalFormat, Route } from './route.ts';
import type { RouteMetrics } from './route-metrics.ts';
import type { Match, Router } from './router.ts';

/** What all exchanges of a server share. */
export interface ExchangeContext {
  readonly router: Router;
  readonly gate: Gate;
  readonly metrics: Metrics;
  readonly metricsOf: (route: Route | undefined) => RouteMetrics;
  readonly log: Logger;
  readonly audit: AuditLog;
  /** See `HttpListener`. */
  readonly checksChunks: boolean;
  readonly clock: Clock;
  /** The origin at which browsers reach the service; if undefined, it is derived from each request. */
  readonly publicOrigin: string | undefined;
  /** Other origins whose pages may call the API; undefined if there are none. */
  readonly corsOrigins: CorsOrigins | undefined;
  /** Networks of proxies whose forwarding headers are used; undefined if there are none. */
  readonly trustedProxies: Networks | undefined;
  /** True once the server is stopping: running requests may finish, and new ones are refused. */
  readonly isClosing: () => boolean;
  /** Called once for each exchange, when it is over. */
  readonly onEnd: () => void;
}

/** Counted as the status of a request whose client disconnected before the reply. */
const clientLeftStatus = 499;
/** Errors after which it is uncertain where the next request on the connection begins. */
const endingCodes: ReadonlySet<string> = new Set(['bad_framing', 'headers_too_large']);
const emptyBody = new Uint8Array(0);
const asProblem: RefusalFormat = (error) => problemReply(error);

/**
 * One request and its reply, from the headers to the last byte.
 *
 * Everything that can be checked without the body is checked before the body is read: credentials,
 * permission, dataset, format, size and free memory. A refused client still gets its reply: the HTTP library
 * reads and drops the rest of the body, within bounds. Otherwise the kernel would reset the connection while
 * the reply is being sent.
 */
export class Exchange {
  readonly #context: ExchangeContext;
  readonly #request: ServerRequest;
  readonly #method: string;
  readonly #path: string;
  /**
   * The header as sent. The format of an error may depend on it, even if the request is refused before the
   * header is checked.
   */
  readonly #contentType: string;
  /**
   * The origin of the page that sends the request; empty without one, and if no other origins are allowed.
   */
  readonly #origin: string;
  readonly #startedMs: number;
  #route: Route | undefined;
  #principal: Principal | undefined;
  /** Id of the tenant of the request; empty while it is not known, and if there is none. */
  #tenant = '';
  #forwarding: ForwardingHeaders = notForwarded;
  /** The address of the client, cached after the first use. */
  #address: string | undefined;
  #body: BodyReader | undefined;
  /** Length of the body in bytes, from the headers; undefined for a chunked body. */
  #declaredBytes: number | undefined = 0;
  #clientLeft = false;
  #mustEndAtOnce = false;
  #isPreflight = false;
  /** Whether a script of a page sent the request, by its header `X-Requested-With`. */
  #isFromScript = false;
  /** Whether the client asked to close the connection after the reply. */
  #clientCloses = false;
  #isSending = false;
  #sending: Sending | undefined;
  /** The status to count if the exchange ends before its whole reply was sent. */
  #leftStatus = clientLeftStatus;
  #leaving: Cancellation | undefined;

  constructor(context: ExchangeContext, request: ServerRequest) {
    this.#context = context;
    this.#request = request;
    this.#method = request.method;
    this.#path = request.path;
    this.#contentType = request.header('content-type');
    this.#origin = context.corsOrigins === undefined ? '' : request.header('origin');
    this.#startedMs = context.clock.monotonicMs();
    request.onAborted(() => this.#onAborted());
  }

  /** Never rejects. Reads the head of the request before the first await; later it is no longer available. */
  async run(): Promise<void> {
    let reply: Reply | undefined;
    try {
      reply = await this.#answer();
    } catch (error) {
      reply = this.#refusal(error);
    } finally {
      this.#body?.stop();
      this.#body?.release();
    }
    const mayCome = !this.#request.awaitsContinue;
    if (mayCome && this.#declaredBytes === undefined) await this.#passChunks();
    else if (mayCome && this.#body?.isOpen === true && !this.#clientLeft && !this.#mustEndAtOnce) {
      await this.#linger();
    }
    if (this.#clientLeft || reply === undefined) {
      this.#end(clientLeftStatus);
      return;
    }
    if (this.#method === 'HEAD' && isStream(reply.body)) reply = { ...reply, body: await ended(reply.body) };
    if (!this.#isPreflight) reply = withCors(reply, this.#context.corsOrigins, this.#origin);
    if (this.#isFromScript) reply = withoutPrompt(reply);
    const { status } = reply;
    const connection = this.#mustEndAtOnce ? 'cut' : this.#mayKeepConnection() ? 'keep' : 'close';
    this.#isSending = true;
    const options = { headOnly: this.#method === 'HEAD', connection } as const;
    this.#sending = this.#request.send(reply, options, {
      onSent: () => this.#end(status),
      onBroken: (error) => this.#breakOff(error),
    });
  }

  /** The reply of the route's handler; undefined if the client disconnected before it. */
  async #answer(): Promise<Reply | undefined> {
    const request = this.#request;
    const { queryString } = request;
    const headers = readHeaders(request);
    this.#forwarding = headers;
    this.#isFromScript = headers.requestedWith !== '';
    this.#declaredBytes = declaredLength(headers);
    this.#clientCloses = closesConnection(headers);
    if (this.#declaredBytes === undefined || (this.#clientCloses && this.#declaredBytes > 0)) {
      this.#body = new BodyReader(this.#request, this.#declaredBytes);
    }
    const { corsOrigins } = this.#context;
    if (corsOrigins !== undefined && this.#method === 'OPTIONS') {
      const asked = {
        origin: this.#origin,
        requestMethod: request.header('access-control-request-method'),
        requestHeaders: request.header('access-control-request-headers'),
      };
      this.#isPreflight = asked.requestMethod !== '';
      if (this.#isPreflight) {
        this.#body?.stop();
        return preflightReply(corsOrigins, asked);
      }
    }
    const match = this.#context.router.match(this.#method, this.#path);
    const { route } = match;
    this.#route = route;
    if (this.#context.isClosing()) throw new AppError('shutting_down', 'this server is stopping');
    if (route.permission === 'public') return await this.#answerPublic(route, match, queryString, headers);

    const clientAddress = () => this.#clientAddress();
    const { publicOrigin } = this.#context;
    const credential = presentedCredential(headers, publicOrigin);
    requireSameSite(credential, this.#method, headers, publicOrigin, corsOrigins);
    const { gate } = this.#context;
    const askedTenant = () => gate.tenantOf(headers.tenant, unnamedTenant(route, credential.header));
    const asked = askedTenant();
    this.#tenant = asked.id ?? '';
    const verdict = gate.authenticate(credential, asked, clientAddress);
    const known = verdict instanceof Promise ? await this.#hold(verdict) : verdict;
    if (this.#clientLeft) return undefined;
    const caller = gate.admit(known, asked);
    const { principal, tenant } = caller;
    this.#tenant = tenant;
    this.#principal = principal;

    const dataset = route.dataset === 'none' ? undefined : requestDataset(route, match, headers);
    gate.authorize(caller, asked, route.permission, dataset);
    if (route.body === undefined) this.#body?.stop();
    const content =
      route.body === undefined ? noContent : acceptContent(route.body, headers, this.#declaredBytes);
    const body =
      route.body === undefined ? emptyBody : await this.#receive(route.body, tenant, dataset ?? '');
    if (body === undefined) return undefined;
    return route.handler({
      principal,
      tenant,
      dataset: dataset ?? '',
      parameter: decodeParameter(match, 'bad_name'),
      queryString,
      accept: headers.accept,
      consistency: headers.consistency,
      ifMatch: headers.ifMatch,
      lastEventId: headers.lastEventId,
      userAgent: headers.userAgent.slice(0, limits.maxUserAgentLength),
      extensions: headers.extensions,
      // Listed one by one: with `...content`, V8 needs microseconds for the members after it.
      contentType: content.contentType,
      encoding: content.encoding,
      idempotencyKey: content.idempotencyKey,
      body,
      clientAddress,
      signal: () => this.#signal(),
      authorizeAgain: async () => {
        const askedNow = askedTenant();
        const verdictNow = await gate.authenticate(credential, askedNow, clientAddress);
        const callerNow = gate.admit(verdictNow, askedNow);
        gate.authorize(callerNow, askedNow, route.permission, dataset);
        return callerNow.principal;
      },
    });
  }

  async #answerPublic(
    route: PublicRoute,
    match: Match,
    queryString: string,
    headers: RequestHeaders,
  ): Promise<Reply | undefined> {
    const request: PublicRequest = {
      queryString,
      forwardedProto: headers.forwardedProto,
      header: (name) => keptHeader(headers, name) ?? this.#request.header(name),
      clientAddress: () => this.#clientAddress(),
      parameter: decodeParameter(match, 'bad_name'),
      body: emptyBody,
    };
    if (route.body === undefined) {
      this.#body?.stop();
      return route.handler(request);
    }
    acceptContent(route.body, headers, this.#declaredBytes);
    // Read the address now: it is not known any more if the client disconnects.
    this.#clientAddress();
    const body = await this.#receive(route.body, '', '');
    return body === undefined ? undefined : route.handler({ ...request, body });
  }

  /** The address of the client; empty if the client has already disconnected. */
  #clientAddress(): string {
    if (this.#address !== undefined) return this.#address;
    if (this.#clientLeft) return '';
    const peer = this.#request.peerAddress();
    this.#address = clientAddress(peer, this.#forwarding, this.#context.trustedProxies);
    return this.#address;
  }

  /**
   * Waits until a credential is checked, and pauses the connection meanwhile, so that the client cannot send
   * more. If the whole body came with the headers, the connection must not be paused: after `resume`,
   * uWebSockets.js expects further bytes of the body within ten seconds and cuts a reply that takes longer.
   */
  async #hold(check: Promise<Principal | undefined>): Promise<Principal | undefined> {
    // Read the address now: it is not known any more if the client disconnects during the check.
    this.#clientAddress();
    if (this.#declaredBytes === 0) return check;
    this.#body ??= new BodyReader(this.#request, this.#declaredBytes);
    const body = this.#body;
    let paused = false;
    // By then the library has delivered the part of the body that came with the headers.
    const pausing = setImmediate(() => {
      paused = body.isOpen && !this.#clientLeft;
      if (paused) body.pause();
    });
    try {
      return await check;
    } finally {
      clearImmediate(pausing);
      if (paused && !this.#clientLeft) body.resume();
    }
  }

  #receive(rules: BodyRules, tenant: string, dataset: string): Uint8Array | Promise<Uint8Array | undefined> {
    if (this.#declaredBytes === 0) return emptyBody;
    this.#body ??= new BodyReader(this.#request, this.#declaredBytes);
    return this.#body.accept({ maxBytes: rules.maxBytes, reserve: rules.reserve?.(tenant, dataset) });
  }

  /**
   * Whether the connection may carry another request. It may not after a chunked body, unless the library
   * checks chunks strictly: the bytes that follow could be a request that a proxy never saw. It may not
   * either while a body that is longer than allowed is still arriving: the time limit starts again with each
   * piece, so such a body could go on forever.
   */
  #mayKeepConnection(): boolean {
    if (this.#context.isClosing() || this.#request.awaitsContinue) return false;
    if (this.#declaredBytes === undefined) return this.#context.checksChunks && this.#body?.isOpen !== true;
    return this.#body?.isOpen !== true || this.#declaredBytes <= (this.#route?.body?.maxBytes ?? 0);
  }

  /**
   * If the connection is closed after the reply, first reads the rest of a refused body, within bounds. The
   * HTTP library closes the connection as soon as the reply is sent. If bytes still arrived then, the kernel
   * would reset it before the client has read the reply.
   */
  async #linger(): Promise<void> {
    if (!this.#clientCloses && this.#mayKeepConnection()) return;
    await this.#body?.discarded(limits.maxLingeringBodyBytes, limits.maxLingeringMs);
  }

  /**
   * Reads the rest of a refused chunked body, within bounds, so that a client that sends all of it sees the
   * reply. Then waits until uWebSockets.js has processed all bytes that have arrived: it would serve a
   * further request among them before it closes the connection.
   */
  async #passChunks(): Promise<void> {
    if (!this.#clientLeft) {
      await this.#body?.discarded(limits.maxDiscardedBodyBytes, limits.maxDiscardedBodyWaitMs);
    }
    if (!this.#context.checksChunks) await new Promise(setImmediate);
  }

  #refusal(thrown: unknown): Reply {
    if (thrown instanceof RefusalWithHeaders) {
      const reply = this.#refusal(thrown.cause);
      return { ...reply, headers: [...(reply.headers ?? []), ...thrown.headers] };
    }
    const error = thrown instanceof AppError ? thrown : new AppError('internal', 'BUG', { cause: thrown });
    if (error.code === 'internal') {
      this.#context.log.error(
        { err: thrown, method: this.#method, route: this.#route?.path },
        'request failed',
      );
    }
    this.#context.metrics.rejects.inc({ code: error.code });
    this.#context.audit.refused(error, () => ({
      principal: this.#principal,
      tenant: this.#tenant,
      method: this.#method,
      route: this.#route?.path,
      from: this.#clientAddress(),
    }));
    this.#mustEndAtOnce = endingCodes.has(error.code);
    if (this.#mustEndAtOnce) return problemReply(error);
    return (this.#context.router.refusalOf(this.#path) ?? asProblem)(error, this.#contentType);
  }

  /**
   * Ends a reply that cannot be completed: closes the connection without a last chunk, so that the client
   * does not take the reply for complete.
   */
  #breakOff(error: unknown): void {
    this.#leftStatus = this.#refusal(error).status;
    this.#request.abort();
  }

  #signal(): CancelSignal {
    this.#leaving ??= new Cancellation();
    if (this.#clientLeft) this.#leaving.cancel();
    return this.#leaving;
  }

  #onAborted(): void {
    this.#clientLeft = true;
    this.#body?.stop();
    this.#leaving?.cancel();
    // While the reply is being sent, only this handler learns that the client left. Before that, `run` calls
    // `#end`.
    if (this.#isSending) this.#end(this.#leftStatus);
    this.#sending?.leave();
  }

  #end(status: number): void {
    const { metricsOf, clock, onEnd } = this.#context;
    const seconds = (clock.monotonicMs() - this.#startedMs) / 1000;
    // A method that no route has is client input, and must not become a label.
    const method = this.#route === undefined ? 'any' : this.#method;
    metricsOf(this.#route).count(method, status, seconds, this.#body?.receivedBytes ?? 0);
    onEnd();
  }
}

/** Ends a stream of which only the headers are sent. A generator ends only what it has begun. */
async function ended(body: BodyStream): Promise<string> {
  const parts = body[Symbol.asyncIterator]();
  await parts.next();
  await parts.return?.();
  return '';
}

/** A session belongs to one tenant, so a request with a session cookie need not name it. */
const unnamedTenant = (route: Exclude<Route, PublicRoute>, header: PresentedCredential['header']) =>
  header === 'cookie' ? 'ofCredential' : route.tenant === 'none' ? 'server' : 'required';
