/** `millrace query` and `millrace health`, asked of a service that runs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort, removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { mainPath, Service } from '../support/service/service.ts';

let service: Service;
let folder = '';
beforeAll(async () => {
  folder = temporaryFolder('commands');
  service = await Service.start();
  await service.ingest('demo', [
    { level: 'info', n: 12, text: 'two\nlines' },
    { level: 'error', n: 3 },
  ]);
  await service.drained();
});
afterAll(async () => {
  await service?.dispose();
  removeFolder(folder);
});

const { username, password } = Service.credentials;

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command, on the machine and with the data directory of the service unless told otherwise. */
async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Ran> {
  const child = spawn(process.execPath, [mainPath, ...args], {
    env: { ...process.env, MILLRACE_DATA_DIR: service.dataDir, MILLRACE_ADMIN_PASSWORD: password, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

const sql = 'SELECT level, n, text FROM demo ORDER BY n';

describe('millrace query', () => {
  test('finds the service and its password in the data directory, and prints a table', async () => {
    expect(await run(['query', sql])).toEqual({
      code: 0,
      out: [
        ' level | n  |    text',
        '-------+----+------------',
        ' error |  3 |',
        ' info  | 12 | two\\nlines',
        '(2 rows)',
        '',
      ].join('\n'),
      err: '',
    });
  });

  test('reads the SQL from stdin', async () => {
    const { code, out } = await run(['query', '-', '--format', 'ndjson'], {}, 'SELECT 1 AS one\n-- done\n');
    expect([code, JSON.parse(out)]).toEqual([0, { one: 1 }]);
  });

  test('takes SQL that begins with a dash behind two of them', async () => {
    expect(await run(['query', '--format=csv', '--', '-- one\nSELECT 1 AS one'])).toMatchObject({ code: 0 });
  });

  test.each(['json', 'ndjson', 'csv', 'arrow', 'parquet'])(
    'prints %s as the service sends it',
    async (format) => {
      const { code, out } = await run(['query', sql, '--format', format]);
      expect(code).toBe(0);
      const begins = { json: '[', ndjson: '{', csv: '"level"', arrow: '', parquet: 'PAR1' }[format] ?? '';
      expect(out.startsWith(begins)).toBe(true);
      expect(out).toContain('error');
    },
  );

  test('points at the place of an error', async () => {
    const { code, out, err } = await run(['query', 'SELECT level,\n  nothing FROM demo']);
    expect([code, out]).toEqual([1, '']);
    const lines = err.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^millrace: .*nothing/);
    expect(lines[1]).toBe('  nothing FROM demo');
    expect(lines[2]).toBe('  ^');
  });

  test('takes a key or a user for a URL, and sends it no password of this machine', async () => {
    const url = ['--url', service.url];
    const without = await run(['query', 'SELECT 1', ...url]);
    expect([without.code, without.out]).toEqual([1, '']);
    expect(without.err).toContain('needs credentials: give --key (MILLRACE_KEY) or --user (MILLRACE_USER)');
    expect(
      await run(['query', 'SELECT 1', ...url], { MILLRACE_USER: `${username}:${password}` }),
    ).toMatchObject({
      code: 0,
    });
    const wrong = await run(['query', 'SELECT 1', ...url, '--key', 'wrong']);
    expect(wrong.code).toBe(1);
    expect(wrong.err).not.toContain(password);
  });

  test('says so when nobody answers', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, err } = await run(['query', 'SELECT 1', '--url', url, '--key', 'k']);
    expect(code).toBe(1);
    expect(err).toContain(`millrace: cannot reach ${url}: `);
  });

  test('leaves at SIGINT, which ends the query in the service', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const asked = once(server, 'request');
    const { port } = server.address() as AddressInfo;
    const args = [mainPath, 'query', 'SELECT 1', '--url', `http://127.0.0.1:${port}`, '--key', 'k'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const [, response] = (await asked) as [unknown, ServerResponse];
    const left = once(response, 'close');
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    await left;
    expect([code, err]).toEqual([130, 'millrace: the query was cancelled\n']);
  });

  test('ends quietly when nobody reads on', async () => {
    const many = 'SELECT g FROM generate_series(1, 900000) AS g';
    const child = spawn(
      'bash',
      [
        '-c',
        `"${process.execPath}" "${mainPath}" query "${many}" --format csv | head -n 2; echo "\${PIPESTATUS[0]}"`,
      ],
      { env: { ...process.env, MILLRACE_DATA_DIR: service.dataDir, MILLRACE_ADMIN_PASSWORD: password } },
    );
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    await once(child, 'close');
    expect(out).toBe('"g"\n1\n0\n');
  });

  test.each([
    [['query'], 'millrace query takes one argument, the SQL, or - for stdin; see millrace query --help'],
    [['query', 'SELECT', '1'], 'millrace query takes one argument'],
    [['query', 'SELECT 1', '--format', 'xml'], '--format is "xml", which cannot be used'],
    [['health', 'x'], 'millrace health takes no argument'],
    [['--url', 'http://x'], '--url is not an option of millrace'],
  ])('%j exits with 2', async (args, message) => {
    const { code, err } = await run(args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('millrace health', () => {
  test('is 0 when the service is ready, and 1 with a reason when not', async () => {
    expect(await run(['health'])).toEqual({ code: 0, out: `${service.url} is ready\n`, err: '' });
    const empty = join(folder, 'none');
    const port = await freePort();
    const gone = await run(['health'], { MILLRACE_DATA_DIR: empty, MILLRACE_HTTP_ADDR: `0.0.0.0:${port}` });
    expect([gone.code, gone.err]).toEqual([
      1,
      expect.stringContaining(`cannot reach http://127.0.0.1:${port}: `),
    ]);
    rmSync(empty, { force: true, recursive: true });
  });
});

test.each(['query', 'health', 'backup', 'restore', 'dead'])(
  'millrace %s --help tells its usage',
  async (command) => {
    const { code, out } = await run([command, '--help']);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: millrace ${command}`);
  },
);
