import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Ext4Mount, type Mount, mountProblem, mountTmpfs } from '../../support/lib/mounts.ts';
import { sayIfSkipped } from '../../support/lib/skipped.ts';
import { authorization, Service } from '../../support/service/service.ts';

const MiB = 2 ** 20;
const eventsPerBatch = 100;

const tmpfsProblem = mountProblem(() => mountTmpfs(1));
const ext4Problem = mountProblem(() => new Ext4Mount(8));

/** Sends batch after batch, each once, and remembers which were acknowledged. */
class Sender {
  readonly #service: Service;
  readonly acknowledged = new Set<number>();
  #next = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  /** One batch of about 100 kB that does not compress. */
  async send(): Promise<Response> {
    const batch = this.#next++;
    const noise = () => Array.from({ length: 80 }, () => Math.random().toString(36).slice(2)).join('');
    const events = Array.from({ length: eventsPerBatch }, (_, item) => ({ batch, item, noise: noise() }));
    const reply = await fetch(`${this.#service.url}/api/v1/ingest`, {
      method: 'POST',
      headers: { authorization, 'x-p-stream': 'batches', 'content-type': 'application/json' },
      body: JSON.stringify(events),
    });
    if (reply.status === 200) this.acknowledged.add(batch);
    return reply;
  }

  /** Sends no events at all; the status of the reply. */
  async statusOfNothing(): Promise<number> {
    const headers = { authorization, 'x-p-stream': 'batches', 'content-type': 'application/json' };
    const reply = await fetch(`${this.#service.url}/api/v1/ingest`, { method: 'POST', headers, body: '[]' });
    return reply.status;
  }

  /** Sends until a reply is something else than 200. */
  async sendUntilRefused(): Promise<Response> {
    for (let count = 0; count < 10_000; count += 1) {
      const reply = await this.send();
      if (reply.status !== 200) return reply;
    }
    throw new Error('was never refused');
  }

  async sendUntilTaken(timeoutMs = 20_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while ((await this.send()).status !== 200) {
      if (performance.now() > deadline) throw new Error(`still refused\n${this.#service.child.report()}`);
      await sleep(100);
    }
  }

  /** Everything that was acknowledged is there whole and once, and nothing else. */
  async check(): Promise<void> {
    await this.#service.drained();
    const rows = await this.#service.query(
      'SELECT batch, count(*) AS n, count(DISTINCT item) AS different FROM batches GROUP BY batch ORDER BY batch',
    );
    expect(rows).toEqual(
      [...this.acknowledged].map((batch) => ({ batch, n: eventsPerBatch, different: eventsPerBatch })),
    );
  }
}

/**
 * Sends the head of a request with a body of a MiB, and not one byte of the body; the status of the reply.
 */
async function statusBeforeBody(service: Service): Promise<number> {
  const socket = connect(service.port, '127.0.0.1');
  try {
    socket.write(
      `POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nX-P-Stream: batches\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${MiB}\r\n\r\n`,
    );
    const text = await new Promise<string>((resolve, reject) => {
      socket.once('data', (chunk) => resolve(chunk.toString('latin1')));
      socket.once('error', reject);
    });
    return Number(text.split(' ')[1]);
  } finally {
    socket.destroy();
  }
}

async function startOn(mount: Mount, flushIntervalMs: number): Promise<Service> {
  const service = await Service.start({
    dataDir: join(mount.path, 'data'),
    env: { MILLRACE_FLUSH_INTERVAL_MS: String(flushIntervalMs) },
  });
  onTestFinished(async () => {
    await service.dispose();
    mount.unmount();
  });
  return service;
}

function roomOf(path: string): number {
  const { bsize, bavail } = statfsSync(path);
  return bsize * bavail;
}

/** Leaves this much room on the file system, in small steps: the service writes, too. */
function fill(path: string, leaveBytes: number): { remove(): void } {
  const file = join(path, 'filler');
  const filler = openSync(file, 'w');
  try {
    for (let room = roomOf(path); room > leaveBytes; room = roomOf(path))
      writeSync(filler, Buffer.alloc(Math.min(room - leaveBytes, 256 * 1024)));
  } catch (thrown) {
    // The service has just taken what was left.
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown;
  } finally {
    closeSync(filler);
  }
  return { remove: () => rmSync(file) };
}

async function expectRefusal(reply: Response, code: string): Promise<void> {
  expect(reply.status).toBe(503);
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(await reply.json()).toMatchObject({ code });
}

sayIfSkipped('a disk that fills up', tmpfsProblem);
sayIfSkipped('a disk that becomes read-only', ext4Problem);

describe('a disk that fills up', () => {
  test.skipIf(tmpfsProblem !== undefined)(
    `keeps its last room for what was acknowledged`,
    async () => {
      const mount = mountTmpfs(64);
      const service = await startOn(mount, 3000);
      const sender = new Sender(service);
      await sender.send();
      // Space for the log and the store, but less than new requests must leave free.
      const filler = fill(mount.path, 2 * MiB);
      // It looks once in a while.
      await expect.poll(() => sender.statusOfNothing()).toBe(503);
      expect(await statusBeforeBody(service)).toBe(503);
      await expectRefusal(await sender.send(), 'log_full');
      await sender.check();
      filler.remove();
      await sender.sendUntilTaken();
      await sender.check();
    },
    60_000,
  );

  test.skipIf(tmpfsProblem !== undefined)(
    `refuses before the body is read, answers queries, and goes on when there is room`,
    async () => {
      const mount = mountTmpfs(64);
      const service = await startOn(mount, 100);
      const sender = new Sender(service);
      await sender.send();
      for (const leaveBytes of [12 * MiB, 256 * 1024, 0]) {
        const filler = fill(mount.path, leaveBytes);
        await expectRefusal(await sender.sendUntilRefused(), 'log_full');
        expect(await statusBeforeBody(service)).toBe(503);
        expect(await service.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
        // For a while nothing changes by itself, and nothing probes the disk without pauses.
        await sleep(1500);
        filler.remove();
        await sender.sendUntilTaken();
        await sender.check();
      }
      expect(sender.acknowledged.size).toBeGreaterThan(20);
      // Nothing is left of what was refused: the next start finds a log without anything to cut or set aside.
      await service.kill();
      await service.restart();
      expect(await service.metric('millrace_wal_damaged_bytes_total')).toBe(0);
      await sender.check();
    },
    120_000,
  );
});

describe('a disk that becomes read-only', () => {
  test.skipIf(ext4Problem !== undefined)(
    `is refused to writes and serves queries, and a restart on the repaired disk has all that was acknowledged`,
    async () => {
      const mount = new Ext4Mount(64);
      const service = await startOn(mount, 3000);
      const sender = new Sender(service);
      // Some rows are in the store and their segment is gone, others are only in the log: none may be stored
      // twice.
      for (let count = 0; count < 10; count += 1) await sender.send();
      await service.drained();
      for (let count = 0; count < 10; count += 1) await sender.send();
      mount.becomeReadOnly();
      await expectRefusal(await sender.sendUntilRefused(), 'log_failed');
      await sleep(1500);
      expect(await statusBeforeBody(service)).toBe(503);
      await expectRefusal(await sender.sendUntilRefused(), 'log_failed');
      expect(await service.query('SELECT count(*) > 0 AS some FROM batches')).toEqual([{ some: true }]);
      await service.kill();
      mount.repair();
      await service.restart();
      await sender.sendUntilTaken();
      await sender.check();
    },
    60_000,
  );
});
