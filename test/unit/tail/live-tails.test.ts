import { describe, expect, onTestFinished, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { Cancellation } from '../../../src/lib/cancellation.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { limits } from '../../../src/limits/limits.ts';
import type { Principal } from '../../../src/model/identity.ts';
import type { ArrivalRequest } from '../../../src/query/request.ts';
import { LiveTails, type TailRequest } from '../../../src/tail/live-tails.ts';
import type { TailStream } from '../../../src/tail/tail-stream.ts';
import { readTail } from '../../support/http/event-stream.ts';

const reader: Principal = {
  kind: 'user',
  name: 'u',
  tenant: 'default',
  privileges: [{ privilege: 'reader', dataset: 'app' }],
};

/** Time that passes when the test says so. */
class Timers {
  readonly #waiting = new Set<{ readonly ms: number; readonly action: () => void }>();

  after(ms: number, action: () => void): () => void {
    const timer = { ms, action };
    this.#waiting.add(timer);
    return () => this.#waiting.delete(timer);
  }

  /** Ends the waits of this length. */
  end(ms: number): void {
    for (const timer of [...this.#waiting]) {
      if (timer.ms !== ms) continue;
      this.#waiting.delete(timer);
      timer.action();
    }
  }

  get count(): number {
    return this.#waiting.size;
  }

  /** How many waits of this length there are. */
  countOf(ms: number): number {
    return [...this.#waiting].filter((timer) => timer.ms === ms).length;
  }
}

/** A table of numbers, of which each insert has some; the condition `even` leaves the even ones. */
class Table {
  readonly inserts: number[][] = [];
  /** Questions that were asked, without those that only check the condition. */
  readonly asked: ArrivalRequest[] = [];
  failure: AppError | undefined;
  /** Questions wait until it fulfils. */
  held: Promise<void> = Promise.resolve();

  readonly arrivals = async (request: ArrivalRequest) => {
    const { inserts, form, condition, maxRows } = request;
    if (condition === 'wrong') throw new AppError('sql_unknown_column', 'no such column');
    if (inserts.to > inserts.from) {
      this.asked.push(request);
      if (this.failure !== undefined) throw this.failure;
    }
    const found = this.inserts
      .map((rows, index) => ({
        insert: index + 1,
        rows: rows.filter((n) => condition === '' || n % 2 === 0),
      }))
      .filter(({ insert, rows }) => insert >= inserts.from && insert < inserts.to && rows.length > 0);
    const lines =
      form === 'inserts'
        ? found.map(({ insert, rows }) => ({ p_insert: insert, rows: rows.length }))
        : found.flatMap(({ insert, rows }) => rows.map((n) => ({ n, p_insert: insert })));
    const text = lines
      .slice(0, maxRows)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('');
    return {
      id: 'query',
      columns: [],
      datasets: ['app'],
      chunks: this.#chunks(text, request),
      statistics: () => ({ elapsedMs: 0, read: undefined }),
    };
  };

  async *#chunks(text: string, { signal }: ArrivalRequest) {
    await this.held;
    signal.throwIfAborted();
    yield { parts: [Buffer.from(text)], isLast: true };
  }

  readonly select = async (query: string): Promise<Uint8Array> =>
    Buffer.from(
      query.includes('system.tables') ? '[1]\n' : `["t_default","app.events",${this.inserts.length}]\n`,
    );
}

const dataset = { tenant: 'default', name: 'app', kind: 'events', columns: new Map(), ready: true } as const;

function start() {
  const timers = new Timers();
  const table = new Table();
  const metrics = createMetrics();
  const known = new Map([['app', { ...dataset, id: 'app' }]]);
  const tails = new LiveTails({
    store: { select: table.select, command: () => Promise.reject(new Error('no command is needed')) },
    catalog: { get: (_, name) => known.get(name) },
    query: table,
    waitForLatest: () => Promise.resolve(true),
    timers,
    metrics,
    log: createLogger('silent'),
  });
  onTestFinished(() => tails.stop());
  const settled = async () => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  };
  const tick = async () => {
    timers.end(limits.tailIntervalMs);
    await settled();
  };
  const open = async (request: Partial<TailRequest> = {}) => {
    const left = new Cancellation();
    const stream = await tails.open({
      principal: reader,
      tenant: 'default',
      dataset: 'app',
      condition: '',
      maxRows: 10,
      lastEventId: '',
      authorizeAgain: () => Promise.resolve(request.principal ?? reader),
      signal: left,
      ...request,
    });
    return new Client(stream, left);
  };
  return { timers, table, metrics, known, tails, tick, settled, open };
}

/** Reads a stream; while it is paused, it has taken one part and asks for no more. */
class Client {
  readonly #left: Cancellation;
  #text = '';
  #resume: () => void = () => {};
  #paused: Promise<void> = Promise.resolve();
  isEnded = false;

  constructor(stream: TailStream, left: Cancellation) {
    this.#left = left;
    void this.#read(stream);
  }

  async #read(stream: TailStream): Promise<void> {
    for await (const part of stream) {
      this.#text += Buffer.from(part).toString();
      await this.#paused;
    }
    this.isEnded = true;
  }

  pause(): void {
    this.#paused = new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#resume();
  }

  leave(): void {
    this.#left.cancel();
  }

  get text(): string {
    return this.#text;
  }

  get read() {
    return readTail(this.#text);
  }

  get numbers(): readonly unknown[] {
    return this.read.rows.map(({ n }) => n);
  }
}

const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);

