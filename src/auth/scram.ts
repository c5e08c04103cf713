import {
  createHash,
  createHmac,
  pbkdf2 as pbkdf2WithCallback,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { promisify } from 'node:util';
import { limits } from '../limits/limits.ts';

/**
 * SCRAM-SHA-256 (RFC 5802, RFC 7677) as PostgreSQL speaks it: the server's side of the exchange, and the
 * verifiers that take the place of passwords. Without channel binding.
 *
 *     client-first    n,,n=<ignored>,r=<client nonce>
 *     server-first    r=<both nonces>,s=<salt>,i=<iterations>
 *     client-final    c=biws,r=<both nonces>,p=<proof>
 *     server-final    v=<signature>
 */
const pbkdf2 = promisify(pbkdf2WithCallback);

const keyBytes = 32;
const saltBytes = 16;

/** What is kept of a password: it proves that a client knows it, and does not tell what it is. */
export interface ScramVerifier {
  readonly iterations: number;
  readonly salt: Buffer;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

/** Takes some milliseconds of a thread of libuv's pool. */
export async function makeVerifier(password: string, salt = randomBytes(saltBytes)): Promise<ScramVerifier> {
  const iterations = limits.scramIterations;
  const salted = await pbkdf2(prepared(password), salt, iterations, keyBytes, 'sha256');
  return {
    iterations,
    salt,
    storedKey: sha256(hmac(salted, 'Client Key')),
    serverKey: hmac(salted, 'Server Key'),
  };
}

/** As PostgreSQL writes it in `pg_authid.rolpassword`. */
export function verifierText({ iterations, salt, storedKey, serverKey }: ScramVerifier): string {
  const [saltText, stored, server] = [salt, storedKey, serverKey].map((each) => each.toString('base64'));
  return `SCRAM-SHA-256$${iterations}:${saltText}$${stored}:${server}`;
}

/** Reads `verifierText`; undefined for anything else. */
export function readVerifier(text: string): ScramVerifier | undefined {
  const match = /^SCRAM-SHA-256\$(\d{1,9}):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [, iterations, salt, stored, server] = match;
  const [saltBuffer, storedKey, serverKey] = [salt, stored, server].map((each) =>
    Buffer.from(each ?? '', 'base64'),
  );
  if (saltBuffer === undefined || storedKey?.length !== keyBytes || serverKey?.length !== keyBytes)
    return undefined;
  return { iterations: Number(iterations), salt: saltBuffer, storedKey, serverKey };
}

/**
 * A verifier that no password matches, for names that nobody has.
 * @param key secret
 * @param salt the same each time for a name, so that it does not tell which names there are
 */
export function verifierOfNobody(key: Buffer, salt: Buffer): ScramVerifier {
  const iterations = limits.scramIterations;
  return { iterations, salt, storedKey: hmac(key, 'stored'), serverKey: hmac(key, 'server') };
}

/** What is wrong with a message of the exchange itself; a wrong password is none. */
export class ScramError extends Error {
  override readonly name = 'ScramError';
}

/** The server's side of one exchange, after the client's first message. */
export class ScramExchange {
  readonly #verifier: ScramVerifier;
  readonly #gs2Header: string;
  readonly #clientFirstBare: string;
  readonly #nonce: string;
  /** To be sent. */
  readonly serverFirst: string;

  /** @throws ScramError */
  constructor(clientFirst: string, verifier: ScramVerifier, nonce = randomBytes(18).toString('base64')) {
    // `p=` would bind the channel, which only SCRAM-SHA-256-PLUS does.
    const match = /^((?:n|y),(?:a=[^,]*)?,)(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]+)(?:,.*)?)$/s.exec(clientFirst);
    if (match === null) throw new ScramError('malformed SCRAM message: the first message of the client');
    const [, gs2Header = '', bare = '', clientNonce = ''] = match;
    this.#verifier = verifier;
    this.#gs2Header = gs2Header;
    this.#clientFirstBare = bare;
    this.#nonce = clientNonce + nonce;
    this.serverFirst = `r=${this.#nonce},s=${verifier.salt.toString('base64')},i=${verifier.iterations}`;
  }

  /**
   * @returns the server's last message; undefined if the password is wrong
   * @throws ScramError
   */
  finish(clientFinal: string): string | undefined {
    const match = /^(c=([A-Za-z0-9+/=]+),r=([^,]+)(?:,[^,]+)*),p=([A-Za-z0-9+/=]+)$/s.exec(clientFinal);
    if (match === null) throw new ScramError('malformed SCRAM message: the last message of the client');
    const [, withoutProof = '', binding = '', nonce = '', proofText = ''] = match;
    if (binding !== Buffer.from(this.#gs2Header).toString('base64'))
      throw new ScramError('unexpected SCRAM channel-binding attribute in the last message of the client');
    if (nonce !== this.#nonce) throw new ScramError('SCRAM nonce mismatch');
    const proof = Buffer.from(proofText, 'base64');
    if (proof.length !== keyBytes) throw new ScramError('malformed SCRAM message: the length of the proof');
    const { storedKey, serverKey } = this.#verifier;
    const authMessage = `${this.#clientFirstBare},${this.serverFirst},${withoutProof}`;
    const signature = hmac(storedKey, authMessage);
    const clientKey = Buffer.from(proof.map((byte, index) => byte ^ (signature[index] ?? 0)));
    if (!timingSafeEqual(sha256(clientKey), storedKey)) return undefined;
    return `v=${hmac(serverKey, authMessage).toString('base64')}`;
  }
}

/** What SASLprep (RFC 4013) makes of all but unusual passwords: other spaces are spaces, then NFKC. */
const prepared = (password: string): string =>
  password.replace(/[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g, ' ').normalize('NFKC');

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
