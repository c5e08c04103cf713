import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { HttpStatement } from './clickhouse-engine.ts';

/** ClickHouse's HTTP interface: the parts of a request, and the form of errors in an answer. */

/** URL parameters that are not engine settings. */
const httpParameters = new Set([
  'query',
  'query_id',
  'user',
  'password',
  'database',
  'default_format',
  'session_id',
  'session_timeout',
  'session_check',
  'role',
  'quota_key',
  'compress',
  'decompress',
  'stacktrace',
  'buffer_size',
  'wait_end_of_query',
  'enable_http_compression',
]);

export interface HttpRequest {
  readonly statement: HttpStatement;
  readonly queryId: string | undefined;
  readonly user: string;
  readonly password: string;
  readonly waitEndOfQuery: boolean;
  /** Whether the client accepts a compressed answer. */
  readonly gzip: boolean;
}

export async function readRequest(request: IncomingMessage): Promise<HttpRequest> {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const body = await readBody(request);
  const query = searchParams.get('query');
  const settings = new Map<string, string>();
  const parameters = new Map<string, string>();
  for (const [name, value] of searchParams) {
    if (name.startsWith('param_')) parameters.set(name.slice('param_'.length), value);
    else if (!httpParameters.has(name)) settings.set(name, value);
  }
  return {
    statement: {
      text: query === null ? body : Buffer.concat([Buffer.from(`${query}\n`), body]),
      database: searchParams.get('database') ?? header(request, 'x-clickhouse-database'),
      defaultFormat:
        searchParams.get('default_format') ?? header(request, 'x-clickhouse-format') ?? 'TabSeparated',
      settings,
      parameters,
    },
    queryId: searchParams.get('query_id') ?? undefined,
    ...credentialsOf(request, searchParams),
    waitEndOfQuery: searchParams.get('wait_end_of_query') === '1',
    gzip:
      searchParams.get('enable_http_compression') === '1' &&
      (header(request, 'accept-encoding') ?? '').includes('gzip'),
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return header(request, 'content-encoding') === 'gzip' ? await promisify(gunzip)(body) : body;
}

function credentialsOf(
  request: IncomingMessage,
  search: URLSearchParams,
): { user: string; password: string } {
  const basic = /^Basic (.+)$/.exec(header(request, 'authorization') ?? '')?.[1];
  if (basic !== undefined) {
    const [user = '', ...password] = Buffer.from(basic, 'base64').toString('utf8').split(':');
    return { user, password: password.join(':') };
  }
  return {
    user: header(request, 'x-clickhouse-user') ?? search.get('user') ?? 'default',
    password: header(request, 'x-clickhouse-key') ?? search.get('password') ?? '',
  };
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** An error of ClickHouse in its HTTP interface. */
export interface HttpException {
  readonly code: number;
  /** `Code: N. DB::Exception: … (NAME)` */
  readonly text: string;
}

export const exceptionOf = (code: number, message: string, name: string): HttpException => ({
  code,
  text: `Code: ${code}. DB::Exception: ${message} (${name})`,
});

/** The engine's own errors already have the text. */
export function exceptionFrom(thrown: unknown): HttpException {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const code = /^Code: (\d+)\./.exec(text)?.[1];
  if (code === undefined) return exceptionOf(1001, text, 'STD_EXCEPTION');
  return { code: Number(code), text };
}

/** The status of an exception before any output. */
export function statusOf(code: number): number {
  return statuses.find(({ codes }) => codes.has(code))?.status ?? 500;
}

const statuses: ReadonlyArray<{ readonly status: number; readonly codes: ReadonlySet<number> }> = [
  { status: 401, codes: new Set([194]) },
  { status: 403, codes: new Set([164, 192, 193, 497, 516]) },
  { status: 404, codes: new Set([46, 47, 50, 56, 60, 81, 115]) },
  { status: 400, codes: new Set([6, 27, 36, 41, 43, 53, 62, 69, 72, 386, 395]) },
  { status: 408, codes: new Set([159, 209]) },
  { status: 413, codes: new Set([307]) },
  { status: 501, codes: new Set([48]) },
  { status: 503, codes: new Set([202, 439]) },
];

/** The text of an exception after some output. */
export const lateException = (tag: string, text: string): string => {
  const length = Buffer.byteLength(text) + 1;
  return `\r\n__exception__\r\n${tag}\r\n${text}\n${length} ${tag}\r\n__exception__\r\n`;
};
