/** A credential as it came: the value of one header, not looked at yet. */
export interface PresentedCredential {
  readonly header: 'authorization' | 'x-api-key';
  readonly value: string;
  /** Id of the tenant to act in; empty for one that does not exist. */
  readonly tenant: string;
}

/** A credential that is well-formed. */
export type Credentials =
  | {
      readonly scheme: 'basic';
      /** As presented. Users have their names within their tenant. */
      readonly tenant: string;
      readonly username: string;
      readonly password: string;
    }
  | { readonly scheme: 'apiKey'; readonly key: string };

const basicHeader = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Basic authentication (RFC 7617) with UTF-8: the user name ends at the first colon. */
function parseBasic({ value, tenant }: PresentedCredential): Credentials | undefined {
  const encoded = basicHeader.exec(value)?.[1];
  if (encoded === undefined) return undefined;
  const pair = decodeUtf8(Buffer.from(encoded, 'base64'));
  const colon = pair?.indexOf(':') ?? -1;
  if (pair === undefined || colon < 0) return undefined;
  return { scheme: 'basic', tenant, username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined; // `fatal` has no other way to say that this is not UTF-8
  }
}

/** The credentials in a header value, or undefined when it is malformed or of a scheme that is not known. */
export const parseCredentials = (presented: PresentedCredential): Credentials | undefined =>
  presented.header === 'x-api-key' ? { scheme: 'apiKey', key: presented.value } : parseBasic(presented);
