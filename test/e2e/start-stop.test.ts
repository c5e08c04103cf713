import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Child, freePort, removeFolder, temporaryFolder } from '../support/child.ts';
import { packageRoot } from '../support/package-root.ts';
import { answers, mainPath, Service } from '../support/service.ts';

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
  await child.ended(10_000);
  return child;
}

describe('the first start', () => {
  /** A start as a newcomer does it: no password in the environment. */
  async function startWithoutPassword(dataDir: string): Promise<Child> {
    const address = `127.0.0.1:${await freePort()}`;
    const child = await Child.start({
      name: 'millrace',
      command: process.execPath,
      args: [mainPath, '--http-addr', address, '--data-dir', dataDir],
    });
    onTestFinished(() => child.kill('SIGKILL'));
    await child.ready(() => answers(`http://${address}/api/v1/readiness`));
    return child;
  }

  test('prints a password and lines that work when pasted; later starts do not', async () => {
    const dataDir = temporaryFolder('first-start');
    onTestFinished(() => removeFolder(dataDir));
    const first = await startWithoutPassword(dataDir);
    const lines = first.stdout.split('\n').map((line) => line.trim());
    const commands = lines.filter((line) => line.startsWith('curl '));
    expect(commands.length, first.stdout).toBeGreaterThanOrEqual(2);

    const outputs: string[] = [];
    for (const command of commands) {
      const { stdout } = await run('bash', ['-c', command]);
      outputs.push(stdout);
    }
    expect(JSON.parse(outputs[0] ?? '')).toEqual({ accepted: 1 });
    const rows: unknown = JSON.parse(outputs[1] ?? '');
    expect(rows).toBeInstanceOf(Array);
    expect(rows).not.toEqual([]);

    const kept = secretFiles(dataDir);
    expect(kept.map((path) => statSync(path).mode & 0o777)).toEqual(kept.map(() => 0o600));
    const passwords = kept.map((path) => readFileSync(path, 'utf8').trim()).filter((text) => text !== '');
    const printed = passwords.find((password) => first.stdout.includes(password));
    expect(printed?.length, first.stdout).toBeGreaterThanOrEqual(16);
    expect(first.stderr).not.toContain(printed);
    await first.stop();

    const second = await startWithoutPassword(dataDir);
    expect(second.stdout).not.toContain(printed);
    // The same password still opens the door.
    const { stdout } = await run('bash', [
      '-c',
      (commands[0] ?? '').replace(/127\.0\.0\.1:\d+/, addressOf(second)),
    ]);
    expect(JSON.parse(stdout)).toEqual({ accepted: 1 });
  });

  const addressOf = (child: Child): string => /127\.0\.0\.1:\d+/.exec(child.stdout + child.stderr)?.[0] ?? '';

  /** Files of the data directory itself that are not the store's or the log's. */
  const secretFiles = (dataDir: string): string[] =>
    readdirSync(dataDir, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /password/.test(entry.name))
      .map((entry) => join(dataDir, entry.name));
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
            acknowledged += await service.ingest('stopping', events);
            answered++;
          } catch {
            return; // refused while it shuts down, or gone: not acknowledged either way
          }
        }
      };
      const senders = Array.from({ length: 6 }, send);
      await sleep(1000);
      const exit = await service.stop(signal);
      await Promise.all(senders);
      expect(exit, service.child.report()).toEqual({ code: 0, signal: null });
      expect(answered).toBeGreaterThan(10);

      await service.restart();
      await service.drained();
      const [row] = await service.query('SELECT count(*) AS n FROM stopping');
      // A request may be made durable while its reply is lost with the connection, but only a sender's last one.
      expect(Number(row?.['n'])).toBeGreaterThanOrEqual(acknowledged);
      expect(Number(row?.['n'])).toBeLessThanOrEqual(acknowledged + senders.length * 50);
    },
  );
});

describe('a second process on the same data directory', () => {
  test('refuses to start and names the first', async () => {
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
  });

  test('starts when the first was killed', async () => {
    const service = await Service.start();
    onTestFinished(() => service.dispose());
    await service.kill();
    await service.restart();
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
