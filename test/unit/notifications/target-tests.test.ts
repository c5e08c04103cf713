import { expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { DeliveryOutcome } from '../../../src/notifications/delivery-outcome.ts';
import { DeliveryQueue, type OfferedDelivery } from '../../../src/notifications/delivery-queue.ts';
import { TargetTests } from '../../../src/notifications/target-tests.ts';

it('a tenant has few tests of targets in the queue, whoever waits for them, and others have theirs', async () => {
  const finish: ((outcome: DeliveryOutcome) => void)[] = [];
  const queue = new DeliveryQueue({
    send: () => new Promise<DeliveryOutcome>((resolve) => finish.push(resolve)),
    clock: systemClock,
  });
  const tests = new TargetTests(queue, systemClock);
  const run = (tenant: string, type: OfferedDelivery['targetType'] = 'webhook') =>
    tests.run(tenant, 'target', type);
  const first = Array.from({ length: limits.maxTargetTestsPerTenant }, () => run('acme'));
  await expect(run('acme')).rejects.toMatchObject({ code: 'overloaded' });
  expect(queue.size).toBe(limits.maxTargetTestsPerTenant);
  const other = run('globex');
  // As many as a target takes at a time are being tried; each that ends lets the next one be.
  const all = Promise.all([...first, other]);
  let isDone = false;
  void all.then(() => {
    isDone = true;
  });
  await expect
    .poll(() => {
      for (const each of finish.splice(0)) each({ kind: 'delivered' });
      return isDone;
    })
    .toBe(true);
  const again = run('acme');
  await expect
    .poll(() => {
      for (const each of finish.splice(0)) each({ kind: 'delivered' });
      return queue.size;
    })
    .toBe(0);
  expect(await again).toEqual({ kind: 'delivered' });
  await queue.stop();
});
