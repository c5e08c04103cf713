/** The files of `deploy/`, checked by the programs that they are for. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { basename, join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { optionGroups } from '../../src/config/config.ts';
import { Child, freePort, onPath, removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { packageRoot } from '../support/lib/package-root.ts';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { authorization, Service } from '../support/service/service.ts';

const deployed = (name: string): string => readFileSync(join(packageRoot(), 'deploy', name), 'utf8');

/** Why one of these programs is not there. */
const missing = (...programs: readonly string[]): string | undefined => {
  // `nginx -v` and `openssl version`: any end of the process will do.
  const absent = programs.find((program) => !onPath(program));
  return absent === undefined ? undefined : `there is no ${absent} on the PATH`;
};

let folder = '';
beforeAll(() => {
  folder = temporaryFolder('deploy');
});
afterAll(() => removeFolder(folder));

/** What a program says about a file, with its exit code. */
function check(command: string, args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('the systemd unit', () => {
  const problem = missing('systemd-analyze');
  sayIfSkipped('the systemd unit', problem);

  test.skipIf(problem !== undefined)('is what systemd understands', () => {
    const path = join(folder, 'millrace.service');
    // Where Node.js is on this machine: systemd looks for the program.
    writeFileSync(path, deployed('millrace.service').replace('/usr/bin/node', process.execPath));
    expect(check('systemd-analyze', ['verify', path])).toEqual({ status: 0, output: '' });
  });
});

describe('what Prometheus and Grafana get', () => {
  const problem = missing('promtool');
  sayIfSkipped('alert rules and dashboard', problem);

  test.skipIf(problem !== undefined)('the alert rules are valid', () => {
    const { status, output } = check('promtool', [
      'check',
      'rules',
      join(packageRoot(), 'deploy/alerts.yml'),
    ]);
    expect(output).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  test.skipIf(problem !== undefined)('the expressions of the dashboard are PromQL', () => {
    const { panels } = JSON.parse(deployed('grafana-dashboard.json')) as {
      panels: ReadonlyArray<{ targets: ReadonlyArray<{ expr: string }> }>;
    };
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(10);
    const rules = expressions.map((expr, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const path = join(folder, 'dashboard.yml');
    // JSON is YAML.
    writeFileSync(path, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    const { output } = check('promtool', ['check', 'rules', path]);
    expect(output).toContain(`${rules.length} rules found`);
  });
});

/** What the Dockerfile copies from the source, in order. */
const copiedByDockerfile = () =>
  [...deployed('Dockerfile').matchAll(/^COPY (?!--from)(.*) (\S+)$/gm)].map(
    ([, names = '', target = '']) => ({
      names: names.split(' '),
      target,
    }),
  );

test('the Dockerfile copies files that are there, and all that the build reads', () => {
  const copied = copiedByDockerfile().flatMap(({ names }) => names);
  expect(copied.filter((name) => !existsSync(join(packageRoot(), name)))).toEqual([]);
  const [, include = ''] =
    /"include": \[([^\]]*)\]/.exec(readFileSync(join(packageRoot(), 'tsconfig.json'), 'utf8')) ?? [];
  const roots = [...include.matchAll(/"(\w+)[^"]*"/g)].map(([, root = '']) => root);
  expect(roots).toContain('src');
  expect(roots.filter((root) => !copied.includes(root))).toEqual([]);
});

test('what the Dockerfile copies builds, and answers as the image does', () => {
  const app = join(folder, 'app');
  for (const { names, target } of copiedByDockerfile())
    for (const name of names) {
      const source = join(packageRoot(), name);
      cpSync(source, target.endsWith('/') ? join(app, target, basename(name)) : join(app, target), {
        recursive: true,
      });
    }
  // As `npm ci` has them.
  symlinkSync(join(packageRoot(), 'node_modules'), join(app, 'node_modules'));
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: app });
  const [, entry = ''] = /^ENTRYPOINT \["node", "\/app\/(.*)"\]$/m.exec(deployed('Dockerfile')) ?? [];
  const [, health = ''] = /CMD \["node", "\/app\/(.*)", "health"\]$/m.exec(deployed('Dockerfile')) ?? [];
  expect(health).toBe(entry);
  expect(check(process.execPath, [join(app, entry), '--version']).output).toMatch(/^millrace \d/);
});

test('the compose files name files that are there, and options that there are', () => {
  const names = ['compose.yaml', 'compose-clickhouse.yaml'];
  const known = new Set(
    Object.values(optionGroups)
      .flat()
      .map(({ env }) => env),
  );
  for (const name of names) {
    const text = deployed(name);
    const variables = [...text.matchAll(/^ {6}(MILLRACE_\w+):/gm)].map(([, variable = '']) => variable);
    expect(variables.length).toBeGreaterThan(0);
    expect(variables.filter((variable) => !known.has(variable))).toEqual([]);
    for (const [, file = ''] of text.matchAll(/(?:dockerfile: |- \.\/)([\w./-]+)/g))
      expect(existsSync(join(packageRoot(), file.startsWith('deploy/') ? '' : 'deploy', file)), file).toBe(
        true,
      );
  }
});

interface Proxy {
  readonly name: string;
  /** @returns the process, which listens on the HTTPS port */
  start(ports: { readonly https: number; readonly http: number; readonly service: number }): Promise<Child>;
}

const certificate = () => join(folder, 'cert.pem');
const key = () => join(folder, 'key.pem');

const nginx: Proxy = {
  name: 'nginx',
  async start({ https, http, service }) {
    const site = deployed('nginx.conf')
      .replace('127.0.0.1:8000', `127.0.0.1:${service}`)
      .replace('listen 80;', `listen 127.0.0.1:${http};`)
      .replace('listen 443 ', `listen 127.0.0.1:${https} `)
      .replace('/etc/millrace/tls/fullchain.pem', certificate())
      .replace('/etc/millrace/tls/privkey.pem', key());
    writeFileSync(join(folder, 'site.conf'), site);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${join(folder, kind)};`,
    );
    // Where root starts it, its workers are somebody else, who cannot write to the folder of the test.
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const path = join(folder, 'nginx.conf');
    writeFileSync(
      path,
      `daemon off; ${user} pid ${join(folder, 'nginx.pid')}; error_log stderr;
      events {} http { access_log off; ${temporary.join(' ')} include ${join(folder, 'site.conf')}; }`,
    );
    return await Child.start({ name: 'nginx', command: 'nginx', args: ['-e', 'stderr', '-c', path] });
  },
};

const caddy: Proxy = {
  name: 'caddy',
  async start({ https, http, service }) {
    const site = deployed('Caddyfile')
      .replace('127.0.0.1:8000', `127.0.0.1:${service}`)
      .replace('millrace.example.com {', `https://127.0.0.1:${https} {\n\ttls ${certificate()} ${key()}`);
    const path = join(folder, 'Caddyfile');
    writeFileSync(path, `{\n\tadmin off\n\thttp_port ${http}\n\thttps_port ${https}\n}\n${site}`);
    const env = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    return await Child.start({
      name: 'caddy',
      command: 'caddy',
      args: ['run', '--config', path, '--adapter', 'caddyfile'],
      env,
    });
  },
};

interface Answer {
  readonly status: number;
  readonly body: string;
}

describe.each([nginx, caddy])('behind $name, over HTTPS', ({ name, start }) => {
  const problem = missing(name, 'openssl');
  sayIfSkipped(`the tests behind ${name}`, problem);

  describe.skipIf(problem !== undefined)('with its file', () => {
    let service: Service;
    let proxy: Child;
    let port = 0;
    const client = '127.0.0.2';

    const send = (
      method: string,
      path: string,
      body?: string | Buffer,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const options = {
          host: '127.0.0.1',
          port,
          path,
          method,
          localAddress: client,
          rejectUnauthorized: false,
          headers: { authorization, 'content-type': 'application/json', ...headers },
        };
        const sent = request(options, (reply) => {
          const chunks: Buffer[] = [];
          reply.on('data', (chunk: Buffer) => chunks.push(chunk));
          reply.on('end', () =>
            resolve({ status: reply.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
          );
          reply.on('error', reject);
        });
        sent.on('error', reject);
        sent.end(body);
      });

    beforeAll(async () => {
      const subject = ['-days', '1', '-subj', '/CN=127.0.0.1'];
      const files = ['-keyout', key(), '-out', certificate()];
      execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], {
        stdio: 'ignore',
      });
      service = await Service.start({ env: { MILLRACE_TRUSTED_PROXIES: '127.0.0.1' } });
      port = await freePort();
      proxy = await start({ https: port, http: await freePort(), service: service.port });
      const ready = () =>
        send('GET', '/api/v1/readiness').then(
          ({ status }) => status === 200,
          () => false,
        );
      await proxy.ready(ready);
    });
    afterAll(async () => {
      await proxy?.stop('SIGKILL');
      await service?.dispose();
    });

    test('events go in, and a query finds them', async () => {
      const stored = await send('POST', '/api/v1/ingest', '[{"n":1},{"n":2}]', { 'x-p-stream': 'app' });
      expect(stored).toEqual({ status: 200, body: '{"accepted":2}' });
      const sql = JSON.stringify({ query: 'SELECT sum(n) AS total FROM app' });
      const { body } = await send('POST', '/api/v1/query', sql);
      expect(JSON.parse(body)).toEqual([{ total: 3 }]);
    });

    test('a body beyond what proxies usually take goes in, and one beyond the limit does not', async () => {
      const many = JSON.stringify([{ text: 'x'.repeat(5_000_000) }]);
      const stored = await send('POST', '/api/v1/ingest', many, { 'x-p-stream': 'large' });
      expect(stored.status).toBe(200);
      const tooMany = Buffer.alloc(65 * 1024 * 1024, ' ');
      const refused = await send('POST', '/api/v1/ingest', tooMany, { 'x-p-stream': 'large' }).then(
        ({ status }) => status,
        // The connection may end before the proxy's reply is read.
        (error: NodeJS.ErrnoException) => error.code,
      );
      expect([413, 'EPIPE', 'ECONNRESET']).toContain(refused);
    });

    test('a large result comes whole', async () => {
      const sql = JSON.stringify({ query: 'SELECT g AS n FROM generate_series(1, 300000) AS g' });
      const { status, body } = await send('POST', '/api/v1/query?format=ndjson', sql);
      expect([status, body.trimEnd().split('\n').length]).toEqual([200, 300_000]);
    });

    test('the address of a client is its own, whatever it says', async () => {
      const claims = {
        'x-forwarded-for': '203.0.113.9',
        forwarded: 'for=203.0.113.9',
        authorization: 'Basic eDp4',
      };
      expect((await send('GET', '/api/v1/about', undefined, claims)).status).toBe(401);
      await expect.poll(() => service.child.stderr).toContain(`"from":"${client}"`);
      expect(service.child.stderr).not.toContain('203.0.113.9');
    });

    test('metrics are not reachable', async () => {
      expect((await send('GET', '/metrics')).status).toBe(404);
    });

    test('a header with a blank before its colon is refused', async () => {
      const reply = await new Promise<string>((resolve, reject) => {
        let text = '';
        const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
          socket.write('POST /api/v1/ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length : 2\r\n\r\n[]');
        });
        socket.setEncoding('utf8').on('data', (part: string) => {
          text += part;
          socket.end();
        });
        socket.on('close', () => resolve(text));
        socket.on('error', reject);
      });
      expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    });
  });
});
