import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Answer } from './answer.ts';

/** Messages of PostgreSQL's protocol 3 as a client sends them, also those that no driver would send. */

const derive = promisify(pbkdf2);

export const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
};
export const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
export const zeroEnded = (text: string): Buffer => Buffer.from(`${text}\0`);

/** A message with its length. */
export function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 4);
  return Buffer.concat([Buffer.from(type), int32(length), ...parts]);
}

export const simpleQuery = (sql: string): Buffer => message('Q', zeroEnded(sql));
export const sync: Buffer = message('S');
export const parse = (name: string, sql: string, types: readonly number[] = []): Buffer =>
  message('P', zeroEnded(name), zeroEnded(sql), int16(types.length), Buffer.concat(types.map(int32)));
export const describe = (what: 'S' | 'P', name: string): Buffer =>
  message('D', Buffer.from(what), zeroEnded(name));
export const close = (what: 'S' | 'P', name: string): Buffer =>
  message('C', Buffer.from(what), zeroEnded(name));
export const execute = (portal: string, maxRows = 0): Buffer =>
  message('E', zeroEnded(portal), int32(maxRows));
export const bind = (
  portal: string,
  statement: string,
  values: readonly Buffer[] = [],
  format: 0 | 1 = 0,
): Buffer =>
  message(
    'B',
    zeroEnded(portal),
    zeroEnded(statement),
    int16(1),
    int16(format),
    int16(values.length),
    Buffer.concat(values.flatMap((value) => [int32(value.length), value])),
    int16(0),
  );

const protocol3 = 0x0003_0000;

/** A packet that opens a connection. */
export function startup(parameters: Readonly<Record<string, string>>, code = protocol3): Buffer {
  const pairs = Object.entries(parameters).flatMap(([name, value]) => [zeroEnded(name), zeroEnded(value)]);
  return packet(Buffer.concat([int32(code), ...pairs, Buffer.alloc(1)]));
}

/** Bytes with the length of all, as packets before the sign-in have it. */
export const packet = (body: Buffer): Buffer => Buffer.concat([int32(body.length + 4), body]);

export const cancelRequest = (processId: number, secret: Buffer): Buffer =>
  packet(Buffer.concat([int32(80877102), int32(processId), secret]));

export const sslRequest: Buffer = packet(int32(80877103));

/** `SASLInitialResponse` with the first message of SCRAM. */
export const saslInitial = (data: string): Buffer =>
  message('p', zeroEnded('SCRAM-SHA-256'), int32(Buffer.byteLength(data)), Buffer.from(data));

export interface WireCredentials {
  readonly user: string;
  readonly database: string;
  readonly secret: string;
}

interface Received {
  readonly type: string;
  readonly body: Buffer;
}

/** Bodies are kept up to this size; what is behind is only counted. */
const keptBodyBytes = 64 * 1024;

/** One connection, which is told apart by what has come over it. */
export class WireConnection {
  readonly #socket: Socket;
  /** An incomplete message. */
  #pending = Buffer.alloc(0);
  /** Bytes of a long message that are not looked at. */
  #skip = 0;
  #answers: Answer[] = [];
  #ready = 0;
  #isClosed = false;
  #error: Answer | undefined;
  #wake: () => void = () => {};
  #handshake: Received[] = [];
  #startedMs = performance.now();

