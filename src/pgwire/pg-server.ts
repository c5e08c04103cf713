import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { type Caller, maySeeSessionOf } from '../access/gate.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { AppError } from '../errors.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import type { Clock } from '../lib/clock.ts';
import { clientNetwork, normalAddress } from '../lib/ip-address.ts';
import { liveGauge } from '../lib/live-gauge.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import { Multiset } from '../lib/multiset.ts';
import type { Address } from '../lib/option-values.ts';
import { readSecureContext, type TlsFiles } from '../lib/tls-files.ts';
import { limits } from '../limits/limits.ts';
import type { Query } from '../query/request.ts';
import type { CatalogSession, VisibleSession } from '../sql/catalog-session.ts';
import type { ParameterValue } from '../sql/parameters.ts';
import type { TimeSettings } from '../sql/session-times.ts';
import { Connection } from './connection.ts';
import { errorFields } from './error-fields.ts';
import { HeldBytes } from './held-bytes.ts';
import { MessageWriter } from './protocol/message-writer.ts';
import * as reply from './protocol/server-messages.ts';
import { WireError } from './protocol/wire-error.ts';
import { Session, type SessionParts } from './session.ts';
import { SessionSettings } from './session-settings.ts';
import { cancelKey, defaultDatabase, type SignedIn, type SignInParts, signIn } from './sign-in.ts';
import { Turns } from './turns.ts';

export interface PgServerParts extends Omit<SignInParts, 'secureContext'> {
  readonly query: Query;
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'registry'>;
}

interface Running {
  readonly session: Session;
  readonly user: string;
  readonly settings: SessionSettings;
  readonly connection: Connection;
  readonly startedMs: number;
  readonly secret: Buffer;
  readonly caller: () => Caller;
}

/**
 * Listens for clients that speak PostgreSQL's wire protocol, and holds their sessions.
 *
 * All connections have a bound. Those that are not signed in yet have one of their own, in all and for a
 * client network, and sessions have one for a user or key and for a tenant. A failed sign-in is answered
 * late. Once a moment all sessions are looked at: one whose credentials have ended, or that has been idle for
 * too long, is ended.
 */
