import { randomBytes } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import type { Caller, Gate } from '../access/gate.ts';
import type { RequestTenant } from '../access/tenancy.ts';
import { ScramError, ScramExchange } from '../auth/scram.ts';
import { AppError } from '../errors.ts';
import type { ScramAccount, ScramClient } from '../identity/scram-accounts.ts';
import { limits } from '../limits/limits.ts';
import type { Principal } from '../model/identity.ts';
import type { Connection } from './connection.ts';
import type { MessageWriter } from './protocol/message-writer.ts';
import * as reply from './protocol/server-messages.ts';
import { readStartupPacket, type StartupPacket } from './protocol/startup-packet.ts';
import { protocolViolation, WireError } from './protocol/wire-error.ts';

/**
 * The start of a connection, up to somebody who is known:
 *
 *     SSLRequest, GSSENCRequest (once each) ──▶ StartupMessage ──▶ authentication ──▶ signed in
 *             └── CancelRequest: done
 *
 * Users, the administrator and API keys prove that they know their secret by SCRAM-SHA-256, in which
 * it is not sent. The token of an identity provider is sent as it is, by the user `oidc`, over TLS or
 * from this machine only.
 */

/** Those who sign in with a name and a secret. */
export interface ScramAccounts {
  /**
   * The account of a name in a tenant, and what proves its secret. For a name that nobody has, or that has no
   * verifier yet, there is one that no secret matches; it takes as long.
   * @throws AppError `overloaded`, `store_unavailable`; the reason, if the client is gone
   */
  find(tenant: string, name: string, client: ScramClient): Promise<ScramAccount>;
}

export interface SignInParts {
  readonly gate: Gate;
  readonly accounts: ScramAccounts;
  /** Undefined: there is no certificate. */
  readonly secureContext: () => SecureContext | undefined;
}

/** Somebody who has signed in. */
export interface SignedIn {
  readonly kind: 'session';
  readonly user: string;
  readonly asked: RequestTenant;
  /** Looks again who it is. @throws AppError `unauthenticated` */
  caller(): Caller;
  readonly parameters: ReadonlyMap<string, string>;
  /** Minor version of the protocol, of 3. */
  readonly minor: number;
}

export type SignInResult = SignedIn | Extract<StartupPacket, { kind: 'cancel' }> | undefined;

/** The database of the default tenant. */
export const defaultDatabase = 'millrace';
/** The user whose password is a token of the identity provider. */
const oidcUser = 'oidc';
/** The newest minor version of protocol 3. */
const newestMinor = 2;
const mechanism = 'SCRAM-SHA-256';

/**
 * @returns undefined when the client has left
 * @throws WireError AppError
 */
export async function signIn(
  connection: Connection,
  out: MessageWriter,
  parts: SignInParts,
): Promise<SignInResult> {
  const packet = await negotiate(connection, parts);
  if (packet === undefined || packet.kind === 'cancel') return packet;
  const { parameters, minor: askedMinor, protocolOptions } = packet;
  const minor = Math.min(askedMinor, newestMinor);
  if (askedMinor > newestMinor || protocolOptions.length > 0)
    reply.negotiateProtocolVersion(out, minor, protocolOptions);
  const user = parameters.get('user') ?? '';
  if (user === '')
    throw new WireError('28000', 'no PostgreSQL user name specified in startup packet', { fatal: true });
  if (parameters.get('replication') !== undefined && parameters.get('replication') !== 'false')
    throw new WireError('0A000', 'replication is not supported', { fatal: true });
  const database = parameters.get('database') ?? defaultDatabase;
  const asked = tenantOf(parts.gate, database);
  const principal =
    user === oidcUser
      ? await byToken(connection, out, parts.gate, asked)
      : await bySecret(connection, out, parts.accounts, { tenant: asked.id ?? '', user });
  if (principal === undefined) return undefined;
  const caller = () => parts.gate.admit(principal(), asked);
  if (principal() === undefined) throw wrongPassword(user);
  caller();
  if (asked.problem !== undefined)
    throw new WireError('3D000', `database "${database}" does not exist`, {
      fatal: true,
      hint: `The default tenant is the database "${defaultDatabase}"; another one has the name of its tenant.`,
    });
  return { kind: 'session', user, asked, caller, parameters, minor };
}

/** A database is a tenant. That there is none is said to those who are known. */
function tenantOf(gate: Gate, database: string): RequestTenant {
  if (database === defaultDatabase) return gate.tenantOf('', 'server');
  try {
    return gate.tenantOf(database, 'required');
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'bad_tenant_name') return { id: '', problem: thrown };
    throw thrown;
  }
}

type SessionPacket = Extract<StartupPacket, { kind: 'session' | 'cancel' }>;

