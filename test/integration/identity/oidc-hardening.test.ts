import { createServer, type Server, type ServerResponse } from 'node:http';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OidcProvider } from '../../../src/auth/oidc/provider.ts';
import { TokenVerifier } from '../../../src/auth/oidc/token-verifier.ts';
import { limits } from '../../../src/limits/limits.ts';
import {
  clientId,
  createSigningKey,
  issuerOn,
  type SigningKey,
  signToken,
} from '../../support/http/identity-provider.ts';
import { freePort } from '../../support/lib/child.ts';

let key: SigningKey;
beforeAll(async () => {
  key = await createSigningKey('key');
});

/** A provider whose answers about its keys the test sets, and which counts requests. */
class OddProvider {
  readonly issuer: string;
  asked = 0;
  readonly #server: Server;

  private constructor(issuer: string, keys: (reply: ServerResponse) => void) {
    this.issuer = issuer;
    this.#server = createServer((request, reply) => {
      reply.setHeader('content-type', 'application/json');
      if (request.url !== '/jwks') {
        reply.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }));
        return;
      }
      this.asked += 1;
      keys(reply);
    });
  }

  static async start(keys: (reply: ServerResponse) => void): Promise<OddProvider> {
    const port = await freePort();
    const provider = new OddProvider(issuerOn(port), keys);
    await new Promise<void>((resolve) => provider.#server.listen(port, '127.0.0.1', resolve));
    running.push(provider);
    return provider;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const running: OddProvider[] = [];
afterEach(async () => {
  for (const provider of running.splice(0)) await provider.stop();
});

/** Verifies, by a clock that stands still until it is set. */
function verifierOf(provider: OddProvider) {
  const clock = { ms: 1_000_000, nowMicros: () => Date.now() * 1000, monotonicMs: () => clock.ms };
  const log = pino({ level: 'silent' });
  const options = { issuer: new URL(provider.issuer), clientId, clientSecret: undefined, clock, log };
  const verifier = new TokenVerifier(new OidcProvider(options), clientId, clock);
  const verify = async (kid = key.id) => {
    const token = await signToken({ key, issuer: provider.issuer, header: { kid } });
    return await verifier.verify(token, clientId).then(
      (claims) => (claims === undefined ? 'refused' : 'good'),
      (error: { code?: string }) => error.code,
    );
  };
  return { clock, verify };
}

const goodKeys = () => JSON.stringify({ keys: [key.publicJwk] });

describe('the keys of a provider', () => {
  it.each<[string, (reply: ServerResponse) => void]>([
    ['an error', (reply) => reply.writeHead(500).end('{}')],
    ['something else', (reply) => reply.end('[]')],
    ['what is no JSON', (reply) => reply.end('<html>')],
    ['another place', (reply) => reply.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['a broken connection', (reply) => reply.destroy()],
    ['more than is read', (reply) => reply.end(' '.repeat(limits.maxOidcReplyBytes + 1) + goodKeys())],
  ])('are asked for once in a while where the answer is %s, however many tokens come', async (_, answer) => {
    let healthy = false;
    const provider = await OddProvider.start((reply) => (healthy ? reply.end(goodKeys()) : answer(reply)));
    const { clock, verify } = verifierOf(provider);
    expect(await verify()).toBe('oidc_unavailable');
    // The HTTP client itself repeats a request whose connection broke.
    const { asked } = provider;
    expect(asked).toBeLessThanOrEqual(2);
    for (let index = 0; index < 5; index += 1)
      expect(await verify(`made up ${index}`)).toBe('oidc_unavailable');
    expect(provider.asked).toBe(asked);
    healthy = true;
    clock.ms += limits.oidcRetryIntervalMs;
    expect(await verify()).toBe('good');
    expect(provider.asked).toBe(asked + 1);
  });
});
