import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasOpenssl, makeCertificate } from '../support/http/certificates.ts';
import { Child, freePort, removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { authorization, mainPath } from '../support/service/service.ts';

sayIfSkipped('HTTPS', hasOpenssl ? undefined : 'openssl is not installed');

describe.skipIf(!hasOpenssl)('a service with a certificate', () => {
  const folder = temporaryFolder('tls');
  const files = hasOpenssl ? makeCertificate(folder, 'first') : { certificate: '', key: '' };
  let port = 0;
  let metricsPort = 0;
  let child: Child;

  /** Status, body and the name in the certificate. */
  const ask = (on: number, path: string, method = 'GET', body = ''): Promise<[number, string, string]> =>
    new Promise((resolve, reject) => {
      const headers = { authorization, 'x-p-stream': 'app', 'content-type': 'application/json' };
      const options = { method, headers, rejectUnauthorized: false, agent: false };
      const outgoing = request(`https://localhost:${on}${path}`, options, (incoming) => {
        let text = '';
        const socket = incoming.socket as import('node:tls').TLSSocket;
        const name = String(socket.getPeerCertificate().subject.CN);
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        incoming.on('end', () => resolve([incoming.statusCode ?? 0, text, name]));
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });

  beforeAll(async () => {
    port = await freePort();
    metricsPort = await freePort();
    child = await Child.start({
      name: 'millrace',
      command: process.execPath,
      args: [mainPath],
      env: {
        MILLRACE_HTTP_ADDR: `127.0.0.1:${port}`,
        MILLRACE_METRICS_ADDR: `127.0.0.1:${metricsPort}`,
        MILLRACE_DATA_DIR: join(folder, 'data'),
        MILLRACE_ADMIN_PASSWORD: 'correct horse battery staple',
        MILLRACE_TLS_CERT: files.certificate,
        MILLRACE_TLS_KEY: files.key,
      },
    });
    await child.ready(async () => child.stdout.includes('/api/v1/query'));
  });
  afterAll(async () => {
    await child?.stop('SIGKILL');
    removeFolder(folder);
  });

  it('serves the API and /metrics by HTTPS, and says so', async () => {
    expect(child.stdout).toContain(`is ready at https://127.0.0.1:${port}\n`);
    expect(await ask(port, '/api/v1/ingest', 'POST', '[{"a":1}]')).toEqual([200, '{"accepted":1}', 'first']);
    const [status, text] = await ask(metricsPort, '/metrics');
    expect([status, text.includes('millrace_http_requests_total')]).toEqual([200, true]);
    expect(child.stderr).not.toContain('plain HTTP');
  });

  it('takes a new certificate on SIGHUP, for both', async () => {
    makeCertificate(folder, 'second');
    child.kill('SIGHUP');
    await child.ready(async () => child.stderr.includes('the TLS certificate was loaded'));
    for (const on of [port, metricsPort]) expect((await ask(on, '/api/v1/liveness'))[2]).toBe('second');
  });

  it('takes a new certificate when the files have changed', async () => {
    makeCertificate(folder, 'third');
    // The files are looked at every ten seconds, and loaded when they have not changed for one look.
    await child.ready(async () => (await ask(port, '/api/v1/liveness'))[2] === 'third', 90_000);
  });

  it('does not start with a key of another certificate', async () => {
    const other = makeCertificate(temporaryFolder('tls'), 'other');
    const env = { MILLRACE_TLS_CERT: files.certificate, MILLRACE_TLS_KEY: other.key };
    const failed = await Child.start({
      name: 'millrace',
      command: process.execPath,
      args: [mainPath],
      env: { ...env, MILLRACE_HTTP_ADDR: '127.0.0.1:0', MILLRACE_DATA_DIR: join(folder, 'other') },
    });
    expect(await failed.ended()).toEqual({ code: 1, signal: null });
    expect(failed.stderr).toMatch(/^millrace: the TLS certificate .* cannot be used together: .*\n$/m);
  });
});

it('a service that others can reach by plain HTTP warns once', async () => {
  const folder = temporaryFolder('plain');
  const child = await Child.start({
    name: 'millrace',
    command: process.execPath,
    args: [mainPath],
    env: { MILLRACE_HTTP_ADDR: '0.0.0.0:0', MILLRACE_DATA_DIR: join(folder, 'data') },
  });
  await child.ready(async () => child.stdout.includes('/api/v1/query'));
  expect(child.stderr.split('go over the network as plain HTTP')).toHaveLength(2);
  await child.stop();
  removeFolder(folder);
});