async function negotiate(
  connection: Connection,
  { secureContext }: SignInParts,
): Promise<SessionPacket | undefined> {
  const seen = new Set<string>();
  for (;;) {
    const body = await connection.startup();
    if (body === undefined) return undefined;
    const packet = readStartupPacket(body);
    if (packet.kind === 'session' || packet.kind === 'cancel') return packet;
    if (seen.has(packet.kind) || connection.isEncrypted)
      throw protocolViolation('encryption was asked for more than once');
    seen.add(packet.kind);
    // What came behind the request was not encrypted, and may be somebody else's (CVE-2021-23214).
    if (connection.hasPending)
      throw protocolViolation('received unencrypted data after a request for encryption');
    const context = packet.kind === 'ssl' ? secureContext() : undefined;
    await connection.write(Buffer.from(context === undefined ? 'N' : 'S'));
    if (context !== undefined) await connection.upgrade(context);
  }
}

async function bySecret(
  connection: Connection,
  out: MessageWriter,
  accounts: ScramAccounts,
  { tenant, user }: { readonly tenant: string; readonly user: string },
): Promise<(() => Principal | undefined) | undefined> {
  reply.authenticationSasl(out, mechanism);
  const first = await answer(connection, out);
  if (first === undefined) return undefined;
  const { chosen, data } = readInitialResponse(first);
  if (chosen !== mechanism)
    throw protocolViolation('client selected an invalid SASL authentication mechanism');
  const account = await accounts.find(tenant, user, connection);
  const exchange = scram(() => new ScramExchange(data, account.verifier));
  reply.authenticationSaslData(out, 'saslContinue', exchange.serverFirst);
  const last = await answer(connection, out);
  if (last === undefined) return undefined;
  const signature = scram(() => exchange.finish(last.toString('utf8')));
  if (signature === undefined) throw wrongPassword(user);
  reply.authenticationSaslData(out, 'saslFinal', signature);
  return () => account.principal();
}

/** @throws WireError for a `ScramError` */
function scram<T>(step: () => T): T {
  try {
    return step();
  } catch (thrown) {
    if (thrown instanceof ScramError) throw protocolViolation(thrown.message);
    throw thrown;
  }
}

async function byToken(
  connection: Connection,
  out: MessageWriter,
  gate: Gate,
  asked: RequestTenant,
): Promise<(() => Principal | undefined) | undefined> {
  if (!connection.isEncrypted && !isLoopback(connection.address)) {
    throw new WireError('28000', 'a token is accepted over TLS only', {
      fatal: true,
      hint: 'Connect with sslmode=require.',
    });
  }
  reply.authenticationCleartextPassword(out);
  const body = await answer(connection, out);
  if (body === undefined) return undefined;
  const end = body.indexOf(0);
  if (end !== body.length - 1) throw protocolViolation('invalid password packet');
  const value = `Bearer ${body.toString('utf8', 0, end)}`;
  const credential = { header: 'authorization', value } as const;
  const found = await gate.authenticate(credential, asked, () => connection.address);
  if (found === undefined) return () => undefined;
  return () => {
    // Tokens expire. What was verified is remembered, so this takes no waiting as long as it holds.
    const now = gate.authenticate(credential, asked, () => connection.address);
    return now instanceof Promise ? undefined : now;
  };
}

export const isLoopback = (address: string): boolean => /^(?:::ffff:)?127\.|^::1$/.test(address);

/** Sends what was written, and waits for the next message, which must be of an authentication. */
async function answer(connection: Connection, out: MessageWriter): Promise<Buffer | undefined> {
  await connection.write(out.take());
  const frame = await connection.message(limits.pgMaxSignInMessageBytes);
  if (frame === undefined) return undefined;
  if (frame.type === 'p') return frame.body;
  throw protocolViolation(
    `expected an authentication response, got message type ${frame.type.charCodeAt(0)}`,
  );
}

/** SASLInitialResponse: the mechanism, a length, and the first message of the client. */
function readInitialResponse(body: Buffer): { readonly chosen: string; readonly data: string } {
  const end = body.indexOf(0);
  if (end < 0 || body.length < end + 5) throw protocolViolation('malformed SASLInitialResponse');
  const length = body.readInt32BE(end + 1);
  if (length !== body.length - end - 5) throw protocolViolation('malformed SASLInitialResponse');
  return { chosen: body.toString('utf8', 0, end), data: body.toString('utf8', end + 5) };
}

/** The same for names that there are not. */
const wrongPassword = (user: string): WireError =>
  new WireError('28P01', `password authentication failed for user "${user}"`, { fatal: true });

/** A key by which a client cancels its queries from another connection; four bytes before protocol 3.2. */
export const cancelKey = (minor: number): Buffer => randomBytes(minor >= 2 ? 32 : 4);
