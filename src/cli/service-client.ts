import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { errorText } from '../errors.ts';
import { readIfThere } from '../lib/files.ts';
import type { Address } from '../lib/option-values.ts';
import { CommandError } from './command-error.ts';
import { printable } from './result-table.ts';

/** How a command finds a service, and its credentials. */
export interface ServiceOptions {
  readonly url: string | undefined;
  readonly key: string | undefined;
  /** `name:password` */
  readonly user: string | undefined;
  readonly tenant: string | undefined;
  readonly dataDir: string;
  /** The configured address, used while a starting service has not written its address yet. */
  readonly httpAddr: Address;
  readonly adminUsername: string;
  readonly adminPassword: string | undefined;
}

/** A reply with an error. */
export interface Problem {
  readonly status: number;
  readonly code: string | undefined;
  /** Some lines of text, with control characters escaped. */
  readonly detail: string;
}

/** Sends requests to a service over HTTP. */
export class ServiceClient {
  readonly url: string;
  /** Whether the address comes from the data directory, so that the service runs on this machine. */
  readonly #isOwn: boolean;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(url: string, isOwn: boolean, headers: Readonly<Record<string, string>>) {
    this.url = url;
    this.#isOwn = isOwn;
    this.#headers = headers;
  }

  /**
   * Finds the service and credentials for it. The password in the data directory is used only for the service
   * of that directory; it is never sent to a URL that was given.
   * @throws CommandError if there are no credentials
   */
  static async find(options: ServiceOptions): Promise<ServiceClient> {
    const { url, isOwn } = await locate(options);
    const credentials = await credentialsOf(options, isOwn);
    if (credentials === undefined)
      throw new CommandError(
        isOwn
          ? `there is no password in ${options.dataDir}: give --key or --user, or the data directory of the service (--data-dir)`
          : `${url} needs credentials: give --key (MILLRACE_KEY) or --user (MILLRACE_USER)`,
      );
    const tenant = options.tenant === undefined ? {} : { 'x-p-tenant': options.tenant };
    return new ServiceClient(url, isOwn, { ...credentials, ...tenant });
  }

  /** Finds the service for requests that need no credentials. */
  static async findOpen(options: ServiceOptions): Promise<ServiceClient> {
    const { url, isOwn } = await locate(options);
    return new ServiceClient(url, isOwn, {});
  }

  /**
   * @param body is sent as JSON
   * @throws CommandError if the service cannot be reached
   */
  async send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<IncomingMessage> {
    const target = new URL(path, this.url);
    const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {
      ...this.#headers,
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': text.length }),
    };
    const isTls = target.protocol === 'https:';
    // The certificate is for the public name of the service, but the address here is a local one.
    const options = { method, headers, signal, ...(isTls ? { rejectUnauthorized: !this.#isOwn } : {}) };
    return await new Promise((resolve, reject) => {
      const sent = (isTls ? httpsRequest : httpRequest)(target, options, resolve);
      sent.once('error', (error) => {
        if (signal?.aborted === true) reject(error);
        else
          reject(new CommandError(`cannot reach ${this.url}: ${errorText(error)}; is the service running?`));
      });
      sent.end(text);
    });
  }
}

async function locate({ url, dataDir, httpAddr }: ServiceOptions): Promise<{ url: string; isOwn: boolean }> {
  if (url !== undefined) return { url, isOwn: false };
  const noted = (await readIfThere(join(dataDir, 'address')))?.trim();
  if (noted !== undefined && URL.canParse(noted)) return { url: noted, isOwn: true };
  const { host, port } = httpAddr;
  const named = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${named === '0.0.0.0' || named === '[::]' ? '127.0.0.1' : named}:${port}`,
    isOwn: true,
  };
}

async function credentialsOf(
  { key, user, dataDir, adminUsername, adminPassword }: ServiceOptions,
  isOwn: boolean,
): Promise<Readonly<Record<string, string>> | undefined> {
  if (key !== undefined) return { 'x-api-key': key };
  if (user !== undefined) return basic(user);
  if (!isOwn) return undefined;
  const password = adminPassword ?? (await readIfThere(join(dataDir, 'admin-password')))?.trim();
  return password === undefined ? undefined : basic(`${adminUsername}:${password}`);
}

const basic = (user: string) => ({ authorization: `Basic ${Buffer.from(user).toString('base64')}` });

/**
 * Reads a whole reply.
 * @throws CommandError if it is larger than `maxBytes` or incomplete
 */
export async function readReply(reply: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) throw new CommandError(`the reply is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`the reply broke off: ${errorText(error)}`);
  }
  return Buffer.concat(chunks);
}

/** Why a request was refused. The reply may come from a proxy, in any format. */
export async function readProblem(reply: IncomingMessage): Promise<Problem> {
  const status = reply.statusCode ?? 0;
  const text = (await readReply(reply, maxProblemBytes)).toString('utf8');
  const members: Record<string, unknown> = parseObject(text) ?? {};
  const { code, detail } = members;
  return {
    status,
    code: typeof code === 'string' ? code : undefined,
    detail:
      typeof detail === 'string' ? detail.split('\n').map(printable).join('\n') : `HTTP status ${status}`,
  };
}

const maxProblemBytes = 1 << 20;

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
