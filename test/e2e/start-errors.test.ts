/** A start that fails says in one line why, and what to do. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Child, freePort, removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { mainPath } from '../support/service/service.ts';

let folder = '';
beforeAll(() => {
  folder = temporaryFolder('start-errors');
});
afterAll(() => removeFolder(folder));

async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Child> {
  const child = await Child.start({
    name: 'millrace',
    command: process.execPath,
    args: [mainPath, '--http-addr', '127.0.0.1:0', ...args],
    env,
    cwd: folder,
  });
  onTestFinished(() => child.kill('SIGKILL'));
  return child;
}

/** What a start that fails says on stderr, which is one line. */
async function failure(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = await start(args, env);
  await child.ended();
  expect(child.stderr.trimEnd().split('\n'), child.report()).toHaveLength(1);
  return { code: child.exit?.code, text: child.stderr.trimEnd() };
}

const isServing = (child: Child) => child.ready(async () => child.stdout.includes('prometheus.yml'));

describe('a port that is taken', () => {
  test('is named with the process that has it, and with the option; the password is shown by the next start', async () => {
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    const dataDir = join(folder, 'port');
    const address = ['--http-addr', `127.0.0.1:${port}`, '--data-dir', dataDir];
    const { code, text } = await failure(address);
    expect(code).toBe(1);
    expect(text).toContain(`cannot listen on 127.0.0.1:${port}`);
    if (existsSync('/proc/net/tcp')) expect(text).toContain(`the process ${process.pid} (`);
    expect(text).toContain('--http-addr or MILLRACE_HTTP_ADDR');
    server.close();
    await once(server, 'close');

    const password = readFileSync(join(dataDir, 'admin-password'), 'utf8').trim();
    const first = await start(address);
    await isServing(first);
    expect(first.stdout).toContain(`password: ${password}`);
    // What says that it was shown is written behind the banner.
    await expect.poll(() => existsSync(join(dataDir, 'admin-password-unshown'))).toBe(false);
    await first.stop();
    const second = await start(address);
    await isServing(second);
    expect(second.stdout).not.toContain(password);
    await second.stop();
  });

  test('an address of another machine is said to be one', async () => {
    const { code, text } = await failure([
      '--http-addr',
      '192.0.2.1:8000',
      '--data-dir',
      join(folder, 'elsewhere'),
    ]);
    expect([code, text]).toEqual([1, expect.stringContaining('this machine does not have that address')]);
  });
});

describe('a data directory', () => {
  test.each(['file', 'file/below'])('that is %s is refused with what to do', async (path) => {
    writeFileSync(join(folder, 'file'), '');
    const { code, text } = await failure(['--data-dir', path]);
    expect(code).toBe(1);
    expect(text).toContain(
      `the data directory ${join(folder, path)} cannot be used: it, or what it is in, is a file`,
    );
    expect(text).toContain('--data-dir or MILLRACE_DATA_DIR');
  });

  test.skipIf(process.platform !== 'linux')('that cannot be made is refused, and does not spin', async () => {
    const { code, text } = await failure(['--data-dir', '/proc/x']);
    expect([code, text]).toEqual([
      1,
      expect.stringContaining('/proc/x cannot be used: it cannot be made there'),
    ]);
  });

  test.skipIf(process.getuid?.() !== 0)('of another user is refused with the id of this one', async () => {
    const dataDir = join(folder, 'of-root');
    mkdirSync(dataDir, { mode: 0o755 });
    execFileSync('chmod', ['755', folder]);
    const child = spawn(process.execPath, [mainPath, '--http-addr', '127.0.0.1:0', '--data-dir', dataDir], {
      uid: 65_534,
      gid: 65_534,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    const [code] = await once(child, 'close');
    expect(text).toContain(
      `the data directory ${dataDir} cannot be used: the user 65534 may not write there`,
    );
    expect(code).toBe(1);
  });
});

describe('a variable that nobody knows', () => {
  test('but that is like one ends the start, with that one', async () => {
    const { code, text } = await failure([], { MILLRACE_HTTP_ADR: 'x', MILLRACE_DATA_DIR: 'never' });
    expect([code, text]).toEqual([
      2,
      'millrace: the environment has MILLRACE_HTTP_ADR, which millrace does not know; did you mean MILLRACE_HTTP_ADDR?',
    ]);
  });
});

test('the first signal ends a start that hangs', async () => {
  // A lock on a FIFO is never read.
  const dataDir = join(folder, 'hangs');
  mkdirSync(dataDir);
  execFileSync('mkfifo', [join(dataDir, 'node')]);
  const child = await start(['--data-dir', dataDir]);
  await expect.poll(() => existsSync(join(dataDir, 'lock'))).toBe(true);
  // It is killed where it is in a call that does not return, and exits where it is not there yet.
  expect([
    { code: 0, signal: null },
    { code: null, signal: 'SIGKILL' },
  ]).toContainEqual(await child.stop('SIGTERM', 60_000));
  expect(child.stderr).toContain('stopped before the start was complete');
});

test('secrets come from files, as Docker and Kubernetes give them', async () => {
  const password = 'a password of a file';
  writeFileSync(join(folder, 'password'), `${password}\n`);
  const dataDir = join(folder, 'secrets');
  const child = await start(['--data-dir', dataDir], {
    MILLRACE_ADMIN_PASSWORD_FILE: join(folder, 'password'),
  });
  await isServing(child);
  expect(child.stdout + child.stderr).not.toContain(password);
  const url = readFileSync(join(dataDir, 'address'), 'utf8').trim();
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  expect((await fetch(`${url}/api/v1/about`, { headers: { authorization } })).status).toBe(200);
  await child.stop();
  expect(existsSync(join(dataDir, 'address'))).toBe(false);
});
