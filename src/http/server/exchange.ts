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
import { closesConnection, declaredLength, presentedCredential, readHeaders } from './headers.ts';
import type { Sending, ServerRequest } from './listener.ts';
import { requireSameSite } from './origin.ts';
import { decodeParameter, requestDataset } from './path-parameter.ts';
import { problemReply, RefusalWithHeaders, type Reply } from './reply.ts';
import { BodyReader } from './request-body.ts';
import type { BodyRules, PublicRequest, PublicRoute, RefusalFormat, Route } from './route.ts';
import type { RouteMetrics } from './route-metrics.ts';
import type { Router } from './router.ts';

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
  /** Where browsers reach the service; undefined: what their requests say. */
  readonly publicOrigin: string | undefined;
  /** Whose pages may call the API, beside those of the service; undefined: nobody's. */
  readonly corsOrigins: CorsOrigins | undefined;
  /** Networks of the proxies that are believed whom they ask for; undefined: there are none. */
  readonly trustedProxies: Networks | undefined;
  /** True once the server stops: what is under way may end, nothing new begins. */
  readonly isClosing: () => boolean;
  /** Called once for each exchange, when it is over. */
  readonly onEnd: () => void;
}

/** For the counters: a client that left got no status. */
const clientLeftStatus = 499;
/** Refusals after which nobody can say where the next request begins. */
const endingCodes: ReadonlySet<string> = new Set(['bad_framing', 'headers_too_large']);
const emptyBody = new Uint8Array(0);
const asProblem: RefusalFormat = (error) => problemReply(error);

/**
 * One request and its reply, from the headers to the last byte.
 *
 * Everything that can be refused without the body is refused before it is read: who, what, where,
 * which format, how large, whether there is room. A client that is refused sees its reply:
 * the HTTP library throws the rest of the body away, within bounds, so the connection is not reset
 * under a reply that is on its way.
 */
export class Exchange {
  readonly #context: ExchangeContext;
  readonly #request: ServerRequest;
  readonly #method: string;
  readonly #path: string;
  /**
   * As it came: what is answered may depend on it, also where the request is refused before it is looked at.
   */
  readonly #contentType: string;
  /** Of the page that sends the request; empty if it is none, and where nobody's may. */
  readonly #origin: string;
  readonly #startedMs: number;
  #route: Route | undefined;
  #principal: Principal | undefined;
  /** Id of the tenant that the request is about, once that is known; empty if there is none. */
  #tenant = '';
  #forwarding: ForwardingHeaders = notForwarded;
  /** Of the client, once somebody has asked for it. */
  #address: string | undefined;
  #body: BodyReader | undefined;
  /** Body length from the headers, bytes; undefined when only the body itself will tell. */
  #declaredBytes: number | undefined = 0;
  #clientLeft = false;
  #mustEndAtOnce = false;
  #isPreflight = false;
  /** Whether the connection ends with the reply, as the client has asked for. */
  #clientCloses = false;
  #isSending = false;
  #sending: Sending | undefined;
  /** Of an exchange that ends without its whole reply, for the counters. */
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

  /** Never rejects. The head of the request is only read before the first await. */
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
    if (!this.#isPreflight) reply = withCors(reply, this.#context.corsOrigins, this.#origin);
    const { status } = reply;
    const connection = this.#mustEndAtOnce ? 'cut' : this.#mayKeepConnection() ? 'keep' : 'close';
    this.#isSending = true;
    const options = { headOnly: this.#method === 'HEAD', connection } as const;
    this.#sending = this.#request.send(reply, options, {
      onSent: () => this.#end(status),
      onBroken: (error) => this.#breakOff(error),
    });
  }

  /** The reply of the route's handler; undefined when the client left before there was one. */
  async #answer(): Promise<Reply | undefined> {
    const request = this.#request;
    const { queryString } = request;
    const headers = readHeaders(request);
    this.#forwarding = headers;
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
    if (route.permission === 'public') {
      this.#body?.stop();
      return route.handler(this.#publicRequest(queryString, headers.forwardedProto));
    }

    const clientAddress = () => this.#clientAddress();
    const { publicOrigin } = this.#context;
    const credential = presentedCredential(headers, publicOrigin);
    requireSameSite(credential, this.#method, headers, publicOrigin, corsOrigins);
    const { gate } = this.#context;
    const asked = gate.tenantOf(headers.tenant, unnamedTenant(route, credential.header));
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
      userAgent: headers.userAgent.slice(0, limits.maxUserAgentLength),
      extensions: headers.extensions,
      // Each by its name: what follows a copy costs V8 microseconds.
      contentType: content.contentType,
      encoding: content.encoding,
      idempotencyKey: content.idempotencyKey,
      body,
      clientAddress,
      signal: () => this.#signal(),
    });
  }

  #publicRequest(queryString: string, forwardedProto: string): PublicRequest {
    return {
      queryString,
      forwardedProto,
      header: (name) => this.#request.header(name),
      clientAddress: () => this.#clientAddress(),
    };
  }

  /** That of the peer is known as long as the request is open. */
  #clientAddress(): string {
    if (this.#address !== undefined) return this.#address;
    if (this.#clientLeft) return '';
    const peer = this.#request.peerAddress();
    this.#address = clientAddress(peer, this.#forwarding, this.#context.trustedProxies);
    return this.#address;
  }

  /**
   * Waits for a credential to be checked; meanwhile the client cannot send more. A body that came whole with
   * its headers needs no pause, and must have none: uWebSockets.js gives a connection ten seconds from
   * `resume` to the next bytes of a body, and cuts a reply that takes longer.
   */
  async #hold(check: Promise<Principal | undefined>): Promise<Principal | undefined> {
    // Whoever leaves before the check is done is told apart all the same.
    this.#clientAddress();
    if (this.#declaredBytes === 0) return check;
    this.#body ??= new BodyReader(this.#request, this.#declaredBytes);
    const body = this.#body;
    let paused = false;
    // By then it was handed over what came with the headers.
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
   * A connection ends behind chunks, unless they are known to be chunks: what follows could be anybody's. It
   * ends as well under a body that is still coming: one that this exchange reads from gets new time with each
   * piece, so it must be bounded by its length.
   */
  #mayKeepConnection(): boolean {
    if (this.#context.isClosing() || this.#request.awaitsContinue) return false;
    if (this.#declaredBytes === undefined) return this.#context.checksChunks && this.#body?.isOpen !== true;
    return this.#body?.isOpen !== true || this.#declaredBytes <= (this.#route?.body?.maxBytes ?? 0);
  }

  /**
   * Lets the rest of a refused body come, within bounds, where the connection ends with the reply: the HTTP
   * library closes it as soon as that is sent, and the bytes that still come would have the kernel
   * reset it, before the client has read the reply.
   */
  async #linger(): Promise<void> {
    if (!this.#clientCloses && this.#mayKeepConnection()) return;
    await this.#body?.discarded(limits.maxLingeringBodyBytes, limits.maxLingeringMs);
  }

  /**
   * Lets the rest of a refused body come, within bounds, so that a client that sends all of it sees
   * the reply; and lets uWebSockets.js get to the end of what has arrived: it would serve what
   * follows before it closes the connection.
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
   * A reply that cannot be finished has no last chunk, and its connection ends, so that nobody takes it for
   * whole.
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
    // While the reply is on its way nobody else would notice; before that, `run` is still at work.
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

/** A session is of one tenant, so that a page need not name it. */
const unnamedTenant = (route: Exclude<Route, PublicRoute>, header: PresentedCredential['header']) =>
  header === 'cookie' ? 'ofCredential' : route.tenant === 'none' ? 'server' : 'required';
