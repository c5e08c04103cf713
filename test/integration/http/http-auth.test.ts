import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PasswordChecks } from '../../../src/auth/password-checks.ts';
import { parseNetworks } from '../../../src/lib/ip-address.ts';
import { limits } from '../../../src/limits/limits.ts';
import {
  adminCredentials,
  auth,
  deferred,
  type Harness,
  problemOf,
  RawClient,
  startServer,
  waitFor,
} from './http-harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startServer();
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.ingest.requests.length = 0;
  harness.ingest.reserved.length = 0;
});

const ingest = (headers: Record<string, string>, body = Buffer.from('[{}]')) =>
  fetch(`${harness.url}/api/v1/ingest`, {
    method: 'POST',
    body,
    headers: { 'x-p-stream': 'app', ...headers },
  });

const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });

describe('credentials', () => {
  it('let the administrator in', async () => {
    expect((await ingest(auth)).status).toBe(200);
    expect(harness.ingest.requests[0]).toMatchObject({ tenant: 'default', dataset: 'app' });
  });

  it.each([
    ['none', {}],
    ['an empty header', { authorization: '' }],
    ['a wrong password', basic('admin:Sesame')],
    ['a wrong name', basic('root:sesame')],
    ['broken base64', { authorization: 'Basic ?' }],
    ['no colon', basic('admin')],
    ['bytes that are not UTF-8', { authorization: 'Basic YWRtaW46/w==' }],
    ['an unsupported scheme', { authorization: 'Digest username="admin"' }],
    ['an unknown key', { 'x-api-key': 'unknown' }],
  ])('are refused with 401 and a challenge: %s', async (_, headers: Record<string, string>) => {
    // The second time the answer comes from the cache.
    for (let round = 0; round < 2; round += 1) {
      const response = await ingest(headers);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Basic realm="Millrace", charset="UTF-8"');
      expect((await problemOf(response)).code).toBe('unauthenticated');
    }
    expect(harness.ingest.requests).toEqual([]);
    expect(harness.ingest.reserved).toEqual([]);
  });

  it('of two kinds at once are ambiguous, even when both are good', async () => {
    const response = await ingest({ ...auth, 'x-api-key': 'ingestor' });
    expect(response.status).toBe(400);
    expect((await problemOf(response)).code).toBe('credentials_ambiguous');
  });

  it('sent twice are refused', async () => {
    const client = await RawClient.open(harness.port);
    client.request('POST /api/v1/ingest', {
      Authorization: adminCredentials,
      authorization: basic('a:b').authorization,
      'x-p-stream': 'app',
    });
    await client.until(({ received }) => received.includes('}'));
    expect(client.statuses).toEqual([400]);
    expect(client.received).toContain('the header authorization was sent more than once');
    client.socket.destroy();
  });

  it('longer than the bound are 431', async () => {
    const fits = await ingest({ 'x-api-key': 'k'.repeat(limits.maxCredentialBytes) });
    expect(fits.status).toBe(401);
    const response = await ingest({ 'x-api-key': 'k'.repeat(limits.maxCredentialBytes + 1) });
    expect(response.status).toBe(431);
    expect((await problemOf(response)).code).toBe('headers_too_large');
  });

  it('never appear in the log', async () => {
    await ingest(basic('admin:hunter2'));
    expect(harness.logLines.join('')).not.toMatch(/hunter2|Basic /);
  });
});

describe('permissions', () => {
  it('limit a key to what its privileges say', async () => {
    expect((await ingest({ 'x-api-key': 'ingestor' })).status).toBe(200);
    expect((await ingest({ 'x-api-key': 'ingestor-app' })).status).toBe(200);
    for (const headers of [
      { 'x-api-key': 'ingestor-app', 'x-p-stream': 'other' },
      { 'x-api-key': 'reader' },
      { 'x-api-key': 'nothing' },
    ]) {
      const response = await ingest(headers);
      expect(response.status).toBe(403);
      expect((await problemOf(response)).code).toBe('forbidden');
    }
  });

  it('are checked against the dataset in the path, decoded', async () => {
    const to = (segment: string) =>
      fetch(`${harness.url}/api/v1/logstream/${segment}`, {
        method: 'POST',
        body: Buffer.from('[]'),
        headers: { 'x-api-key': 'ingestor-app', 'x-p-stream': 'app' },
      });
    expect((await to('app')).status).toBe(200);
    expect((await to('%61pp')).status).toBe(200);
    expect((await to('other')).status).toBe(403);
  });

  it('are checked before the content of the request', async () => {
    const response = await ingest({
      'x-api-key': 'reader',
      'content-type': 'text/plain',
      'x-p-tenant': 'other',
    });
    expect(response.status).toBe(403);
  });
});

