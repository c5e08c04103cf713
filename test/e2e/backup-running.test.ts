/** `millrace backup` of a service that takes writes all the while, and `millrace restore` of it elsewhere. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Child, removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { authorization, mainPath, Service } from '../support/service/service.ts';

let folder = '';
beforeAll(() => {
  folder = temporaryFolder('backup-running');
});
afterAll(() => removeFolder(folder));

/** Runs a command as the administrator of a service, to its end. */
async function run(args: readonly string[], dataDir: string): Promise<Child> {
  const child = await Child.start({
    name: 'millrace',
    command: process.execPath,
    args: [mainPath, ...args],
    env: { MILLRACE_DATA_DIR: dataDir, MILLRACE_ADMIN_PASSWORD: Service.credentials.password },
  });
  await child.ended(120_000);
  return child;
}

const datasets = ['one', 'two', 'three'] as const;

/** Sends numbered events to all datasets, in turns, until it is stopped. */
class Sender {
  /** Those that were sent, and those that were acknowledged, by dataset. */
  readonly sent = new Map<string, number[]>(datasets.map((name) => [name, []]));
  readonly acknowledged = new Map<string, number[]>(datasets.map((name) => [name, []]));
  #next = 0;
  #isStopped = false;
  readonly #done: Promise<unknown>;

  constructor(service: Service) {
    this.#done = Promise.all(Array.from({ length: 4 }, (_, index) => this.#send(service, index)));
  }

  get count(): number {
    return [...this.acknowledged.values()].reduce((sum, { length }) => sum + length, 0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  async #send(service: Service, index: number): Promise<void> {
    for (let turn = index; !this.#isStopped; turn += 1) {
      const name = datasets[turn % datasets.length] ?? 'one';
      const numbers = Array.from({ length: 20 }, () => {
        this.#next += 1;
        return this.#next;
      });
      this.sent.get(name)?.push(...numbers);
      try {
        // A field of its own now and then: columns are added while the backup runs.
        const field = `f${Math.floor((numbers[0] ?? 0) / 400) % 12}`;
        await service.ingest(
          name,
          numbers.map((n) => ({ n, [field]: n })),
        );
        this.acknowledged.get(name)?.push(...numbers);
      } catch {
        return; // the service was killed
      }
    }
  }
}

async function numbersOf(service: Service, name: string): Promise<number[]> {
  const rows = await service.query(`SELECT n FROM "${name}" ORDER BY n`);
  return rows.map(({ n }) => Number(n));
}

describe('a backup under load', () => {
  test('has every row that was acknowledged before, and no row twice', async () => {
    const source = join(folder, 'source');
    // Often, so that inserts and segments are under way at each moment.
    const env = { MILLRACE_FLUSH_INTERVAL_MS: '50', MILLRACE_LOW_VOLUME_FLUSH_INTERVAL_MS: '50' };
    const service = await Service.start({ dataDir: source, env });
    onTestFinished(() => service.dispose());
    const made = await fetch(`${service.url}/api/v1/role/reads`, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify([{ privilege: 'reader' }]),
    });
    expect(made.status).toBe(200);
    const key = await fetch(`${service.url}/api/console/v1/apikeys`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ keyName: 'k', roles: ['reads'] }),
    });
    const { apiKey } = (await key.json()) as { apiKey: string };

    const sender = new Sender(service);
    const taken: Array<{ name: string; before: Map<string, number[]> }> = [];
    for (const name of ['b1', 'b2', 'b3']) {
      const from = sender.count;
      await expect.poll(() => sender.count, { interval: 5 }).toBeGreaterThan(from + 1000);
      const before = new Map([...sender.acknowledged].map(([dataset, numbers]) => [dataset, [...numbers]]));
      const backup = await run(['backup', name], source);
      expect(backup.exit, backup.report()).toEqual({ code: 0, signal: null });
      taken.push({ name, before });
    }
    // It was not asked to wait: more came while the last one was made.
    const atEnd = sender.count;
    await expect.poll(() => sender.count, { interval: 5 }).toBeGreaterThan(atEnd);
    await service.kill();
    await sender.stop();

