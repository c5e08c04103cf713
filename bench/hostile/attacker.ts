import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './answer.ts';
import { WireConnection, type WireCredentials } from './wire-connection.ts';

/** The senders of hostile requests, by what their credentials allow. */
export type Party =
  /** Reads the rows of one dataset that carry a tag. */
  | 'reader'
  /** Reads all datasets of its tenant. */
  | 'analyst'
  | 'ingestor'
  /** Administers its tenant. */
  | 'admin'
  /** Exports all datasets of its tenant. */
  | 'exporter'
  | 'nobody';

export interface HostileRequest {
  readonly as?: Party;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** Disconnects this long after the request was sent, with or without a reply. */
  readonly leaveAfterMs?: number;
  /** Reads nothing of the reply for this long. */
  readonly readAfterMs?: number;
  /** Gets the text of a reply that is not an error. */
  readonly onText?: (text: string) => void;
}

export interface AttackerParts {
  readonly port: number;
  /** Of the PostgreSQL wire protocol. */
  readonly pgPort: number;
  readonly tenant: string;
  readonly keys: Readonly<Record<KnownParty, AttackerKey>>;
}

export type KnownParty = Exclude<Party, 'nobody'>;

/** An API key: its value, and the name by which a SQL client signs in. */
export interface AttackerKey {
  readonly name: string;
  readonly value: string;
}

/** Bytes of a reply that are kept, to find the code of an error in them. */
const keptReplyBytes = 64 * 1024;

/** How long to wait for a reply: a little longer than any request may take. */
const answerWaitMs = 16_000;

/**
 * Sends hostile requests until its time is over. After `stop` it starts no further requests. After `end` all
 * its connections are closed.
 */
export class Attacker {
  readonly #parts: AttackerParts;
  readonly #agent = new Agent({ keepAlive: false });
  readonly #endings = new Set<() => void>();
  #stopped = false;

  constructor(parts: AttackerParts) {
    this.#parts = parts;
  }

  get port(): number {
    return this.#parts.port;
  }

  get pgPort(): number {
    return this.#parts.pgPort;
  }

  get tenant(): string {
    return this.#parts.tenant;
  }

  /** True once no request may be started. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  /** How a party signs in as a SQL client. */
  wireCredentials(party: KnownParty): WireCredentials {
    const { tenant, keys } = this.#parts;
    return { user: keys[party].name, secret: keys[party].value, database: tenant };
  }

