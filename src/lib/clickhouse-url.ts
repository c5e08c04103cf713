/** The address of a ClickHouse server and how to sign in: everything that its URL says. */
export interface ClickHouseAddress {
  /** Scheme, host and port. It contains no secret, so it may be shown. */
  readonly origin: string;
  readonly username: string;
  readonly password: string;
  /** The default database of the session; Millrace names a database in each statement. */
  readonly database: string | undefined;
  /** Paths of PEM files; undefined: the certificate authorities of Node.js. */
  readonly tls: ClickHouseTls | undefined;
  /** Saves bandwidth and costs CPU time. */
  readonly compressRequests: boolean;
}

export interface ClickHouseTls {
  readonly caFile: string;
  /** A client certificate, which the server accepts instead of a password. */
  readonly client: { readonly certFile: string; readonly keyFile: string } | undefined;
}

export const clickHouseUrlSyntax =
  'http[s]://[user[:password]@]host[:port][/database], with the parameters ca, cert and key (PEM files, https ' +
  'only) and compression=gzip';

const parameters = ['ca', 'cert', 'key', 'compression'] as const;

/**
 * Parses such a URL. Unknown parameters are an error: a misspelt one would silently switch off what it asks
 * for.
 * @throws Error that says what is wrong, without repeating secrets
 */
export function parseClickHouseUrl(text: string): ClickHouseAddress {
  if (!URL.canParse(text)) throw new Error('it is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error(`its scheme is ${url.protocol} but only http: and https: are supported`);
  }
  if (url.hash !== '') throw new Error('it has a fragment; a # in a password is written %23');
  const given = readParameters(url.searchParams);
  const compression = given.get('compression');
  if (compression !== undefined && compression !== 'gzip') throw new Error('compression may only be gzip');
  const database = decode(url.pathname.slice(1), 'database');
  if (database.includes('/')) throw new Error('its path holds more than the name of a database');
  return {
    origin: `${url.protocol}//${url.host}`,
    username: decode(url.username, 'user') || 'default',
    password: decode(url.password, 'password'),
    database: database === '' ? undefined : database,
    tls: readTls(url.protocol, given),
    compressRequests: compression === 'gzip',
  };
}

function readParameters(search: URLSearchParams): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of search) {
    if (!parameters.some((known) => known === name)) {
      throw new Error(`it has the parameter ${JSON.stringify(name)}; known are ${parameters.join(', ')}`);
    }
    if (given.has(name)) throw new Error(`it has the parameter ${name} twice`);
    if (value === '') throw new Error(`its parameter ${name} is empty`);
    given.set(name, value);
  }
  return given;
}

function readTls(protocol: string, given: ReadonlyMap<string, string>): ClickHouseTls | undefined {
  const caFile = given.get('ca');
  const certFile = given.get('cert');
  const keyFile = given.get('key');
  if (caFile === undefined && certFile === undefined && keyFile === undefined) return undefined;
  if (protocol !== 'https:') throw new Error('ca, cert and key need https');
  if (caFile === undefined) throw new Error('cert and key also need ca');
  if (certFile === undefined && keyFile === undefined) return { caFile, client: undefined };
  if (certFile === undefined || keyFile === undefined) throw new Error('cert and key must be set together');
  return { caFile, client: { certFile, keyFile } };
}

function decode(part: string, what: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    throw new Error(`its ${what} has a % that is not followed by two hexadecimal digits`, { cause: error });
  }
}
