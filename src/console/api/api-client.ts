/** The only place with `fetch`. Paths are relative: a proxy may serve the console below its own path. */

/** An error of the service, from its problem document (RFC 9457). */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** 0 if the service could not be reached. */
  readonly status: number;
  readonly code: string;
  /** Seconds after which a retry makes sense; undefined if it makes none. */
  readonly retryAfterSeconds: number | undefined;
  /** The whole document. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    problem: Readonly<Record<string, unknown>>,
    retryAfterSeconds?: number | undefined,
  ) {
    super(
      textOf(problem['detail']) ?? textOf(problem['title']) ?? `the service replied with status ${status}`,
    );
    this.status = status;
    this.code = textOf(problem['code']) ?? '';
    this.retryAfterSeconds = retryAfterSeconds;
    this.problem = problem;
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** The tenant that the root administrator acts in; empty for that of the session. */
let tenant = '';
export const actInTenant = (name: string): void => {
  tenant = name;
};

let onSignedOut = (): void => {};
/** @param listener called when the service does not know the session any more */
export const whenSignedOut = (listener: () => void): void => {
  onSignedOut = listener;
};

export const sessionPath = 'api/v1/session';

/**
 * Sends a request; the reply, whose body is not read.
 * @throws ServiceError, or an AbortError
 */
export async function send(path: string, request: ApiRequest = {}): Promise<Response> {
  const { method = 'GET', body, headers = {}, signal } = request;
  let response: Response;
  try {
    response = await fetch(new URL(path, new URL('.', location.href)), {
      method,
      credentials: 'same-origin',
      redirect: 'error',
      signal: signal ?? null,
      headers: {
        // A 401 must not make the browser ask for a password by itself.
        'X-Requested-With': 'millrace-console',
        ...(tenant === '' ? {} : { 'X-P-Tenant': tenant }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ServiceError(0, { detail: 'The service cannot be reached.', code: 'unreachable' }, 2);
  }
  if (response.ok) return response;
  const after = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const error = new ServiceError(
    response.status,
    await problemOf(response),
    Number.isFinite(after) ? after : undefined,
  );
  if (error.status === 401 && path !== sessionPath) onSignedOut();
  throw error;
}

export const sendForJson = async <Value>(path: string, request?: ApiRequest): Promise<Value> =>
  (await (await send(path, request)).json()) as Value;

async function problemOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const value: unknown = await response.json();
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // A proxy replied with something else.
    return { detail: `${response.status} ${response.statusText}` };
  }
}

export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';
