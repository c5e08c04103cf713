import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreError } from '../../../src/clickhouse/store-error.ts';
import { Lease } from '../../../src/cluster/lease.ts';
import { NodeRegistry } from '../../../src/cluster/nodes.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { MetadataLog } from '../../../src/metadata/metadata-log.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { ManualClock } from '../../support/lib/manual-clock.ts';

const leaseMs = 3000;

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  await new MetadataLog(store.store, 'one').prepare();
});
afterAll(() => store?.close());

/** A node in the real registry. The test says how far it has read, and sets its clock. */
class Node {
  readonly clock = new ManualClock();
  identities = 0;
  tenants = 0;
  reports = 0;
  registry: NodeRegistry;
  readonly lease: Lease;

  constructor(name: string) {
    this.registry = new NodeRegistry(store.store, name);
    this.lease = new Lease({
      registry: {
        report: (position, leaves) => {
          this.reports += 1;
          return this.registry.report(position, leaves);
        },
        others: (withinMs) => this.registry.others(withinMs),
      },
      leaseMs,
      position: () => ({ identities: this.identities, tenants: this.tenants, datasets: 0 }),
      timers: {
        ...systemClock,
        nowMicros: () => this.clock.nowMicros(),
        monotonicMs: () => this.clock.monotonicMs(),
        // Pauses take a moment, whatever their length; the test moves the clock.
        after: (_, action) => systemClock.after(5, action),
      },
    });
  }

  read(identities = this.identities, tenants = this.tenants): Promise<void> {
    return this.lease.renew(async () => {
      this.identities = identities;
      this.tenants = tenants;
    });
  }

  get trusts(): boolean {
    try {
      this.lease.requireCurrent();
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'store_unavailable' });
      return false;
    }
  }
}

/** Whether a wait is over after a while in which it could have asked several times. */
const isOver = async (wait: Promise<void>): Promise<boolean> =>
  await Promise.race([
    wait.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 300)),
  ]);
const never = new AbortController().signal;

describe('a lease', () => {
  it('begins with a read, lasts from its start, and is over at its end', async () => {
    const node = new Node('lasting');
    expect(node.trusts).toBe(false);
    await node.lease.renew(async () => node.clock.advance(1000));
    expect(node.trusts).toBe(true);
    node.clock.advance(leaseMs - 1001);
    expect(node.trusts).toBe(true);
    node.clock.advance(1);
    expect(node.trusts).toBe(false);
    await node.read();
    expect(node.trusts).toBe(true);
    node.clock.jump(100 * leaseMs);
    expect(node.trusts).toBe(true);
    await node.lease.leave();
    expect(node.trusts).toBe(false);
  });

  it('is not renewed by a read that fails, nor by reads whose reports do', async () => {
    const node = new Node('failing');
    await node.read();
    node.clock.advance(leaseMs - 1);
    await expect(node.lease.renew(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    node.clock.advance(1);
    expect(node.trusts).toBe(false);

    const { registry } = node;
    await node.read();
    node.registry = new NodeRegistry(
      { ...store.store, command: () => Promise.reject(new StoreError('away', undefined, undefined)) },
      'failing',
    );
    node.clock.advance(leaseMs / 3);
    await expect(node.read()).rejects.toThrow('away');
    expect(node.trusts).toBe(true);
    node.clock.advance((leaseMs * 2) / 3);
    await expect(node.read()).rejects.toThrow('away');
    expect(node.trusts).toBe(false);
    node.registry = registry;
    await node.read();
    expect(node.trusts).toBe(true);
    await node.lease.leave();
  });

  it('is told of when something was read, and three times while it lasts', async () => {
    const node = new Node('reporting');
    await node.read();
    expect(node.reports).toBe(1);
    await node.read();
    expect(node.reports).toBe(1);
    await node.read(1);
    expect(node.reports).toBe(2);
    await node.read(1, 1);
    expect(node.reports).toBe(3);
    node.clock.advance(leaseMs / 3);
    await node.read();
    expect(node.reports).toBe(4);
    await node.lease.leave();
  });
});

describe('who has withdrawn something', () => {
  it('waits for nobody where nobody else is', async () => {
    await new Node('alone').lease.caughtUp(never);
  });

  it('waits until the others have read as far, identities and tenants', async () => {
    const [one, two] = [new Node('one'), new Node('two')];
    await one.read();
    await two.read();
    [one.identities, one.tenants] = [5, 3];
    const wait = one.lease.caughtUp(never);
    expect(await isOver(wait)).toBe(false);
    await two.read(5, 2);
    expect(await isOver(wait)).toBe(false);
    await two.read(5, 3);
    await wait;
    await two.lease.leave();
    await one.lease.leave();
  });

  it('waits for those who are about to read for the first time, and not for those who leave', async () => {
    const [one, two] = [new Node('one'), new Node('two')];
    one.identities = 9;
    let finish = (): void => {};
    const reading = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const first = two.lease.renew(() => reading);
    const reported = async () => (await one.registry.others(10_000)).map(({ node }) => node);
    while (!(await reported()).includes('two')) await new Promise((resolve) => setTimeout(resolve, 10));
    const wait = one.lease.caughtUp(never);
    expect(await isOver(wait)).toBe(false);
    finish();
    await first;
    expect(await isOver(wait)).toBe(false);
    await two.lease.leave();
    await wait;
  });

  it('waits for those who went without a word until they can trust nothing any more', async () => {
    const [one, two] = [new Node('one'), new Node('two')];
    await two.read();
    one.identities = 9;
    const wait = one.lease.caughtUp(never);
    expect(await isOver(wait)).toBe(false);
    one.clock.advance(leaseMs);
    expect(await isOver(wait)).toBe(false);
    one.clock.advance(leaseMs / 50);
    two.clock.advance(leaseMs);
    await wait;
    expect(two.trusts).toBe(false);
    await two.lease.leave();
  });

  it('goes on waiting while the store is away, and gives up when the service stops', async () => {
    const [one, two] = [new Node('one'), new Node('two')];
    await two.read();
    one.identities = 9;
    const { registry } = one;
    one.registry = new NodeRegistry(
      { ...store.store, select: () => Promise.reject(new StoreError('away', undefined, undefined)) },
      'one',
    );
    const stopping = new AbortController();
    const wait = one.lease.caughtUp(stopping.signal);
    expect(await isOver(wait)).toBe(false);
    one.registry = registry;
    expect(await isOver(wait)).toBe(false);
    stopping.abort();
    await expect(wait).rejects.toMatchObject({ code: 'shutting_down' });
    await two.lease.leave();
  });
});