  /** @param localAddress of the client: each is another network for the service */
  constructor(port: number, localAddress = '127.0.0.1') {
    this.#socket = connect({ host: '127.0.0.1', port, localAddress, noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => {
      this.#take(chunk);
      this.#wake();
    });
    const end = () => {
      this.#isClosed = true;
      this.#wake();
    };
    this.#socket.on('error', end);
    this.#socket.on('close', end);
    this.#socket.on('end', end);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Writes, and waits until the peer has taken it, or the connection has ended. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#isClosed || this.#socket.write(bytes)) return;
    await this.#until(() => this.#socket.writableLength === 0, Number.POSITIVE_INFINITY);
  }

  /** Reads nothing from now on. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.destroy();
    this.#wake();
  }

  /** @returns what refused it; undefined when it is signed in */
  async signIn({ user, database, secret }: WireCredentials): Promise<Answer | undefined> {
    await this.write(startup({ user, database }));
    const nonce = randomBytes(18).toString('base64');
    const bare = `n=,r=${nonce}`;
    if ((await this.#authentication(10)) === undefined) return this.#refusal();
    await this.write(saslInitial(`n,,${bare}`));
    const first = (await this.#authentication(11))?.toString();
    if (first === undefined) return this.#refusal();
    const [, both = '', salt = '', rounds = '0'] = /^r=([^,]*),s=([^,]*),i=(\d+)/.exec(first) ?? [];
    const salted = await derive(secret, Buffer.from(salt, 'base64'), Number(rounds), 32, 'sha256');
    const clientKey = hmac(salted, 'Client Key');
    const signed = `${bare},${first},c=biws,r=${both}`;
    const signature = hmac(createHash('sha256').update(clientKey).digest(), signed);
    const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
    await this.write(message('p', Buffer.from(`c=biws,r=${both},p=${proof.toString('base64')}`)));
    const [answer] = await this.answers(1);
    return answer?.status === 200 ? undefined : answer;
  }

  /**
   * One answer for each ReadyForQuery since the last call, or the one that ended the connection, once there
   * are so many.
   */
  async answers(count: number, waitMs = 16_000): Promise<readonly Answer[]> {
    await this.#until(() => this.#ready >= count, waitMs);
    const answers = this.#answers;
    if (this.#ready < count) answers.push(this.#isClosed ? this.#refusal() : this.#missing());
    this.#answers = [];
    this.#ready = 0;
    this.#error = undefined;
    this.#startedMs = performance.now();
    return answers;
  }

  #refusal(): Answer {
    return this.#error ?? (this.#isClosed ? { status: 'closed' } : this.#missing());
  }

  #missing(): Answer {
    return { status: 'none', tookMs: performance.now() - this.#startedMs };
  }

  /** The data of an authentication request of a kind; undefined if another message came, or none. */
  async #authentication(kind: number): Promise<Buffer | undefined> {
    await this.#until(() => this.#handshake.length > 0 || this.#error !== undefined, 16_000);
    const found = this.#handshake.shift();
    return found?.body.readInt32BE(0) === kind ? found.body.subarray(4) : undefined;
  }

  async #until(isThere: () => boolean, waitMs: number): Promise<void> {
    const deadline = performance.now() + waitMs;
    while (!isThere() && !this.#isClosed) {
      const left = deadline - performance.now();
      if (left <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(left, 50));
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #take(chunk: Buffer): void {
    let bytes = chunk;
    if (this.#skip > 0) {
      const skipped = Math.min(this.#skip, bytes.length);
      this.#skip -= skipped;
      bytes = bytes.subarray(skipped);
    }
    let rest = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    while (rest.length >= 5) {
      const length = rest.readInt32BE(1) + 1;
      const type = String.fromCharCode(rest[0] ?? 0);
      if (length > keptBodyBytes) {
        this.#skip = Math.max(0, length - rest.length);
        rest = rest.subarray(length);
        continue;
      }
      if (rest.length < length) break;
      this.#received({ type, body: rest.subarray(5, length) });
      rest = rest.subarray(length);
    }
    this.#pending = Buffer.from(rest);
  }

  #received(received: Received): void {
    const { type, body } = received;
    if (type === 'R') this.#handshake.push({ type, body: Buffer.from(body) });
    else if (type === 'E') {
      const code = /(?:^|\0)C([0-9A-Z]{5})\0/.exec(body.toString('latin1'))?.[1] ?? 'XX000';
      this.#error = { status: statusOf(code), code, tookMs: performance.now() - this.#startedMs };
    } else if (type === 'Z') {
      this.#ready += 1;
      this.#answers.push(this.#error ?? { status: 200, tookMs: performance.now() - this.#startedMs });
      this.#error = undefined;
    }
  }
}

/** What HTTP would say: the judge knows its statuses. */
function statusOf(sqlState: string): number {
  if (sqlState.startsWith('53') || sqlState === '57P03') return 503;
  return sqlState.startsWith('XX') ? 500 : 400;
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