    for (const { name, before } of taken) {
      const target = join(folder, `restored-${name}`);
      const restored = await run(['restore', join(source, 'backups', name)], target);
      expect(restored.exit, restored.report()).toEqual({ code: 0, signal: null });
      const copy = await Service.start({ dataDir: target, env });
      onTestFinished(() => copy.dispose());
      await copy.drained();
      for (const dataset of datasets) {
        const there = await numbersOf(copy, dataset);
        expect(new Set(there).size, `${name}: no row of ${dataset} twice`).toBe(there.length);
        const set = new Set(there);
        expect(
          before.get(dataset)?.filter((n) => !set.has(n)),
          `${name}: lost of ${dataset}`,
        ).toEqual([]);
        const sent = new Set(sender.sent.get(dataset));
        expect(there.filter((n) => !sent.has(n))).toEqual([]);
        const stats = await fetch(`${copy.url}/api/v1/logstream/${dataset}/stats`, {
          headers: { authorization },
        });
        const { ingestion } = (await stats.json()) as { ingestion: { count: number } };
        expect(ingestion.count, `${name}: rows of ${dataset} that were received`).toBe(there.length);
      }
      expect((await fetch(`${copy.url}/api/v1/about`, { headers: { 'x-api-key': apiKey } })).status).toBe(
        200,
      );
      // It goes on, also after a kill.
      await copy.ingest('one', [{ n: -1 }]);
      const numbers = await numbersOf(copy, 'one').then((each) => each.filter((n) => n > 0).length);
      await copy.kill();
      await copy.restart();
      await copy.drained();
      expect(await copy.query('SELECT count(*) AS n FROM one')).toEqual([{ n: numbers + 1 }]);
      await copy.stop();
    }
  });
});

describe('what is refused', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start();
    await service.ingest('app', [{ n: 1 }]);
    expect((await run(['backup', 'good'], service.dataDir)).exit?.code).toBe(0);
  });
  afterAll(() => service?.dispose());

  const put = (name: string, headers: Record<string, string> = { authorization }) =>
    fetch(`${service.url}/api/v1/backups/${encodeURIComponent(name)}`, { method: 'PUT', headers });

  test.each(['../x', 'a/b', '.hidden', 'x.incomplete', 'x'.repeat(101)])('the name %j', async (name) => {
    const reply = await put(name);
    expect([reply.status, await reply.json()]).toMatchObject([400, { code: 'bad_backup_name' }]);
  });

  test('a name twice', async () => {
    const again = await run(['backup', 'good'], service.dataDir);
    expect([again.exit?.code, again.stderr]).toEqual([
      1,
      expect.stringContaining('there is a backup good in '),
    ]);
    expect((await put('good', {})).status).toBe(401);
  });

  test('a backup that is not whole, and one of another version', async () => {
    const target = join(folder, 'refused');
    const backup = join(folder, 'broken');
    mkdirSync(backup);
    const none = await run(['restore', backup], target);
    expect([none.exit?.code, none.stderr]).toEqual([1, expect.stringContaining('is not a whole backup')]);
    writeFileSync(join(backup, 'backup.json'), '{"format":2}');
    const other = await run(['restore', backup], target);
    expect([other.exit?.code, other.stderr]).toEqual([1, expect.stringContaining('has the format 2')]);
  });

  test('a directory that is not empty', async () => {
    const target = join(folder, 'full');
    mkdirSync(target);
    writeFileSync(join(target, 'mine'), 'kept');
    const refused = await run(['restore', join(service.dataDir, 'backups/good')], target);
    expect([refused.exit?.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`${target} is not empty`),
    ]);
    expect(readdirSync(target)).toEqual(['mine']);
  });

  test('a start on a restore that did not end', async () => {
    const target = join(folder, 'half');
    mkdirSync(target);
    writeFileSync(join(target, 'restore-incomplete'), '');
    const start = await run(['--http-addr', '127.0.0.1:0'], target);
    expect([start.exit?.code, start.stderr]).toEqual([
      1,
      expect.stringContaining('did not end: empty that directory'),
    ]);
  });

  test('eyes of others: a backup is for its owner alone', () => {
    const backup = join(service.dataDir, 'backups/good');
    expect(statSync(join(service.dataDir, 'backups')).mode & 0o077).toBe(0);
    expect(statSync(join(backup, 'data')).mode & 0o077).toBe(0);
    expect(JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8'))).toMatchObject({
      format: 1,
      hasSecret: true,
    });
  });

  test('nothing is left of one that fails, and it is said why', async () => {
    // A file where the directory of backups should be.
    const dataDir = join(folder, 'fails');
    const other = await Service.start({
      dataDir,
      env: { MILLRACE_BACKUP_DIR: join(folder, 'file/backups') },
    });
    onTestFinished(() => other.dispose());
    writeFileSync(join(folder, 'file'), '');
    const failed = await run(['backup', 'x'], dataDir);
    expect(failed.exit?.code, failed.report()).toBe(1);
    expect(failed.stderr).toContain('ENOTDIR');
    rmSync(join(folder, 'file'));
    mkdirSync(join(folder, 'file'));
    expect((await run(['backup', 'x'], dataDir)).exit?.code).toBe(0);
    expect(readdirSync(join(folder, 'file/backups'))).toEqual(['x']);
  });
});