describe('a password that a browser remembers', () => {
  it('changes nothing for pages of other sites, which can make the browser send it', async () => {
    const { host } = new URL(harness.url);
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: harness.url },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://${host}.evil.example` },
    ];
    for (const headers of foreign) {
      const { status } = await ingest({ ...auth, ...headers });
      expect([headers, status]).toEqual([headers, 403]);
      // A key is in a header of its own, which a page of another site cannot set.
      expect((await ingest({ 'x-api-key': 'ingestor', ...headers })).status).toBe(200);
    }
    for (const headers of [{}, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }]) {
      expect((await ingest({ ...auth, ...headers })).status).toBe(200);
    }
    expect((await ingest({ ...auth, origin: harness.url })).status).toBe(200);
    // Reading changes nothing, and no other site sees the answer.
    const about = await fetch(`${harness.url}/api/v1/about`, { headers: { ...auth, ...foreign[0] } });
    expect(about.status).toBe(200);
  });
});

describe('X-P-Tenant', () => {
  it('may name the one tenant and no other', async () => {
    expect((await ingest({ ...auth, 'x-p-tenant': 'default' })).status).toBe(200);
    const response = await ingest({ ...auth, 'x-p-tenant': 'acme' });
    expect(response.status).toBe(400);
    expect((await problemOf(response)).code).toBe('tenant_not_supported');
  });
});

