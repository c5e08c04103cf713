import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Child, freePort, onPath, removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { packageRoot } from '../support/lib/package-root.ts';
import { mainPath, Service } from '../support/service/service.ts';

const run = promisify(execFile);

/** Runs the program with these arguments to its end. */
async function runToEnd(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Child> {
  const child = await Child.start({
    name: 'millrace',
    command: process.execPath,
    args: [mainPath, ...args],
    env,
  });
  onTestFinished(() => child.kill('SIGKILL'));
  await child.ended();
  return child;
}

test('a start without mkfifo says so and ends', async () => {
  const folder = temporaryFolder('no-mkfifo');
  onTestFinished(() => removeFolder(folder));
  const child = await runToEnd(['--http-addr', '127.0.0.1:0', '--data-dir', join(folder, 'data')], {
    PATH: folder,
  });
  expect(child.exit).toMatchObject({ code: 1 });
  expect(child.stderr).toContain('needs the command mkfifo');
});

describe('the first start', () => {
  /** A start as a newcomer does it: in some folder, with the data beside it, and no password given. */
  async function startAsNewcomer(folder: string, port: number, ...more: string[]): Promise<Child> {
    const address = `127.0.0.1:${port}`;
    const args = [mainPath, '--http-addr', address, '--data-dir', './data', ...more];
    const child = await Child.start({ name: 'millrace', command: process.execPath, args, cwd: folder });
    onTestFinished(() => child.kill('SIGKILL'));
    await child.ready(async () => child.stdout.includes('prometheus.yml'));
    return child;
  }

  /** What the banner offers to copy. */
  const commandsOf = (child: Child): string[] =>
    child.stdout
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => /^(curl|echo) /.test(line));

  const paste = async (command: string | undefined, cwd: string): Promise<string> =>
    (await run('bash', ['-c', command ?? 'false'], { cwd })).stdout;

  test('prints a password once, and three lines that work when pasted', async () => {
    const folder = temporaryFolder('first-start');
    const elsewhere = temporaryFolder('elsewhere');
    onTestFinished(() => {
      for (const path of [folder, elsewhere]) removeFolder(path);
    });
    const port = await freePort();
    const first = await startAsNewcomer(folder, port);
    const commands = commandsOf(first);
    expect(commands, first.stdout).toHaveLength(3);

    const [post, query, prometheus] = commands;
    expect(JSON.parse(await paste(post, elsewhere))).toEqual({ accepted: 1 });
    expect(JSON.parse(await paste(query, elsewhere))).toEqual([{ level: 'info', count: 1 }]);
    await paste(prometheus, elsewhere);
    const added = readFileSync(join(elsewhere, 'prometheus.yml'), 'utf8');
    expect(added).toContain(`http://127.0.0.1:${port}/v1/prometheus/write`);
    if (onPath('promtool')) await paste('promtool check config prometheus.yml', elsewhere);

    const passwordFile = join(folder, 'data/admin-password');
    expect(statSync(passwordFile).mode & 0o777).toBe(0o600);
    const password = readFileSync(passwordFile, 'utf8').trim();
    expect(password.length).toBeGreaterThanOrEqual(16);
    expect(first.stdout).toContain(password);
    expect(first.stderr).not.toContain(password);
    await first.stop();

    const second = await startAsNewcomer(folder, port);
    expect(second.stdout + second.stderr).not.toContain(password);
    expect(commandsOf(second)).toEqual(commands);
    expect(JSON.parse(await paste(post, elsewhere))).toEqual({ accepted: 1 });
    // The dataset is known by now, so a query does not wait for the newest events.
    await expect
      .poll(async () => JSON.parse(await paste(query, elsewhere)))
      .toEqual([{ level: 'info', count: 2 }]);
    await second.stop();
  });

  test('with tenants, the lines work too, in the one that is there', async () => {
    const folder = temporaryFolder('first-start');
    onTestFinished(() => removeFolder(folder));
    const service = await startAsNewcomer(folder, await freePort(), '--multi-tenant', 'true');
    const [post, query, prometheus] = commandsOf(service);
    expect(JSON.parse(await paste(post, folder))).toEqual({ accepted: 1 });
    expect(JSON.parse(await paste(query, folder))).toEqual([{ level: 'info', count: 1 }]);
    await paste(prometheus, folder);
    expect(readFileSync(join(folder, 'prometheus.yml'), 'utf8')).toContain('headers: {X-P-Tenant: default}');
    if (onPath('promtool')) await paste('promtool check config prometheus.yml', folder);
    await service.stop();
  });
});