describe('a live tail', () => {
  test('sends the rows that arrive after it began, once and in order', async () => {
    const { table, tick, open } = start();
    table.inserts.push([1, 2]);
    const client = await open();
    await tick();
    expect(client.numbers).toEqual([]);
    table.inserts.push([3, 4], [5]);
    await tick();
    await tick();
    table.inserts.push([6]);
    await tick();
    expect(client.numbers).toEqual([3, 4, 5, 6]);
    expect(client.text).toMatch(/^: live tail\n\n/);
  });

  test('asks nothing while nothing arrives, and shows that it is there', async () => {
    const { table, timers, tick, settled, open } = start();
    const client = await open();
    await tick();
    await tick();
    expect(table.asked).toEqual([]);
    timers.end(limits.tailHeartbeatMs);
    await settled();
    expect(client.text).toMatch(/^: live tail\n\nid: 1\.0\.[\w-]{12}\n\n:\n\n$/);
  });

  test('counts rows beyond its rate', async () => {
    const { table, tick, open, metrics } = start();
    const client = await open();
    table.inserts.push(upTo(6), upTo(30, 6));
    await tick();
    table.inserts.push([100]);
    await tick();
    expect(client.numbers).toEqual([...upTo(10), 100]);
    expect(client.read.skipped).toEqual([{ rows: 26, reason: 'rate' }]);
    expect((await metrics.tailSkippedRows.get()).values[0]?.value).toBe(26);
    expect((await metrics.tailRows.get()).values[0]?.value).toBe(11);
  });

  test('refuses a wrong condition and an unknown dataset, and holds no place for them', async () => {
    const { open, metrics } = start();
    await expect(open({ condition: 'wrong' })).rejects.toMatchObject({ code: 'sql_unknown_column' });
    await expect(open({ dataset: 'other' })).rejects.toMatchObject({ code: 'dataset_not_found' });
    expect((await metrics.tailStreams.get()).values[0]?.value).toBe(0);
  });

  test('shares queries with equal ones alone', async () => {
    const { table, tick, open } = start();
    const equal = [await open(), await open(), await open()];
    table.inserts.push([1, 2]);
    await tick();
    expect(table.asked.map(({ form }) => form)).toEqual(['inserts', 'rows']);
    for (const client of equal) expect(client.numbers).toEqual([1, 2]);
    const even = await open({ condition: 'even' });
    const other = await open({ principal: { ...reader, privileges: [{ privilege: 'admin' }] } });
    table.inserts.push([3, 4]);
    await tick();
    expect(table.asked).toHaveLength(2 + 6);
    expect([even.numbers, other.numbers]).toEqual([[4], [3, 4]]);
  });

  test('has a bounded number of places, which leaving clients free', async () => {
    const { open, settled } = start();
    const clients: Client[] = [];
    for (let count = 0; count < limits.maxTailsPerTenant; count += 1) clients.push(await open());
    await expect(open()).rejects.toMatchObject({ code: 'overloaded' });
    clients[0]?.leave();
    await settled();
    await open();
    await expect(open()).rejects.toMatchObject({ code: 'overloaded' });
  });
});

