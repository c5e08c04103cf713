import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTlsCertificate } from '../../../src/app/tls-certificate.ts';
import { checkTlsFiles } from '../../../src/lib/tls-files.ts';
import { hasOpenssl, makeCertificate } from '../../support/http/certificates.ts';
import { auth, type Harness, onNodeHttp, resultOf, startServer, waitFor } from './http-harness.ts';

let harness: Harness;
let folder: string;
let files: { certificate: string; key: string };
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-tls-'));
  if (!hasOpenssl) return;
  files = makeCertificate(folder, 'first');
  harness = await startServer([], undefined, { tls: files });
});
afterEach(async () => {
  await harness?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

const ask = (method: string, path: string, body?: Uint8Array, headers = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const options = { method, headers, rejectUnauthorized: false, agent: false };
    const outgoing = request(`https://127.0.0.1:${harness.port}${path}`, options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });

/** An open connection, and the name in the certificate that it got. */
async function open(): Promise<{ socket: TLSSocket; name: string }> {
  const socket = connect({ port: harness.port, host: '127.0.0.1', rejectUnauthorized: false });
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  return { socket, name: String(socket.getPeerCertificate().subject.CN) };
}

describe.skipIf(!hasOpenssl)(`HTTPS on ${onNodeHttp ? 'node:http' : 'uWebSockets.js'}`, () => {
  it('serves as HTTP does, and tells browsers to come by it alone', async () => {
    const alive = await ask('GET', '/api/v1/liveness');
    expect([alive.status, alive.body.toString()]).toEqual([200, '{"status":"alive"}']);
    for (const { headers } of [alive, await ask('GET', '/nowhere'), await ask('POST', '/api/v1/ingest')]) {
      expect(headers['strict-transport-security']).toBe('max-age=31536000');
    }
  });

  it('takes and gives large bodies', async () => {
    const sent = Buffer.alloc(1024 * 1024, 'abcdefg');
    expect((await ask('POST', '/api/v1/ingest', sent, { ...auth, 'x-p-stream': 'app' })).status).toBe(200);
    expect(Buffer.compare(harness.ingest.requests[0]?.body ?? Buffer.alloc(0), sent)).toBe(0);
    const records = Buffer.alloc(8 * 1024 * 1024, '{"a":1},');
    harness.query.respond = () => resultOf(['a'], [records]);
    const reply = await ask('POST', '/api/v1/query', Buffer.from('{"query":"SELECT 1"}'), auth);
    expect(Buffer.compare(reply.body, records)).toBe(0);
  });

  it('does not answer plain HTTP', async () => {
    await expect(fetch(`http://127.0.0.1:${harness.port}/api/v1/liveness`)).rejects.toThrow();
    expect((await ask('GET', '/api/v1/liveness')).status).toBe(200);
  });

  it.skipIf(onNodeHttp)('keeps its certificate on uWebSockets.js, and says so', async () => {
    await expect(harness.server.useCertificate(files)).rejects.toThrow('after a restart');
    const { socket, name } = await open();
    expect(name).toBe('first');
    socket.destroy();
  });

  it.runIf(onNodeHttp)('takes another certificate without closing a connection', async () => {
    const first = await open();
    expect(first.name).toBe('first');
    makeCertificate(folder, 'second');
    await harness.server.useCertificate(files);
    const second = await open();
    expect(second.name).toBe('second');
    let received = '';
    first.socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
    first.socket.write('GET /api/v1/liveness HTTP/1.1\r\nHost: test\r\n\r\n');
    await waitFor(() => received.includes('alive'));
    for (const { socket } of [first, second]) socket.destroy();
  });

  it('closes the connections of every certificate when it stops', async () => {
    const first = await open();
    if (onNodeHttp) await harness.server.useCertificate(files);
    const second = await open();
    const ended = [first, second].map(({ socket }) => new Promise((done) => socket.once('close', done)));
    for (const { socket } of [first, second]) socket.resume();
    await harness.server.close(0);
    await Promise.all(ended);
  });
});

describe.skipIf(!hasOpenssl)('the files of a certificate', () => {
  it.runIf(onNodeHttp)(
    'are refused when they do not belong together, and the last certificate stays',
    async () => {
      const lines: string[] = [];
      const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
      const tls = await openTlsCertificate(files, log);
      tls.follow([harness.server]);
      const oldKey = readFileSync(files.key);
      makeCertificate(folder, 'second');
      writeFileSync(files.key, oldKey);
      await tls.reload();
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('the new TLS certificate cannot be used; the last one stays');
      const before = await open();
      expect(before.name).toBe('first');
      makeCertificate(folder, 'third');
      await tls.reload();
      const after = await open();
      expect(after.name).toBe('third');
      for (const { socket } of [before, after]) socket.destroy();
      tls.stop();
    },
  );

  it('are named when they cannot be read', async () => {
    const missing = { ...files, key: join(folder, 'none.pem') };
    await expect(checkTlsFiles(missing)).rejects.toThrow(`the TLS file ${missing.key} cannot be read`);
    writeFileSync(files.certificate, 'no certificate');
    await expect(checkTlsFiles(files)).rejects.toThrow(files.certificate);
  });

  it('reads each file once, so that it returns the certificate that it has checked', async () => {
    // What a pipe holds can be read once.
    const certificate = join(folder, 'pipe.pem');
    execFileSync('mkfifo', [certificate]);
    const written = writeFile(certificate, readFileSync(files.certificate));
    expect((await checkTlsFiles({ ...files, certificate })).subject).toBe('CN=first');
    await written;
  });
});
