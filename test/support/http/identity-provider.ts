import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider, { type Configuration, errors } from 'oidc-provider';
import type { OidcConfig } from '../../../src/config/oidc-options.ts';

/** A signing key of the provider. A test can sign any token with it. */
export interface SigningKey {
  readonly id: string;
  readonly privateKey: CryptoKey;
  readonly privateJwk: Awaited<ReturnType<typeof exportJWK>>;
  readonly publicJwk: Awaited<ReturnType<typeof exportJWK>>;
}

export async function createSigningKey(id: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const describe = async (key: CryptoKey) => ({
    ...(await exportJWK(key)),
    kid: id,
    alg: 'RS256',
    use: 'sig',
  });
  return { id, privateKey, privateJwk: await describe(privateKey), publicJwk: await describe(publicKey) };
}

export const clientId = 'millrace';
export const clientSecret = 'a secret of the client, percent % and colon :';

/** The service's configuration for the provider on this port. */
export const oidcConfig = (port: number): OidcConfig => ({
  issuer: new URL(issuerOn(port)),
  clientId,
  clientSecret,
  audience: clientId,
  scope: 'openid profile email',
  rolesClaim: 'roles',
  tenantClaim: undefined,
  sessionLifetimeMs: 60_000,
  publicOrigin: undefined,
});

export interface IdentityProviderOptions {
  readonly port: number;
  readonly keys: readonly SigningKey[];
  /** Where it may redirect browsers to. */
  readonly redirectUris: readonly string[];
  /** The claims of every user, besides the subject. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Keeps these claims out of the ID token, as most providers do. */
  readonly rolesInUserInfoOnly?: boolean;
}

/**
 * A real OpenID provider on this machine, which signs in everybody as `alice` and asks for no consent. It
 * counts how often its keys were requested.
 */
export class IdentityProvider {
  readonly issuer: string;
  keysAsked = 0;
  /** Requests for tokens so far, those that wait at the gate among them. */
  tokensAsked = 0;
  /** Delays all answers until it is fulfilled. */
  gate: Promise<void> = Promise.resolve();
  readonly #server: Server;
  readonly #provider: Provider;

  private constructor(options: IdentityProviderOptions) {
    this.issuer = issuerOn(options.port);
    this.#provider = new Provider(this.issuer, configurationOf(options));
    const serve = this.#provider.callback();
    this.#server = createServer((request, response) => {
      if (request.url === '/jwks') this.keysAsked += 1;
      if (request.url === '/token') this.tokensAsked += 1;
      void this.gate.then(() =>
        request.url?.startsWith('/interaction/') === true
          ? this.#agree(request, response)
          : serve(request, response),
      );
    });
  }

  static async start(options: IdentityProviderOptions): Promise<IdentityProvider> {
    const provider = new IdentityProvider(options);
    await new Promise<void>((resolve) => provider.#server.listen(options.port, '127.0.0.1', resolve));
    return provider;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #agree(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { prompt } = await this.#provider.interactionDetails(request, response);
      if (prompt.name !== 'login') throw new errors.InvalidRequest(`unexpected prompt ${prompt.name}`);
      const result = { login: { accountId: 'alice' } };
      await this.#provider.interactionFinished(request, response, result);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }
}

export const issuerOn = (port: number): string => `http://127.0.0.1:${port}`;

function configurationOf(options: IdentityProviderOptions): Configuration {
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...options.redirectUris],
        post_logout_redirect_uris: [],
      },
    ],
    // The type of a private key comes from another version of the same library.
    jwks: { keys: options.keys.map(({ privateJwk }) => ({ ...privateJwk })) } as NonNullable<
      Configuration['jwks']
    >,
    claims: { openid: ['sub'], profile: Object.keys(options.claims) },
    conformIdTokenClaims: options.rolesInUserInfoOnly === true,
    cookies: { keys: ['a key for cookies'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    // Set explicitly, because the provider warns about its defaults.
    ttl: { AccessToken: 3600, Grant: 3600, IdToken: 3600, Interaction: 3600, Session: 3600 },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...options.claims }) }),
    loadExistingGrant: async (context) => {
      const { client, session } = context.oidc;
      const grant = new context.oidc.provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  };
}

export interface TokenOptions {
  readonly key: SigningKey;
  readonly issuer: string;
  readonly audience?: string | string[];
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Relative to now; negative for an expired token. */
  readonly lifetimeSeconds?: number;
}

/** A token as the provider would sign it. */
export async function signToken(options: TokenOptions): Promise<string> {
  const { key, issuer, audience = clientId, claims = {}, header = {}, lifetimeSeconds = 300 } = options;
  const nowSeconds = Math.floor(Date.now() / 1000);
  return await new SignJWT({ sub: 'alice', ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: key.id, ...header })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + lifetimeSeconds)
    .sign(key.privateKey);
}

/** A browser with cookies and redirects only. */
export class Browser {
  /** By host with its port, then by name. */
  readonly #cookies = new Map<string, Map<string, string>>();

  async get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return await this.request('GET', url, headers);
  }

  async request(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>> = {},
    body?: string,
  ): Promise<Response> {
    const { host } = new URL(url);
    const cookies = [...(this.#cookies.get(host) ?? [])].map(([name, value]) => `${name}=${value}`);
    const cookie: Record<string, string> = cookies.length === 0 ? {} : { cookie: cookies.join('; ') };
    const reply = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { ...cookie, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    for (const line of reply.headers.getSetCookie()) this.#keep(host, line);
    return reply;
  }

  /**
   * Follows redirects until there is none, or one to an address with this prefix.
   * @returns the last address
   */
  async follow(url: string, until: string): Promise<string> {
    for (let next = url, hops = 0; hops < 10; hops += 1) {
      if (hops > 0 && next.startsWith(until)) return next;
      const reply = await this.get(next);
      const location = reply.headers.get('location');
      if (location === null) throw new Error(`${next}: ${reply.status} ${await reply.text()}`);
      next = new URL(location, next).href;
    }
    throw new Error('sent around in a circle');
  }

  cookie(url: string, name: string): string | undefined {
    return this.#cookies.get(new URL(url).host)?.get(name);
  }

  setCookie(url: string, name: string, value: string): void {
    this.#keep(new URL(url).host, `${name}=${value}`);
  }

  #keep(host: string, line: string): void {
    const cookies = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, cookies);
    const [pair = '', ...attributes] = line.split(';').map((each) => each.trim());
    const [name = '', ...value] = pair.split('=');
    if (attributes.some((each) => each.toLowerCase() === 'max-age=0') || value.join('=') === '')
      cookies.delete(name);
    else cookies.set(name, value.join('='));
  }
}