describe('a client that resumes', () => {
  test('gets what it has not read, also of an insert of which it has read a part', async () => {
    const { table, tick, open } = start();
    const first = await open();
    table.inserts.push([1, 2, 3]);
    await tick();
    const ids = [...first.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? '');
    first.leave();
    table.inserts.push([4]);
    // The first one says where the tail began, the second one is of a row.
    const second = await open({ lastEventId: ids[1] ?? '' });
    table.inserts.push([5]);
    await tick();
    await tick();
    expect(second.numbers).toEqual([2, 3, 4, 5]);
    const last = await open({ lastEventId: second.read.lastId });
    table.inserts.push([6]);
    await tick();
    expect([last.numbers, last.read.skipped]).toEqual([[6], []]);
  });

  test('goes on where it began if it has read no row', async () => {
    const { table, tick, settled, open } = start();
    table.inserts.push([1]);
    const first = await open();
    await tick();
    first.leave();
    table.inserts.push([2], [3]);
    const second = await open({ lastEventId: first.read.lastId });
    await settled();
    second.leave();
    const third = await open({ lastEventId: second.read.lastId });
    await tick();
    await tick();
    expect([third.numbers, third.read.skipped]).toEqual([[2, 3], []]);
  });

  test('joins others that are behind it, and gets no row twice', async () => {
    const { table, tick, settled, open } = start();
    const slow = await open();
    await tick();
    let release = () => {};
    table.inserts.push([1], [2]);
    table.held = new Promise((resolve) => {
      release = resolve;
    });
    await tick();
    // The group reads both inserts, and this client has the first of them.
    const id = (await idOf(2)) ?? '';
    const ahead = await open({ lastEventId: id });
    release();
    await settled();
    await tick();
    table.inserts.push([3]);
    await tick();
    await tick();
    expect([slow.numbers, ahead.numbers]).toEqual([
      [1, 2, 3],
      [2, 3],
    ]);
  });

  test('is told where the id is of another condition', async () => {
    const { table, tick, open } = start();
    const even = await open({ condition: 'even' });
    table.inserts.push([1, 2]);
    await tick();
    const all = await open({ lastEventId: even.read.lastId });
    table.inserts.push([3]);
    await tick();
    expect([all.numbers, all.read.skipped]).toEqual([[3], [{ rows: null, reason: 'position' }]]);
  });

  test('after long gets as much as an interval allows, and the number of the others', async () => {
    const { table, tick, open } = start();
    const first = await open();
    table.inserts.push([0]);
    await tick();
    const { lastId } = first.read;
    first.leave();
    table.inserts.push(upTo(40, 1));
    const second = await open({ lastEventId: lastId });
    await tick();
    expect([second.numbers, second.read.skipped]).toEqual([upTo(10, 1), [{ rows: 30, reason: 'rate' }]]);
  });
});

describe('a client that does not read', () => {
  test('is skipped, holds up nobody, and is told how much it missed', async () => {
    const { table, tick, settled, open } = start();
    const [slow, quick] = [await open(), await open()];
    await tick();
    slow.pause();
    for (let n = 1; n <= 20; n += 1) {
      table.inserts.push([n]);
      await tick();
    }
    expect(quick.numbers).toEqual(upTo(20, 1));
    // One part is with the client, and one waits.
    expect(slow.numbers).toEqual([1]);
    slow.resume();
    await settled();
    await tick();
    table.inserts.push([21]);
    await tick();
    expect(slow.numbers).toEqual([1, 2, 21]);
    expect(slow.read.skipped).toEqual([{ rows: 18, reason: 'slow' }]);
  });
});