describe('a signal to stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends with 0 under load and keeps what was acknowledged',
    async (signal) => {
      const service = await Service.start();
      onTestFinished(() => service.dispose());
      let acknowledged = 0;
      let answered = 0;
      const send = async (): Promise<void> => {
        for (;;) {
          const events = Array.from({ length: 50 }, (_, item) => ({ item, text: 'x'.repeat(100) }));
          try {
            const accepted = await service.ingest('stopping', events);
            acknowledged += accepted;
            answered++;
          } catch {
            return; // refused while it shuts down, or gone: not acknowledged either way
          }
        }
      };
      const senders = Array.from({ length: 6 }, send);
      await expect.poll(() => answered, { interval: 10 }).toBeGreaterThan(10);
      const exit = await service.stop(signal);
      await Promise.all(senders);
      expect(exit, service.child.report()).toEqual({ code: 0, signal: null });

      await service.restart();
      await service.drained();
      const [row] = await service.query('SELECT count(*) AS n FROM stopping');
      // A request may be made durable while its reply is lost with the connection, but only a sender's last
      // one.
      expect(Number(row?.['n'])).toBeGreaterThanOrEqual(acknowledged);
      expect(Number(row?.['n'])).toBeLessThanOrEqual(acknowledged + senders.length * 50);
    },
  );
});

describe('a second process on the same data directory', () => {
  test('refuses to start and names the first, and starts when that was killed, saying so while the engine opens', async () => {
    const service = await Service.start();
    onTestFinished(() => service.dispose());
    const second = await runToEnd([], {
      MILLRACE_HTTP_ADDR: `127.0.0.1:${await freePort()}`,
      MILLRACE_DATA_DIR: service.dataDir,
    });
    expect(second.exit?.code, second.report()).not.toBe(0);
    expect(second.stderr).toMatch(new RegExp(`\\b${service.child.pid}\\b`));
    expect(second.stderr).toContain(service.dataDir);
    // The first is not disturbed.
    expect(await service.ingest('still', [{ here: true }])).toBe(1);

    await service.kill();
    await service.launch();
    const seen = new Set<string>();
    await service.child.ready(async () => {
      // Nobody listens while the process loads its code.
      const ask = (name: string) => fetch(`${service.url}/api/v1/${name}`).catch(() => undefined);
      const [liveness, readiness] = await Promise.all([ask('liveness'), ask('readiness')]);
      if (liveness === undefined || readiness === undefined) return false;
      const { code = 'ready' } = (await readiness.json()) as { code?: string };
      seen.add(`${liveness.status} ${readiness.status} ${code}`);
      return code === 'ready';
    });
    expect([...seen]).toEqual(['200 503 starting', '200 200 ready']);
    expect(await service.ingest('again', [{ here: true }])).toBe(1);
  });
});

describe('the command line', () => {
  test('--help lists every option with its variable and exits 0', async () => {
    const child = await runToEnd(['--help']);
    expect(child.exit).toEqual({ code: 0, signal: null });
    for (const word of ['--http-addr', 'MILLRACE_HTTP_ADDR', '127.0.0.1:8000', '--data-dir', '--log-level']) {
      expect(child.stdout).toContain(word);
    }
  });

  test('--version prints the version of the package', async () => {
    const child = await runToEnd(['--version']);
    const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(child.exit).toEqual({ code: 0, signal: null });
    expect(child.stdout).toContain(version);
  });

  test.each([
    [['--log-level', 'loud'], {}, ['log-level', 'loud', 'warn']],
    [[], { MILLRACE_HTTP_ADDR: 'nowhere' }, ['MILLRACE_HTTP_ADDR', 'nowhere']],
    [[], { MILLRACE_WORKERS: '-1' }, ['MILLRACE_WORKERS', '-1']],
    [['--no-such-option'], {}, ['no-such-option']],
  ])('%j %j exits 2 and says what was wrong', async (args, env, words) => {
    const child = await runToEnd(args, { MILLRACE_DATA_DIR: temporaryFolder('never'), ...env });
    expect(child.exit, child.report()).toEqual({ code: 2, signal: null });
    for (const word of words) expect(child.stderr).toContain(word);
  });
});
