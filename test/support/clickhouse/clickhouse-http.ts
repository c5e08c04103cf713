import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { HttpEngine } from './clickhouse-engine.ts';
import { type Fault, type FaultRule, Faults } from './clickhouse-faults.ts';
import {
  exceptionFrom,
  exceptionOf,
  type HttpException,
  type HttpRequest,
  lateException,
  readRequest,
  statusOf,
} from './clickhouse-protocol.ts';

/**
 * A test program: ClickHouse's HTTP interface on the embedded engine, so that the real client talks HTTP to
 * the real engine where no server is available. `clickhouse-server.ts` starts and controls it.
 *
 *     node clickhouse-http.js --data DIR --port N --user U --password P [--cert FILE --key FILE]
 *
 * `POST /faults` adds faults for future requests, `GET /faults` returns how many are pending.
 */
const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '' },
    port: { type: 'string', default: '0' },
    user: { type: 'string', default: 'default' },
    password: { type: 'string', default: '' },
    cert: { type: 'string' },
    key: { type: 'string' },
  },
});

const engine = new HttpEngine(options.data);
const faults = new Faults();

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/ping') response.end('Ok.\n');
  else if (request.url === '/faults') await answerFaults(request, response);
  else await answerStatement(await readRequest(request), response);
}

async function answerFaults(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'POST') {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    faults.add(JSON.parse(Buffer.concat(chunks).toString('utf8')) as FaultRule);
  }
  response.end(String(faults.left));
}

async function answerStatement(request: HttpRequest, response: ServerResponse): Promise<void> {
  response.setHeader('X-ClickHouse-Query-Id', request.queryId ?? randomUUID());
  response.setHeader('X-ClickHouse-Timezone', 'UTC');
  if (request.user !== options.user || request.password !== options.password) {
    const message = `${request.user}: Authentication failed: password is incorrect, or there is no user with such name.`;
    sendException(response, exceptionOf(516, message, 'AUTHENTICATION_FAILED'));
    return;
  }
  const fault = faults.take(request.statement.text.toString('utf8', 0, 1000));
  if (await interfere(fault, response)) return;
  try {
    if (fault?.kind === 'stream' && !request.waitEndOfQuery) await sendStream(request, response);
    else await sendOutput(request, response, fault);
  } catch (error) {
    if (response.headersSent) throw error;
    sendException(response, exceptionFrom(error));
  }
}

/** @returns true if the request was answered, or never will be */
async function interfere(fault: Fault | undefined, response: ServerResponse): Promise<boolean> {
  switch (fault?.kind) {
    case 'delay':
      if (fault.when === 'before') await sleep(fault.ms);
      return false;
    case 'error':
      sendException(response, exceptionOf(fault.code, 'it was asked to fail', fault.name));
      return true;
    case 'status':
      response.writeHead(fault.status, { 'Content-Type': 'text/html' }).end('<h1>not ClickHouse</h1>');
      return true;
    case 'cut':
      if (fault.when === 'before') response.socket?.resetAndDestroy();
      return fault.when === 'before';
    default:
      return false;
  }
}

async function sendOutput(
  request: HttpRequest,
  response: ServerResponse,
  fault: Fault | undefined,
): Promise<void> {
  const { bytes, readRows, elapsedMs } = await engine.run(request.statement);
  if (fault?.kind === 'delay' && fault.when === 'after') await sleep(fault.ms);
  const cut = fault?.kind === 'cut' ? fault.when : undefined;
  if (cut === 'after') {
    response.socket?.resetAndDestroy();
    return;
  }
  const summary = { read_rows: String(readRows), elapsed_ns: String(Math.round(elapsedMs * 1e6)) };
  response.setHeader('X-ClickHouse-Summary', JSON.stringify(summary));
  response.setHeader('X-ClickHouse-Exception-Tag', newTag());
  if (cut === 'within') {
    response.setHeader('Content-Length', String(bytes.length));
    response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.end());
    return;
  }
  if (request.gzip) response.setHeader('Content-Encoding', 'gzip');
  response.end(request.gzip ? gzipSync(bytes) : bytes);
}

/** ClickHouse does this if an output exceeds its buffer and the request did not ask to wait for the end. */
async function sendStream(request: HttpRequest, response: ServerResponse): Promise<void> {
  const tag = newTag();
  response.setHeader('X-ClickHouse-Exception-Tag', tag);
  try {
    for await (const block of engine.stream(request.statement)) {
      if (!response.write(block)) await once(response, 'drain');
    }
    response.end();
  } catch (error) {
    // No final chunk: a reader that does not know the tag must not take this for a complete answer.
    response.write(lateException(tag, exceptionFrom(error).text), () => response.socket?.end());
  }
}

const newTag = (): string => randomBytes(8).toString('hex');

function sendException(response: ServerResponse, { code, text }: HttpException): void {
  response.statusCode = statusOf(code);
  response.setHeader('X-ClickHouse-Exception-Code', String(code));
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.end(`${text} (version 26.7.2.1)\n`);
}

const { cert, key } = options;
/** ClickHouse takes addresses of up to a megabyte. */
const serverOptions = { maxHeaderSize: 1024 * 1024, keepAliveTimeout: 10_000 };
const listener = (request: IncomingMessage, response: ServerResponse): void => {
  answer(request, response).catch((error) => {
    // Mostly the client has disconnected; the test sees the outcome.
    process.stderr.write(`${String(error)}\n`);
    response.destroy();
  });
};
const server =
  cert === undefined || key === undefined
    ? createServer(serverOptions, listener)
    : createTlsServer({ ...serverOptions, cert: readFileSync(cert), key: readFileSync(key) }, listener);
server.listen(Number(options.port), '127.0.0.1', () => process.stdout.write('listening\n'));
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => void engine.close().then(() => process.exit(0)));
});