  /**
   * A connection to the SQL port, for as long as the work with it lasts. Without credentials it is not signed
   * in.
   */
  wire(
    work: (connection: WireConnection) => Promise<readonly Answer[]>,
    options: { readonly as?: KnownParty; readonly localAddress?: string } = {},
  ): Promise<readonly Answer[]> {
    const { as, localAddress } = options;
    return this.#until<readonly Answer[]>([leftAnswer], async (ended) => {
      const connection = new WireConnection(this.pgPort, localAddress);
      ended(() => connection.close());
      try {
        const refusal = as && (await connection.signIn(this.wireCredentials(as)));
        return refusal === undefined ? await work(connection) : [refusal];
      } finally {
        connection.close();
      }
    });
  }

  /** The headers with the credentials. */
  credentials(party: Party): Readonly<Record<string, string>> {
    const { tenant, keys } = this.#parts;
    return party === 'nobody'
      ? { 'x-p-tenant': tenant }
      : { 'x-p-tenant': tenant, 'x-api-key': keys[party].value };
  }

  query(sql: string, options: Partial<HostileRequest> = {}): Promise<Answer> {
    return this.send({
      as: 'reader',
      method: 'POST',
      path: '/api/v1/query',
      body: JSON.stringify({ query: sql }),
      ...options,
      headers: { 'content-type': 'application/json', ...options.headers },
    });
  }

  /** Posts JSON events. */
  ingest(
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>> = {},
    dataset = 'app',
  ): Promise<Answer> {
    return this.send({
      as: 'ingestor',
      method: 'POST',
      path: '/api/v1/ingest',
      headers: { 'content-type': 'application/json', 'x-p-stream': dataset, ...headers },
      body,
    });
  }

  send(hostile: HostileRequest): Promise<Answer> {
    const {
      as = 'nobody',
      method = 'GET',
      path,
      headers,
      body,
      leaveAfterMs,
      readAfterMs = 0,
      onText,
    } = hostile;
    const startedMs = performance.now();
    return this.#until<Answer>(leftAnswer, async (ended) => {
      const outgoing = request({
        host: '127.0.0.1',
        port: this.port,
        agent: this.#agent,
        method,
        path,
        headers: {
          ...this.credentials(as),
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
          ...(headers as Record<string, string | string[]>),
        },
      });
      ended(() => outgoing.destroy());
      const answer = new Promise<Answer>((resolve) => {
        outgoing.once('response', (reply) => resolve(read(reply, readAfterMs, onText)));
        outgoing.once('error', () => resolve({ status: 'closed' }));
      }).then((each) => ({ ...each, tookMs: performance.now() - startedMs - readAfterMs }));
      outgoing.end(body);
      if (leaveAfterMs === undefined) {
        const none: Answer = { status: 'none', tookMs: answerWaitMs };
        return await Promise.race([answer, sleep(answerWaitMs + readAfterMs, none, { ref: false })]);
      }
      await Promise.race([answer, sleep(leaveAfterMs)]);
      outgoing.destroy();
      return { status: 'left' };
    });
  }

  /**
   * Sends raw bytes over a new connection, in pieces if that matters. Returns what has arrived when the
   * server closes the connection, when `replies` replies have arrived, or after a while.
   */
  raw(pieces: readonly (string | Uint8Array)[], options: RawOptions = {}): Promise<readonly Answer[]> {
    const { pauseMs = 0, replies = 1, waitMs = 12_000 } = options;
    return this.#until<readonly Answer[]>([leftAnswer], async (ended) => {
      const client = new RawConnection(connect({ host: '127.0.0.1', port: this.port, noDelay: true }));
      ended(() => client.close());
      for (const piece of pieces) {
        if (client.closed || this.#stopped) break;
        client.write(piece);
        if (pauseMs > 0) await sleep(pauseMs);
      }
      const deadline = performance.now() + waitMs;
      while (!client.closed && client.answers().length < replies && performance.now() < deadline)
        await sleep(10);
      client.close();
      const answers = client.answers();
      if (answers.length > 0) return answers;
      return [{ status: client.wasClosedByPeer ? 'closed' : 'none' }];
    });
  }

  /** Opens connections, and holds them until the end or for so long. @returns how many the server accepted */
  async hold(count: number, firstBytes: string, heldMs: number): Promise<Answer> {
    const connections = Array.from(
      { length: count },
      () => new RawConnection(connect({ host: '127.0.0.1', port: this.port, noDelay: true })),
    );
    return await this.#until<Answer>(leftAnswer, async (ended) => {
      ended(() => {
        for (const connection of connections) connection.close();
      });
      for (const connection of connections) connection.write(firstBytes);
      await sleep(heldMs);
      for (const connection of connections) connection.close();
      return { status: 'left' };
    });
  }

  /** From now on no request is started. */
  stop(): void {
    this.#stopped = true;
  }

  /** Ends all requests in progress. */
  end(): void {
    this.#stopped = true;
    for (const ending of this.#endings) ending();
    this.#endings.clear();
    this.#agent.destroy();
  }

  /** @param otherwise the result if it has been stopped before, and what is under way at the end has */
  async #until<Result>(
    otherwise: Result,
    work: (ended: (ending: () => void) => void) => Promise<Result>,
  ): Promise<Result> {
    if (this.#stopped) return otherwise;
    const endings: (() => void)[] = [];
    const cut = new Promise<Result>((resolve) => endings.push(() => resolve(otherwise)));
    const ending = (): void => {
      for (const each of endings) each();
    };
    this.#endings.add(ending);
    try {
      return await Promise.race([work((each) => endings.push(each)), cut]);
    } finally {
      this.#endings.delete(ending);
    }
  }
}

const leftAnswer: Answer = { status: 'left' };

export interface RawOptions {
  /** Between the pieces. */
  readonly pauseMs?: number;
  /** As many are waited for. */
  readonly replies?: number;
  readonly waitMs?: number;
}

async function read(
  reply: IncomingMessage,
  readAfterMs: number,
  onText: HostileRequest['onText'],
): Promise<Answer> {
  if (readAfterMs > 0) await sleep(readAfterMs);
  let kept = '';
  return await new Promise((resolve) => {
    const status = reply.statusCode ?? 0;
    reply.on('data', (chunk: Buffer) => {
      if ((status >= 400 || onText !== undefined) && kept.length < keptReplyBytes)
        kept += chunk.toString('utf8');
    });
    // A reply that breaks off has started all the same.
    reply.once('close', () => {
      if (status < 400) onText?.(kept);
      resolve(answerOf(status, kept));
    });
  });
}

function answerOf(status: number, text: string): Answer {
  const code = /"code":\s*"([a-z_]+)"/.exec(text)?.[1];
  return code === undefined ? { status } : { status, code };
}

class RawConnection {
  readonly #socket: Socket;
  #received = '';
  closed = false;
  wasClosedByPeer = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      if (this.#received.length < keptReplyBytes) this.#received += text;
    });
    socket.on('error', () => this.#end());
    socket.on('close', () => this.#end());
    socket.on('end', () => this.#end());
  }

  #end(): void {
    this.wasClosedByPeer ||= !this.closed;
    this.closed = true;
  }

  write(bytes: string | Uint8Array): void {
    if (typeof bytes === 'string') this.#socket.write(bytes, 'latin1');
    else this.#socket.write(bytes);
  }

  /** Of the replies so far. */
  answers(): readonly Answer[] {
    const heads = [...this.#received.matchAll(/HTTP\/1\.1 (\d{3}) /g)];
    return heads.map((head, index) =>
      answerOf(Number(head[1]), this.#received.slice(head.index, heads[index + 1]?.index)),
    );
  }

  close(): void {
    if (!this.wasClosedByPeer) this.closed = true;
    this.#socket.destroy();
  }
}