describe('a live tail ends', () => {
  test('when its client may not read any more', async () => {
    const { table, timers, tick, open } = start();
    let refusal: AppError | undefined;
    const client = await open({
      authorizeAgain: () => (refusal === undefined ? Promise.resolve(reader) : Promise.reject(refusal)),
    });
    table.inserts.push([1]);
    await tick();
    refusal = new AppError('forbidden', 'this needs a privilege for query');
    table.inserts.push([2]);
    await tick();
    expect([client.numbers, client.read.end?.code, client.isEnded]).toEqual([[1], 'forbidden', true]);
    expect(timers.count).toBe(0);
  });

  test('not while that cannot be told, and then nothing is lost', async () => {
    const { table, tick, open } = start();
    let refusal: AppError | undefined;
    const client = await open({
      authorizeAgain: () => (refusal === undefined ? Promise.resolve(reader) : Promise.reject(refusal)),
    });
    const other = await open();
    refusal = new AppError('store_unavailable', 'the lease is over');
    table.inserts.push([1], [2]);
    await tick();
    expect([client.numbers, other.numbers]).toEqual([[], [1, 2]]);
    refusal = undefined;
    table.inserts.push([3]);
    await tick();
    await tick();
    expect([client.numbers, client.read.skipped]).toEqual([[1, 2, 3], []]);
  });

  test('not when its privileges change to others that suffice: it goes on with these', async () => {
    const { table, tick, open } = start();
    let now = reader;
    const client = await open({ authorizeAgain: () => Promise.resolve(now) });
    const same = await open();
    table.inserts.push([1]);
    await tick();
    now = { ...reader, privileges: [{ privilege: 'reader' }] };
    table.inserts.push([2]);
    await tick();
    await tick();
    table.inserts.push([3]);
    await tick();
    await tick();
    expect([client.numbers, same.numbers]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    expect(table.asked.at(-1)?.principal.privileges).toBeDefined();
  });

  test('not when it is the only one that changes, and ticks come one at a time', async () => {
    const { table, timers, tick, open } = start();
    let now = reader;
    const client = await open({ authorizeAgain: () => Promise.resolve(now) });
    now = { ...reader, privileges: [{ privilege: 'reader' }] };
    await tick();
    table.inserts.push([1]);
    await tick();
    await tick();
    expect([client.numbers, timers.countOf(limits.tailIntervalMs)]).toEqual([[1], 1]);
  });

  test('when its dataset is deleted, also if another gets the name', async () => {
    const { known, tick, open } = start();
    const client = await open();
    known.set('app', { ...dataset, id: 'app.2' });
    await tick();
    expect([client.read.end?.code, client.isEnded]).toEqual(['dataset_not_found', true]);
  });

  test('when the service stops', async () => {
    const { tails, settled, open } = start();
    const client = await open();
    tails.stop();
    await settled();
    expect([client.read.end?.code, client.isEnded]).toEqual(['shutting_down', true]);
    await expect(open()).rejects.toMatchObject({ code: 'shutting_down' });
  });

  test('with its query, when the last client leaves', async () => {
    const { table, timers, metrics, tick, settled, open } = start();
    const client = await open();
    await tick();
    table.inserts.push([1]);
    let release = () => {};
    table.held = new Promise((resolve) => {
      release = resolve;
    });
    await tick();
    client.leave();
    expect(table.asked[0]?.signal.aborted).toBe(true);
    release();
    await settled();
    expect(timers.count).toBe(0);
    expect((await metrics.tailStreams.get()).values[0]?.value).toBe(0);
  });
});

describe('a query that fails', () => {
  test('is tried again, if that may help', async () => {
    const { table, tick, open } = start();
    const client = await open();
    table.inserts.push([1]);
    table.failure = new AppError('store_unavailable', 'the store is away');
    await tick();
    table.failure = undefined;
    await tick();
    expect([client.numbers, client.read.skipped]).toEqual([[1], []]);
  });

  test('because it takes too much leaves its rows out', async () => {
    const { table, tick, open } = start();
    const client = await open();
    table.inserts.push([1]);
    table.failure = new AppError('query_timeout', 'too slow');
    await tick();
    table.failure = undefined;
    table.inserts.push([2]);
    await tick();
    expect([client.numbers, client.read.skipped]).toEqual([[2], [{ rows: null, reason: 'query' }]]);
  });

  test('for good ends the tail', async () => {
    const { table, tick, open } = start();
    const client = await open();
    table.inserts.push([1]);
    table.failure = new AppError('sql_unknown_column', 'the column is gone');
    await tick();
    expect([client.read.end?.code, client.isEnded]).toEqual(['sql_unknown_column', true]);
  });
});

/** An id behind the first insert of a tail of all rows. */
async function idOf(insert: number): Promise<string | undefined> {
  const { table, tick, open } = start();
  const client = await open();
  for (let n = 1; n < insert; n += 1) table.inserts.push([n]);
  await tick();
  return client.read.lastId;
}
