import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { removeFolder, temporaryFolder } from '../../support/lib/child.ts';
import { seededRandom } from '../../support/lib/random.ts';
import { testSeed } from '../../support/lib/seed.ts';
import { buildWriteRequest } from '../../support/remote-write/remote-write-requests.ts';
import { authorization, Service } from '../../support/service/service.ts';

interface Answer {
  readonly status: number;
  readonly replayed: string | null;
  readonly body: unknown;
}

async function post(
  service: Service,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
  signal?: AbortSignal,
): Promise<Answer> {
  const reply = await fetch(service.url + path, {
    method: 'POST',
    headers: { authorization, ...headers },
    body: Buffer.from(body),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: reply.status, replayed: reply.headers.get('millrace-replayed'), body: await reply.json() };
}

const write = (service: Service, dataset: string, body: Uint8Array, signal?: AbortSignal) =>
  post(
    service,
    '/v1/prometheus/write',
    { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy', 'x-p-stream': dataset },
    body,
    signal,
  );

const ingest = (service: Service, dataset: string, events: unknown, key?: string) =>
  post(
    service,
    '/api/v1/ingest',
    {
      'content-type': 'application/json',
      'x-p-stream': dataset,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    typeof events === 'string' ? events : JSON.stringify(events),
  );

const timestampMs = Date.now();
/** A request of ten samples, or more, that no other request holds. */
const samples = (number: number, count = 10): Uint8Array =>
  buildWriteRequest(
    Array.from({ length: count }, (_, item) => ({
      labels: { __name__: 'replayed', item: String(item) },
      samples: [{ value: number, timestampMs: timestampMs + number }],
    })),
  );

const countOf = async (service: Service, dataset: string): Promise<number> => {
  await service.drained();
  const [row] = await service.query(`SELECT count(*) AS n FROM ${dataset}`);
  return Number(row?.['n']);
};

const restarts = {
  // The log is not sealed for a minute: the identity is in the log.
  'SIGKILL right after the reply': { flushMs: '60000', drain: false, signal: 'SIGKILL' },
  // The segment is gone: the identity is in the journal.
  'SIGKILL when the store has it': { flushMs: '100', drain: true, signal: 'SIGKILL' },
  SIGTERM: { flushMs: '60000', drain: false, signal: 'SIGTERM' },
} as const;

describe('a running service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '100' } });
  });
  afterAll(() => service.dispose());

  test('stores a repeated remote write once, and says so', async () => {
    expect(await write(service, 'twice', samples(1))).toEqual({
      status: 200,
      replayed: null,
      body: { samples: 10, histograms: 0, exemplars: 0, metadata: 0 },
    });
    expect(await write(service, 'twice', samples(1))).toEqual({
      status: 200,
      replayed: 'true',
      body: { samples: 10, histograms: 0, exemplars: 0, metadata: 0 },
    });
    await service.drained();
    expect(await write(service, 'twice', samples(1))).toMatchObject({ replayed: 'true' });
    expect(await write(service, 'twice', samples(2))).toMatchObject({ replayed: null });
    expect(await countOf(service, 'twice')).toBe(20);
    expect(await service.metric('millrace_ingest_replayed_requests_total')).toBeGreaterThanOrEqual(2);
  });

  test('stores the same bytes for another dataset', async () => {
    await write(service, 'here', samples(1));
    expect(await write(service, 'there', samples(1))).toMatchObject({ replayed: null });
    expect([await countOf(service, 'here'), await countOf(service, 'there')]).toEqual([10, 10]);
  });

  test('stores one of many that come at the same time', async () => {
    // So many that the first is still being decoded when the others arrive.
    const body = samples(1, 20_000);
    const answers = await Promise.all(Array.from({ length: 20 }, () => write(service, 'twins', body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect(await countOf(service, 'twins')).toBe(20_000);
  });

  test('stores a request once although its sender left before the reply and came again', async () => {
    for (let number = 0; number < 20; number += 1) {
      const leave = new AbortController();
      const first = write(service, 'went', samples(number), leave.signal);
      // From before the body has arrived to after the reply.
      await sleep(number / 4);
      leave.abort();
      await Promise.allSettled([first]);
      expect((await write(service, 'went', samples(number))).status).toBe(200);
    }
    expect(await countOf(service, 'went')).toBe(200);
  });

  test('stores equal JSON twice without a key, and once with one', async () => {
    await ingest(service, 'plain', [{ a: 1 }]);
    expect(await ingest(service, 'plain', [{ a: 1 }])).toMatchObject({ replayed: null });
    expect(await countOf(service, 'plain')).toBe(2);
    await ingest(service, 'keyed', [{ a: 1 }, { a: 2 }], '"k1"');
    const again = await ingest(service, 'keyed', [{ a: 1 }, { a: 2 }], 'k1');
    expect(again).toEqual({ status: 200, replayed: 'true', body: { accepted: 2 } });
    expect(await ingest(service, 'keyed', [{ a: 1 }, { a: 2 }], 'k2')).toMatchObject({ replayed: null });
    expect(await countOf(service, 'keyed')).toBe(4);
  });

  test('refuses another body under a key that was used, and takes it under a new one', async () => {
    await ingest(service, 'reused', [{ a: 1 }], 'k');
    const other = await ingest(service, 'reused', [{ a: 2 }], 'k');
    expect(other).toMatchObject({ status: 422, replayed: null, body: { code: 'idempotency_key_reused' } });
    expect(await ingest(service, 'reused', [{ a: 2 }], 'l')).toMatchObject({ status: 200 });
    expect(await countOf(service, 'reused')).toBe(2);
  });

  test('leaves a key free that came with a request that failed', async () => {
    expect(await ingest(service, 'failed', '[{"a":', 'k')).toMatchObject({ status: 400 });
    expect(await ingest(service, 'failed', [{ a: 1 }], 'k')).toMatchObject({ status: 200, replayed: null });
    expect(await countOf(service, 'failed')).toBe(1);
  });

  test('refuses a key that is none', async () => {
    expect(await ingest(service, 'never', [{ a: 1 }], '"open')).toMatchObject({
      status: 400,
      body: { code: 'bad_header' },
    });
  });
});

describe.each(Object.entries(restarts))('after %s and a restart', (_, { flushMs, drain, signal }) => {
  test('a repetition is known', async () => {
    const dataDir = temporaryFolder('replay');
    onTestFinished(() => removeFolder(dataDir));
    const life = async (intervalMs: string) => {
      const service = await Service.start({ dataDir, env: { MILLRACE_FLUSH_INTERVAL_MS: intervalMs } });
      onTestFinished(() => service.dispose());
      return service;
    };
    const first = await life(flushMs);
    await write(first, 'metrics', samples(1));
    await ingest(first, 'events', [{ a: 1 }], 'k');
    if (drain) await first.drained();
    if (signal === 'SIGKILL') await first.kill();
    else expect(await first.stop(signal)).toEqual({ code: 0, signal: null });
    const service = await life('100');
    expect(await write(service, 'metrics', samples(1))).toEqual({
      status: 200,
      replayed: 'true',
      body: { samples: 10, histograms: 0, exemplars: 0, metadata: 0 },
    });
    expect(await ingest(service, 'events', [{ a: 1 }], 'k')).toMatchObject({
      replayed: 'true',
      body: { accepted: 1 },
    });
    expect(await ingest(service, 'events', [{ a: 2 }], 'k')).toMatchObject({ status: 422 });
    expect(await write(service, 'metrics', samples(2))).toMatchObject({ replayed: null });
    expect([await countOf(service, 'metrics'), await countOf(service, 'events')]).toEqual([20, 1]);
  });
});

test('a repetition after the window is a new request', async () => {
  const service = await Service.start({
    env: { MILLRACE_REPLAY_WINDOW_MS: '1000', MILLRACE_FLUSH_INTERVAL_MS: '100' },
  });
  onTestFinished(() => service.dispose());
  await ingest(service, 'short', [{ a: 1 }], 'k');
  await sleep(1100);
  expect(await ingest(service, 'short', [{ a: 1 }], 'k')).toMatchObject({ replayed: null });
  expect(await countOf(service, 'short')).toBe(2);
});

test('senders that repeat what was not answered before a SIGKILL find it stored once', async () => {
  const seed = testSeed;
  const random = seededRandom(seed);
  const service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '100' } });
  onTestFinished(() => service.dispose());
  await write(service, 'killed', samples(0));
  let sent = 1;
  let unansweredInAll = 0;
  let replayed = 0;
  for (let round = 0; round < 3; round += 1) {
    const unanswered = new Set<number>();
    let killed = false;
    const sender = async () => {
      while (!killed) {
        const number = sent++;
        unanswered.add(number);
        const answer = await write(service, 'killed', samples(number)).catch(() => undefined);
        if (answer?.status === 200) unanswered.delete(number);
      }
    };
    const senders = Array.from({ length: 8 }, sender);
    await sleep(random.integer(20, 600));
    killed = true;
    await service.kill();
    await Promise.all(senders);
    await service.restart();
    unansweredInAll += unanswered.size;
    for (const number of unanswered) {
      const answer = await write(service, 'killed', samples(number));
      expect(answer.status, `seed ${seed}`).toBe(200);
      if (answer.replayed !== null) replayed += 1;
    }
  }
  await service.drained();
  const rows = await service.query(
    'SELECT value, count(*) AS n, count(DISTINCT item) AS different FROM killed GROUP BY value HAVING count(*) <> 10 OR count(DISTINCT item) <> 10',
  );
  expect(
    rows,
    `seed ${seed}, ${sent} requests, ${unansweredInAll} unanswered, ${replayed} of them stored`,
  ).toEqual([]);
  expect(await countOf(service, 'killed'), `seed ${seed}`).toBe(10 * sent);
  expect(unansweredInAll, `seed ${seed}`).toBeGreaterThan(0);
}, 120_000);
