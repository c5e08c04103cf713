import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { Gate } from '../../../src/access/gate.ts';
import type { Tenancy } from '../../../src/access/tenancy.ts';
import { AuditLog } from '../../../src/audit/audit-log.ts';
import { Authorizer } from '../../../src/auth/authorizer.ts';
import {
  administratorAccount,
  type Identity,
  type IdentitySource,
  PasswordIdentities,
} from '../../../src/auth/identity-sources.ts';
import { PasswordChecks } from '../../../src/auth/password-checks.ts';
import type { AppError } from '../../../src/errors.ts';
import { ingestRoutes } from '../../../src/http/routes/ingest/ingest-routes.ts';
import { otlpRoutes } from '../../../src/http/routes/ingest/otlp-routes.ts';
import { remoteWriteRoutes } from '../../../src/http/routes/ingest/remote-write-routes.ts';
import { queryRoutes } from '../../../src/http/routes/query/query-routes.ts';
import { metricsRoute } from '../../../src/http/routes/status/metrics-route.ts';
import { statusRoutes } from '../../../src/http/routes/status/status-routes.ts';
import {
  type CreateServerOptions,
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
} from '../../../src/http/server/http-server.ts';
import { chooseLibrary, type HttpServerSetting } from '../../../src/http/server/libraries.ts';
import type { Route } from '../../../src/http/server/route.ts';
import type { Acknowledgement, Ingest, IngestRequest } from '../../../src/ingest/ingest-request.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { ColumnSpec } from '../../../src/model/column.ts';
import { type DecodeCounts, noCounts, type RefusedPart } from '../../../src/model/counts.ts';
import type { Principal } from '../../../src/model/identity.ts';
import { holdBeginning } from '../../../src/query/hold-beginning.ts';
import type {
  CountsBin,
  CountsRequest,
  Description,
  Explanation,
  Query,
  QueryQuestion,
  QueryRequest,
  QueryResult,
} from '../../../src/query/request.ts';
import { postgresType } from '../../../src/sql/postgres-types.ts';
import { text } from '../../../src/sql/types.ts';

/** What `RecordingIngest` says was stored. */
export const someCounts: DecodeCounts = { ...noCounts, events: 3, samples: 5, histograms: 2, exemplars: 1 };

/** Keeps what it was given, and answers what the test wants. */
export class RecordingIngest implements Ingest {
  readonly requests: IngestRequest[] = [];
  /** Bytes of each reservation that was made. */
  readonly reserved: number[] = [];
  openReservations = 0;
  /** Thrown by `reserve` when more than `reserveLimitBytes` would be reserved in all. */
  reserveError: AppError | undefined;
  reserveLimitBytes = 0;
  replayed = false;
  respond: (request: IngestRequest) => DecodeCounts | Promise<DecodeCounts> = () => someCounts;
  refused: RefusedPart | undefined;

  /** Thrown by `admit`. */
  admitError: AppError | undefined;

  admit() {
    if (this.admitError !== undefined) throw this.admitError;
    return (bytes: number) => this.#reserve(bytes);
  }

  #reserve(bodyBytes: number) {
    const totalBytes = this.reserved.reduce((total, bytes) => total + bytes, bodyBytes);
    if (this.reserveError !== undefined && totalBytes > this.reserveLimitBytes) throw this.reserveError;
    this.reserved.push(bodyBytes);
    this.openReservations += 1;
    let released = false;
    return {
      release: () => {
        if (released) throw new Error('released twice');
        released = true;
        this.openReservations -= 1;
      },
    };
  }

  async write(request: IngestRequest): Promise<Acknowledgement> {
    this.requests.push(request);
    return { counts: await this.respond(request), refused: this.refused, replayed: this.replayed };
  }

  async columnsOf(): Promise<readonly ColumnSpec[]> {
    return [];
  }
}

export class RecordingQuery implements Query {
  readonly requests: QueryRequest[] = [];
  respond: (request: QueryRequest) => QueryResult | Promise<QueryResult> = () =>
    resultOf(['a', 'b'], [Buffer.from('[{"a":1,'), Buffer.from('"b":"x"}]')]);
  /** Of any query. */
  description: Description = { columns: [], aggregateColumns: [], datasets: [], parameters: [] };

  async run(request: QueryRequest): Promise<QueryResult> {
    this.requests.push(request);
    return this.respond(request);
  }

  async explain({ sql }: QueryQuestion): Promise<Explanation> {
    return { sql, fields: [{ name: 'a', type: 'bigint' }], datasets: ['app'] };
  }

  async describe(): Promise<Description> {
    return this.description;
  }

  async counts({ startTime, endTime }: CountsRequest): Promise<readonly CountsBin[]> {
    return [{ startTime, endTime, count: 7 }];
  }
}

/** A result whose output is these pieces, or what makes them. */
export function resultOf(
  fields: readonly string[],
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): QueryResult {
  async function* chunks() {
    for await (const piece of pieces) yield { parts: [piece], isLast: false };
  }
  const statistics = () => ({ elapsedMs: 12.3456, read: { rows: 5, bytes: 40 } });
  const columns = fields.map((name) => ({ name, label: name, type: postgresType(text) }));
  return {
    id: 'millrace-1',
    columns,
    datasets: [],
    chunks: holdBeginning(chunks(), limits.queryReplyBufferBytes),
    statistics,
  };
}

/** API keys that the tests use as identities with few privileges. */
export class KeyIdentities implements IdentitySource {
  readonly #principals: ReadonlyMap<string, Principal>;
  /** Each verification waits for this. */
  gate: Promise<void> = Promise.resolve();

