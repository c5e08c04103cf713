/** A credential as received: the value of one header or of the session cookie, not parsed yet. */
export interface PresentedCredential {
  readonly header: 'authorization' | 'x-api-key' | 'cookie';
  readonly value: string;
  /** The id of the tenant of the request; empty if it does not exist, and for the tenant of the session. */
  readonly tenant: string;
}

/** A well-formed credential. */
export type Credentials =
  | {
      readonly scheme: 'basic';
      /** As presented. User names are unique within a tenant. */
      readonly tenant: string;
      readonly username: string;
      readonly password: string;
    }
  | { readonly scheme: 'apiKey'; readonly key: string }
  | { readonly scheme: 'bearer'; readonly token: string }
  | { readonly scheme: 'session'; readonly id: string };

export type Scheme = Credentials['scheme'];

const basicHeader = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;
/** An API key as a bearer token: it is a UUID, and a token of an identity provider has dots. */
const bearerKey = /^bearer +([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) *$/i;
const bearerHeader = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The kind of a well-formed credential. An unknown scheme counts as `basic`. */
export function schemeOf({ header, value }: Omit<PresentedCredential, 'tenant'>): Scheme {
  if (header === 'x-api-key') return 'apiKey';
  if (header === 'cookie') return 'session';
  // The schemes differ in their second letter; the bit makes it lower case.
  if ((value.charCodeAt(1) | 0x20) !== 0x65) return 'basic';
  return bearerKey.test(value) ? 'apiKey' : 'bearer';
}

/** Parses a header value; undefined if it is malformed or of an unknown scheme. */
export function parseCredentials(presented: PresentedCredential): Credentials | undefined {
  const { header, value } = presented;
  if (header === 'x-api-key') return { scheme: 'apiKey', key: value };
  if (header === 'cookie') return { scheme: 'session', id: value };
  return parseBasic(presented) ?? parseBearer(value);
}

/** Basic authentication (RFC 7617) with UTF-8: the user name ends at the first colon. */
function parseBasic({ value, tenant }: PresentedCredential): Credentials | undefined {
  const encoded = basicHeader.exec(value)?.[1];
  if (encoded === undefined) return undefined;
  const pair = decodeUtf8(Buffer.from(encoded, 'base64'));
  const colon = pair?.indexOf(':') ?? -1;
  if (pair === undefined || colon < 0) return undefined;
  return { scheme: 'basic', tenant, username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

/** A bearer token (RFC 6750, section 2.1). Its form says what it is: one source of identities is asked. */
function parseBearer(value: string): Credentials | undefined {
  const key = bearerKey.exec(value)?.[1];
  if (key !== undefined) return { scheme: 'apiKey', key };
  const token = bearerHeader.exec(value)?.[1];
  return token === undefined ? undefined : { scheme: 'bearer', token };
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined; // `fatal` has no other way to say that this is not UTF-8
  }
}
