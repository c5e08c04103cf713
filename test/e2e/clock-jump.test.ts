import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { WallClock, wallClockProblem } from '../support/lib/wall-clock.ts';
import { readStored, receiveTimes, sendBatch } from '../support/service/numbered-batches.ts';
import { compareBatches, type SentBatch } from '../support/service/sent-and-stored.ts';
import { Service } from '../support/service/service.ts';

const problem = wallClockProblem();
const hourSeconds = 3600;
/** Batches that are sent at each setting of the clock. */
const batchesPerSetting = 6;
const rowsPerBatch = 20;
/**
 * Segments are sealed by age each second. This is far more than that on a busy machine, and
 * far less than a jump.
 */
const sealedWithinMs = 20_000;

/** The service with its own clock, and everything that was sent to it. */
class Subject {
  readonly clock = new WallClock();
  readonly sent: SentBatch[] = [];
  #service: Service | undefined;

  static async start(): Promise<Subject> {
    const subject = new Subject();
    onTestFinished(async () => {
      await subject.#service?.dispose();
      subject.clock.dispose();
    });
    subject.#service = await Service.start({ env: subject.clock.env });
    return subject;
  }

  get service(): Service {
    if (this.#service === undefined) throw new Error('The service was not started');
    return this.#service;
  }

  /** Sends batches of both kinds for more than half a second. */
  async send(): Promise<readonly SentBatch[]> {
    const batches = Array.from({ length: batchesPerSetting }, (_, index): SentBatch => {
      const kind = index % 2 === 0 ? 'events' : 'samples';
      return { kind, number: this.sent.length + index, rows: rowsPerBatch, acknowledged: false };
    });
    this.sent.push(...batches);
    for (const batch of batches) {
      await sendBatch(this.service, batch, { keyed: true });
      batch.acknowledged = true;
      await sleep(100);
    }
    return batches;
  }

  /**
   * Sends everything again.
   * @returns how many retries were recognised
   */
  async repeat(): Promise<number> {
    const recognised = async () => await this.service.metric('millrace_ingest_replayed_requests_total');
    const before = await recognised();
    for (const batch of this.sent) await sendBatch(this.service, batch, { keyed: true });
    return (await recognised()) - before;
  }
}

sayIfSkipped('a wall clock that jumps', problem);

describe.skipIf(problem !== undefined)('a wall clock that jumps', () => {
  test('back and forth while requests come in loses and doubles nothing', async () => {
    const subject = await Subject.start();
    const { clock, sent, service } = subject;
    await subject.send();
    for (const offsetSeconds of [-2 * hourSeconds, hourSeconds, -5, 0]) {
      // The jump happens while a segment is open.
      await Promise.all([clock.set(offsetSeconds), subject.send()]);
      const from = Date.now();
      const batches = await subject.send();
      const to = Date.now();
      await service.drained(sealedWithinMs);
      const numbers = batches.map(({ number }) => number);
      const times = await receiveTimes(service, numbers);
      expect(times.length, `clock at ${offsetSeconds} s`).toBe(batchesPerSetting / 2);
      for (const time of times) {
        const trueTime = time - offsetSeconds * 1000;
        expect(trueTime, `clock at ${offsetSeconds} s`).toBeGreaterThanOrEqual(from - 100);
        expect(trueTime, `clock at ${offsetSeconds} s`).toBeLessThanOrEqual(to + 100);
      }
      expect(await subject.repeat(), `clock at ${offsetSeconds} s`).toBe(sent.length);
    }
    await service.drained(sealedWithinMs);
    expect(compareBatches(sent, await readStored(service))).toEqual({
      storedRows: sent.length * rowsPerBatch,
      lostRows: 0,
      duplicatedRows: 0,
      problems: [],
    });
  }, 180_000);

  test('back while the service is down costs no memory of what was stored', async () => {
    const subject = await Subject.start();
    const { clock, sent, service } = subject;
    await subject.send();
    await service.drained(sealedWithinMs);
    await subject.send(); // Some of this is in the log only.
    await service.kill();
    await clock.set(-2 * hourSeconds);
    await service.restart();
    await subject.send();
    expect(await subject.repeat()).toBe(sent.length);
    await service.drained(sealedWithinMs);
    expect(compareBatches(sent, await readStored(service)).problems).toEqual([]);
  }, 120_000);
});