  constructor(principals: Readonly<Record<string, Principal['privileges']>>) {
    this.#principals = new Map(
      Object.entries(principals).map(([name, privileges]) => [
        name,
        { kind: 'apiKey', name, tenant: 'default', privileges },
      ]),
    );
  }

  async verify(credentials: Parameters<IdentitySource['verify']>[0]): Promise<Identity | undefined> {
    await this.gate;
    const principal = credentials.scheme === 'apiKey' ? this.#principals.get(credentials.key) : undefined;
    return principal && { principal };
  }
}

/** The HTTP library that tests run on: `MILLRACE_HTTP_SERVER` as the program reads it. */
export const library = { library: librarySetting(process.env['MILLRACE_HTTP_SERVER']) };
/** Whether that is `node:http`, which answers some of what uWebSockets.js drops. */
export const onNodeHttp = chooseLibrary(library.library, undefined).name === 'node:http';

function librarySetting(text = 'auto'): HttpServerSetting {
  if (text === 'auto' || text === 'uwebsockets' || text === 'node') return text;
  throw new Error(`there is no HTTP library ${text}`);
}

export const adminCredentials = `Basic ${Buffer.from('admin:sesame').toString('base64')}`;
/** A server without tenants. */
export const oneTenant: Tenancy = { multiTenant: false, idOf: () => undefined, hasEnded: () => false };
export const auth = { authorization: adminCredentials };
export const maxBodyBytes = 1024 * 1024;

export interface Harness {
  readonly url: string;
  readonly port: number;
  readonly server: HttpServer;
  readonly ingest: RecordingIngest;
  readonly query: RecordingQuery;
  readonly keys: KeyIdentities;
  readonly metrics: ReturnType<typeof createMetrics>;
  readonly routes: readonly Route[];
  readonly logLines: string[];
  notReady: AppError | undefined;
  /** Posts with the administrator's credentials, or others; without a Content-Type of its own. */
  post(path: string, body: string | Uint8Array, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

/** A server on a free port, real but for what is behind `Ingest` and `Query`. */
export async function startServer(
  extraRoutes: readonly Route[] = [],
  checks = new PasswordChecks(),
  options: Pick<HttpServerOptions, 'trustedProxies'> & Pick<CreateServerOptions, 'tls'> = {},
): Promise<Harness> {
  const ingest = new RecordingIngest();
  const query = new RecordingQuery();
  const keys = new KeyIdentities({
    ingestor: [{ privilege: 'ingestor' }],
    'ingestor-app': [{ privilege: 'ingestor', dataset: 'app' }],
    reader: [{ privilege: 'reader' }],
    nothing: [],
  });
  const metrics = createMetrics();
  const logLines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logLines.push(line) });
  const admin = administratorAccount('admin', 'sesame');
  const passwords = new PasswordIdentities((_, name) => (name === 'admin' ? admin : undefined), checks);
  const routes: Route[] = [
    ...statusRoutes({
      version: '1.2.3',
      notReady: () => harness.notReady,
      storeAvailable: () => true,
      openApi: async () => Buffer.from('{}'),
    }),
    metricsRoute({ registry: metrics.registry, clock: systemClock, needsCredentials: false }),
    ...ingestRoutes({ ingest, maxBodyBytes }),
    ...remoteWriteRoutes({ ingest, maxBodyBytes }),
    ...otlpRoutes({ ingest, maxBodyBytes }),
    ...queryRoutes(query),
    ...extraRoutes,
  ];
  const server = createHttpServer({ library: onNodeHttp ? 'node' : 'uwebsockets', tls: options.tls });
  server.serve({
    routes,
    gate: new Gate(new Authorizer([passwords, keys]), oneTenant),
    metrics,
    log,
    audit: new AuditLog(log, systemClock, { add: () => {} }),
    clock: systemClock,
    ...options,
  });
  const { port } = await server.listen('127.0.0.1', 0);
  const url = `http://127.0.0.1:${port}`;
  const harness: Harness = {
    url,
    port,
    server,
    ingest,
    query,
    keys,
    metrics,
    routes,
    logLines,
    notReady: undefined,
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        // For a string fetch would say text/plain.
        body: Buffer.from(body),
        headers: 'x-api-key' in headers ? headers : { ...auth, ...headers },
      }),
    close: () => server.close(0),
  };
  return harness;
}

/** A socket that keeps all that it received. */
export class RawClient {
  readonly socket: Socket;
  received = '';
  closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.received += chunk.toString('latin1');
    });
    socket.on('close', () => {
      this.closed = true;
    });
    // A reset is one of the ways in which the server may end a connection; `closed` follows.
    socket.on('error', () => {});
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawClient(socket);
  }

  /** Sends a request line, headers (Host is added) and a body as they are. */
  request(line: string, headers: Readonly<Record<string, string>>, body = ''): void {
    const head = Object.entries({ host: 'test', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`${line} HTTP/1.1\r\n${head.join('')}\r\n${body}`, 'latin1');
  }

  async until(what: (client: this) => boolean): Promise<void> {
    await waitFor(() => what(this));
  }

  get statuses(): number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));
  }
}

/** A bound on hanging, not on speed: the machine may be busy with other things. */
const maxWaitMs = 60_000;

/** Waits until something holds. */
export async function waitFor(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`never held: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export async function problemOf(
  response: Response,
): Promise<{ code: string; detail: string; title: string }> {
  if (response.headers.get('content-type') !== 'application/problem+json') {
    throw new Error(`not a problem: ${response.status} ${await response.text()}`);
  }
  const problem: unknown = await response.json();
  if (typeof problem !== 'object' || problem === null) throw new Error('not an object');
  const { code, detail, title, status } = problem as Record<string, unknown>;
  if (status !== response.status) throw new Error('the status in the problem differs');
  return { code: String(code), detail: String(detail), title: String(title) };
}

/** A promise with its handles outside. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