export class PgServer {
  readonly #parts: PgServerParts;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  /** Not signed in yet, by client network. */
  readonly #unknown = new Multiset();
  /** Sessions of each tenant, and of each user and key. */
  readonly #holders = new Multiset();
  readonly #turns = new Turns();
  readonly #heldBytes = new HeldBytes();
  /** By the process id that clients are told. */
  readonly #sessions = new Map<number, Running>();
  /** With their networks, the oldest first. */
  readonly #signingIn = new Map<Connection, string>();
  #secureContext: SecureContext | undefined;
  #nextProcessId = 1;
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(parts: PgServerParts) {
    this.#parts = parts;
    this.#server = createServer((socket) => void this.#serve(socket));
    const registers = [parts.metrics.registry];
    const name = 'millrace_pg_connections';
    liveGauge({ name, help: 'Open connections of SQL clients.', registers }, () => this.#connections.size);
  }

  /** @returns with the port that it has @throws Error of Node.js, such as EADDRINUSE */
  listen(host: string, port: number): Promise<Address> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        this.#timer = setInterval(() => this.#check(), limits.pgSessionCheckMs).unref();
        const address = this.#server.address();
        resolve({ host, port: typeof address === 'object' && address !== null ? address.port : port });
      });
    });
  }

  /** For connections from now on. @throws BadCertificate */
  async useCertificate(files: TlsFiles): Promise<void> {
    this.#secureContext = await readSecureContext(files);
  }

  /** Ends idle sessions at once, and those that run a statement when it ends, or after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { session } of this.#sessions.values()) if (!session.isBusy) session.end(shutdown());
    const late = setTimeout(() => {
      for (const { session } of this.#sessions.values()) session.end(shutdown());
      for (const connection of this.#connections) connection.destroy();
    }, graceMs);
    const poll = setInterval(() => {
      for (const { session } of this.#sessions.values()) if (!session.isBusy) session.end(shutdown());
    }, limits.pgSessionCheckMs);
    for (const connection of this.#signingIn.keys()) connection.destroy();
    await closed;
    clearTimeout(late);
    clearInterval(poll);
  }

  /** One connection, from its first byte to its last. Never rejects. */
  async #serve(socket: Socket): Promise<void> {
    const connection = new Connection(socket);
    const client = clientNetwork(normalAddress(connection.address) ?? connection.address);
    const out = new MessageWriter();
    this.#unknown.add(client);
    this.#signingIn.set(connection, client);
    const know = (): void => {
      if (this.#signingIn.delete(connection)) this.#unknown.remove(client);
    };
    this.#connections.add(connection);
    const timer = setTimeout(() => connection.destroy(), limits.pgSignInTimeoutMs);
    try {
      this.#requireRoom(client);
      this.#makeRoom();
      const { gate, accounts } = this.#parts;
      const secureContext = () => this.#secureContext;
      const result = await signIn(connection, out, { gate, accounts, secureContext });
      clearTimeout(timer);
      know();
      if (result?.kind === 'cancel') this.#cancel(result);
      else if (result !== undefined) await this.#session(connection, out, result);
    } catch (thrown) {
      await this.#refuse(connection, out, thrown);
    } finally {
      clearTimeout(timer);
      know();
      connection.close();
      this.#connections.delete(connection);
    }
  }

  /** @throws WireError */
  #requireRoom(client: string): void {
    if (this.#isClosing) throw shutdown();
    const isFull = this.#connections.size > limits.pgMaxConnections;
    if (isFull || this.#unknown.get(client) > limits.pgMaxUnauthenticatedPerClient)
      throw new WireError('53300', 'sorry, too many clients already', { fatal: true });
  }

  /** Of those who are not signed in yet, one of the network with most of them makes room for the next one. */
  #makeRoom(): void {
    if (this.#signingIn.size <= limits.pgMaxUnauthenticated) return;
    let most = 0;
    let gone: Connection | undefined;
    for (const [connection, client] of this.#signingIn) {
      const count = this.#unknown.get(client);
      if (count <= most) continue;
      most = count;
      gone = connection;
    }
    gone?.destroy();
  }

  /** @throws WireError */
  async #session(connection: Connection, out: MessageWriter, signedIn: SignedIn): Promise<void> {
    const { principal, tenant } = signedIn.caller();
    const holder = JSON.stringify([tenant, principal.kind, principal.id ?? principal.name]);
    if (this.#holders.get(holder) >= limits.pgMaxSessionsPerIdentity)
      throw tooManySessions(`role "${signedIn.user}"`, limits.pgMaxSessionsPerIdentity);
    if (this.#holders.get(tenant) >= limits.pgMaxSessionsPerTenant)
      throw tooManySessions(`tenant "${tenant}"`, limits.pgMaxSessionsPerTenant);
    this.#holders.add(holder);
    this.#holders.add(tenant);
    try {
      await this.#run(connection, out, signedIn, tenant);
    } finally {
      this.#holders.remove(holder);
      this.#holders.remove(tenant);
    }
  }

  async #run(connection: Connection, out: MessageWriter, signedIn: SignedIn, tenant: string): Promise<void> {
    const { parameters, minor, user } = signedIn;
    const settings = new SessionSettings((name, value) => reply.parameterStatus(out, name, value));
    settings.fix('session_authorization', user);
    settings.fix('is_superuser', signedIn.caller().principal.kind === 'root' ? 'on' : 'off');
    settings.fix('ssl', connection.isEncrypted ? 'on' : 'off');
    for (const [name, value] of startSettings(parameters)) settings.begin(name, value);
    const processId = this.#newProcessId();
    const secret = cancelKey(minor);
    reply.authenticationOk(out);
    for (const [name, value] of settings.reported()) reply.parameterStatus(out, name, value);
    reply.backendKeyData(out, processId, secret);
    const startedMs = Date.now();
    const describe = (showsSessions: boolean): CatalogSession => ({
      user,
      database: parameters.get('database') || defaultDatabase,
      processId,
      startedMs,
      serviceStartedMs: Math.round(performance.timeOrigin),
      clientAddress: connection.address,
      settings: settings.all(),
      sessions: showsSessions ? this.#sessionsFor(signedIn.caller()) : [],
    });
    const session = new Session(
      connection,
      settings,
      out,
      this.#sessionParts(connection, signedIn, tenant, describe, () => settings.timeSettings),
    );
    const { caller } = signedIn;
    this.#sessions.set(processId, { session, user, settings, connection, startedMs, secret, caller });
    try {
      await session.run();
    } finally {
      this.#sessions.delete(processId);
    }
  }

  #sessionParts(
    connection: Connection,
    { asked, caller }: SignedIn,
    tenant: string,
    session: (showsSessions: boolean) => CatalogSession,
    timeSettings: () => TimeSettings,
  ): SessionParts {
    const { gate, query, audit, clock, log } = this.#parts;
    /** @throws AppError */
    const question = (sql: string, parameterTypes: readonly number[], signal: Cancellation) => {
      const who = caller();
      gate.authorize(who, asked, 'query', undefined);
      const { principal } = who;
      return {
        principal,
        tenant: who.tenant,
        sql,
        parameterTypes,
        timeSettings: timeSettings(),
        session,
        signal,
      };
    };
    return {
      query: (sql: string, parameters: readonly ParameterValue[], types, signal) =>
        query.run({ ...question(sql, types, signal), parameters, format: 'rows' }),
      describe: (sql, types, signal) => query.describe(question(sql, types, signal)),
      explain: (sql, signal) => query.explain(question(sql, [], signal)),
      requireAllowed: () => {
        try {
          caller();
        } catch (thrown) {
          if (thrown instanceof AppError && thrown.code === 'unauthenticated') throw credentialsEnded();
          throw thrown;
        }
      },
      endOther: (what, processId) => this.#endOther(caller(), what, processId),
      refused: (error) =>
        audit.refused(error, () => ({
          ...caller(),
          method: 'SQL',
          route: 'pgwire',
          from: connection.address,
        })),
      nowMs: () => clock.monotonicMs(),
      turn: () => this.#turns.take(tenant),
      hold: (bytes) => this.#heldBytes.take(tenant, bytes),
      giveBack: (bytes) => this.#heldBytes.giveBack(tenant, bytes),
      log,
    };
  }

  /** Ends a connection that has no session, with the reason. */
  async #refuse(connection: Connection, out: MessageWriter, thrown: unknown): Promise<void> {
    const { audit, log } = this.#parts;
    // Whatever it was, nobody is there to be told of it.
    if (connection.closed.aborted) return;
    const fields = errorFields(thrown, undefined, log);
    if (fields.code === '28P01' || fields.code === '28000') {
      const denied = new AppError('unauthenticated', 'the credentials are not valid');
      audit.refused(denied, () => ({
        principal: undefined,
        tenant: '',
        method: 'CONNECT',
        route: 'pgwire',
        from: connection.address,
      }));
      // The connection keeps its place among those of its client meanwhile.
      await new Promise((resolve) => setTimeout(resolve, limits.pgFailedSignInDelayMs));
    }
    reply.errorResponse(out, { ...fields, severity: 'FATAL' });
    await connection.write(out.take());
  }

  /** Answered with nothing, as in PostgreSQL: a wrong key learns nothing. */
  #cancel({ processId, secret }: { readonly processId: number; readonly secret: Buffer }): void {
    const running = this.#sessions.get(processId);
    if (running === undefined || running.secret.length !== secret.length) return;
    if (timingSafeEqual(running.secret, secret)) running.session.cancel();
  }

  /** All that a caller may see. */
  #sessionsFor(caller: Caller): readonly VisibleSession[] {
    return [...this.#sessions].flatMap(([processId, running]) =>
      isVisibleTo(caller, running) ? [visibleSession(processId, running)] : [],
    );
  }

  #endOther(caller: Caller, what: 'cancel' | 'terminate', processId: number): boolean {
    const running = this.#sessions.get(processId);
    if (running === undefined || !isVisibleTo(caller, running)) return false;
    if (what === 'cancel') running.session.cancel();
    else running.session.end(shutdown());
    return true;
  }

  #newProcessId(): number {
    const id = this.#nextProcessId;
    this.#nextProcessId = id >= 0x7fff_ffff ? 1 : id + 1;
    return this.#sessions.has(id) ? this.#newProcessId() : id;
  }

  #check(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    for (const { session, caller } of this.#sessions.values()) {
      const reason = hasEnded(caller) ? credentialsEnded() : session.overdue(nowMs);
      if (reason !== undefined) session.end(reason);
    }
  }
}