describe('while a credential is being checked', () => {
  it('the body waits outside, and comes whole once the credential is good', async () => {
    const other = await startServer();
    const gate = deferred();
    other.keys.gate = gate.promise;
    const body = Buffer.alloc(1024 * 1024, 'x');
    const answered = fetch(`${other.url}/api/v1/ingest`, {
      method: 'POST',
      body,
      headers: { 'x-api-key': 'ingestor', 'x-p-stream': 'app' },
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(other.ingest.reserved).toEqual([]);
    gate.resolve();
    expect((await answered).status).toBe(200);
    expect(other.ingest.reserved).toEqual([body.length]);
    expect(Buffer.compare(other.ingest.requests[0]?.body ?? new Uint8Array(0), body)).toBe(0);
    await other.close();
  });

  it('an unknown client cannot send more than the socket holds', async () => {
    const other = await startServer();
    const gate = deferred();
    other.keys.gate = gate.promise;
    const client = await RawClient.open(other.port);
    const bytes = 64 * 1024 * 1024;
    client.request('POST /api/v1/ingest', {
      'x-api-key': 'stranger',
      'x-p-stream': 'app',
      'content-length': String(bytes),
    });
    const piece = Buffer.alloc(1024 * 1024);
    let writing = true;
    const pump = (): void => {
      while (writing && client.socket.write(piece));
    };
    client.socket.on('drain', pump);
    pump();
    await new Promise((resolve) => setTimeout(resolve, 300));
    writing = false;
    // What has left this process sits in the kernel's buffers on both sides of the connection.
    const sentBytes = client.socket.bytesWritten - client.socket.writableLength;
    expect(sentBytes).toBeLessThan(16 * 1024 * 1024);
    gate.resolve();
    await client.until(({ statuses }) => statuses.length > 0);
    expect(client.statuses).toEqual([401]);
    client.socket.destroy();
    await other.close();
  });

  it.each(['0', '9'])('a client that leaves is forgotten, with %s bytes announced', async (length) => {
    const other = await startServer();
    const gate = deferred();
    other.keys.gate = gate.promise;
    const client = await RawClient.open(other.port);
    client.request('POST /api/v1/ingest', {
      'x-api-key': 'ingestor',
      'x-p-stream': 'app',
      'content-length': length,
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    gate.resolve();
    await waitFor(async () => (await other.metrics.registry.metrics()).includes('status="499"} 1'));
    expect(other.ingest.requests).toEqual([]);
    expect(other.ingest.openReservations).toBe(0);
    await other.close();
  });

  it('90 loops of wrong passwords for one name fail no first sign-in of anybody else', async () => {
    const other = await startServer();
    const about = (pair: string) => fetch(`${other.url}/api/v1/about`, { headers: basic(pair) });
    let ended = false;
    let tried = 0;
    const statuses = new Set<number>();
    const loop = async () => {
      while (!ended) {
        tried += 1;
        const reply = await about(`somebody:wrong ${tried}`);
        statuses.add(reply.status);
        // A client that is told so waits.
        if (reply.status === 503) expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const loops = Array.from({ length: 90 }, loop);
    await waitFor(() => statuses.has(503));
    // From the address of the attack, since the test has no other one. A wrong password of theirs gets 401.
    expect((await about('admin:sesame')).status).toBe(200);
    const others = ['a', 'b', 'c'].map((name) => about(`${name}:wrong`));
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([401, 401, 401]);
    ended = true;
    await Promise.all(loops);
    expect(statuses).toEqual(new Set([401, 503]));
    await other.close();
  });

  it('a flood of wrong passwords gets 401 or 503, and who is known still gets in', async () => {
    const maxPending = 4;
    const other = await startServer([], new PasswordChecks(maxPending));
    const send = (headers: Record<string, string>) =>
      fetch(`${other.url}/api/v1/ingest`, {
        method: 'POST',
        body: Buffer.from('[]'),
        headers: { 'x-p-stream': 'app', ...headers },
      });
    expect((await send(auth)).status).toBe(200);
    const flood = Array.from({ length: maxPending + 8 }, (_, index) => send(basic(`admin:wrong ${index}`)));
    expect((await send(auth)).status).toBe(200);
    const statuses = (await Promise.all(flood)).map((response) => response.status);
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(maxPending);
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
    expect(new Set(statuses)).toEqual(new Set([401, 503]));
    await other.close();
  });
});

describe('the address of a refused client', () => {
  const refusedFrom = async (trusted: string | undefined, headers: Record<string, string>) => {
    const options = { trustedProxies: trusted === undefined ? undefined : parseNetworks(trusted) };
    const other = await startServer([], new PasswordChecks(), options);
    const reply = await fetch(`${other.url}/api/v1/about`, { headers: { ...basic('a:b'), ...headers } });
    expect(reply.status).toBe(401);
    await other.close();
    const denied = other.logLines.map((line) => JSON.parse(line)).find(({ audit }) => audit === 'denied');
    return denied.from;
  };

  it('is the one that a trusted proxy names, and that of the peer otherwise', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' };
    expect(await refusedFrom(undefined, headers)).toBe('127.0.0.1');
    expect(await refusedFrom('10.0.0.0/8', headers)).toBe('127.0.0.1');
    expect(await refusedFrom('127.0.0.0/8', headers)).toBe('192.0.2.1');
    expect(await refusedFrom('127.0.0.1', { forwarded: 'for="[2001:db8::1]:7";proto=https' })).toBe(
      '2001:db8::1',
    );
  });

  it('is what the proxy adds to a header of the client, also as a header of its own', async () => {
    const options = { trustedProxies: parseNetworks('127.0.0.1') };
    const other = await startServer([], new PasswordChecks(), options);
    const client = await RawClient.open(other.port);
    client.request('GET /api/v1/about', {
      'X-Forwarded-For': '203.0.113.9',
      'x-forwarded-for': '192.0.2.1',
      'x-api-key': 'unknown',
    });
    await client.until(({ received }) => received.includes('}'));
    expect(client.statuses).toEqual([401]);
    expect(other.logLines.join('')).toContain('"from":"192.0.2.1"');
    client.socket.destroy();
    await other.close();
  });

  it('parts the turns of clients behind a proxy', async () => {
    const options = { trustedProxies: parseNetworks('127.0.0.1') };
    const other = await startServer([], new PasswordChecks(2), options);
    const about = (pair: string, address: string) =>
      fetch(`${other.url}/api/v1/about`, { headers: { ...basic(pair), 'x-forwarded-for': address } });
    const flood = Array.from({ length: 12 }, (_, index) => about(`name${index}:wrong`, '192.0.2.1'));
    expect((await about('admin:sesame', '192.0.2.2')).status).toBe(200);
    await Promise.all(flood);
    await other.close();
  });
});