function isVisibleTo(caller: Caller, { caller: other }: Running): boolean {
  try {
    return maySeeSessionOf(caller, other());
  } catch (thrown) {
    // Whose credentials have ended is about to be gone.
    if (thrown instanceof AppError) return false;
    throw thrown;
  }
}

const visibleSession = (
  processId: number,
  { session, user, settings, connection, startedMs }: Running,
): VisibleSession => ({
  processId,
  user,
  applicationName: settings.get('application_name'),
  clientAddress: connection.address,
  isEncrypted: connection.isEncrypted,
  startedMs,
  ...session.activity.current(),
});

function hasEnded(caller: () => Caller): boolean {
  try {
    caller();
    return false;
  } catch (thrown) {
    // While the store does not answer nothing is known of it; each statement asks again.
    return thrown instanceof AppError && thrown.code === 'unauthenticated';
  }
}

/** @param whose as PostgreSQL says it, which knows a bound of a role and of a database */
const tooManySessions = (whose: string, allowed: number): WireError =>
  new WireError('53300', `too many connections for ${whose}: at most ${allowed} at once`, { fatal: true });
const credentialsEnded = (): WireError =>
  new WireError('28000', 'the credentials of this session are not valid any more', { fatal: true });
const shutdown = (): WireError =>
  new WireError('57P01', 'terminating connection due to administrator command', { fatal: true });

/** Settings of the start-up packet: those with names of their own, and `-c name=value` in `options`. */
function* startSettings(parameters: ReadonlyMap<string, string>): Generator<readonly [string, string]> {
  for (const [name, value] of parameters) {
    if (name === 'options') yield* commandLineSettings(value);
    else if (!['user', 'database', 'replication'].includes(name)) yield [name, value];
  }
}

function* commandLineSettings(options: string): Generator<readonly [string, string]> {
  // A backslash stands before a blank that does not end a word.
  const words = (options.match(/(?:\\.|[^\\\s])+/gs) ?? []).map((word) => word.replace(/\\(.)/gs, '$1'));
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const setting = word === '-c' ? words[++at] : /^(?:-c|--)(.+)$/s.exec(word)?.[1];
    const equals = setting?.indexOf('=') ?? -1;
    if (setting === undefined || equals < 1)
      throw new WireError('42601', `invalid command-line argument for server process: ${word}`, {
        fatal: true,
      });
    yield [setting.slice(0, equals).replaceAll('-', '_'), setting.slice(equals + 1)];
  }
}
