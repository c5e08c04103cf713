import { existsSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { Cancellation, type CancelSignal } from '../../../src/lib/cancellation.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { limits } from '../../../src/limits/limits.ts';
import { type AnsweredReply, TranslationPool } from '../../../src/query/translation-pool.ts';
import type { AnswerCatalog } from '../../../src/query/translation-thread.ts';
import { noParameters } from '../../../src/sql/parameters.ts';
import type { DatasetAnswer } from '../../../src/sql/translation/translation-messages.ts';

const worker = new URL('../../../dist/workers/translate.js', import.meta.url);
/** Has tasks that take too much, too. */
const greedyWorker = new URL('../../support/sql/greedy-translator.mjs', import.meta.url);

const open: TranslationPool[] = [];
function createPool(
  options: Partial<ConstructorParameters<typeof TranslationPool>[0]> = {},
): TranslationPool {
  const pool = new TranslationPool({
    worker,
    version: '1.2.3',
    threads: 2,
    shared: false,
    maxCpuMs: 5000,
    clock: systemClock,
    log: createLogger('silent'),
    ...options,
  });
  open.push(pool);
  return pool;
}

beforeAll(() => {
  if (!existsSync(worker)) throw new Error('dist/ is missing: npm run build');
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()));
});

/** There are no datasets but `app`. */
const answerCatalog: AnswerCatalog = async (question, post) => {
  const names = question.about === 'names' ? [{ name: 'app', kind: 'events' as const }] : [];
  const asked = question.about === 'datasets' ? question.datasets : [];
  const datasets = asked.map(
    ({ name, state }): DatasetAnswer =>
      name === 'app'
        ? {
            ...{ name, id: name, kind: 'readable', holds: 'events', ready: true, rows: 'all', state: 1 },
            columns: state === 1 ? undefined : ['level:str'],
          }
        : { name, kind: 'absent' },
  );
  post({ names, datasets, sizes: [], error: undefined, isLast: true });
};

interface Asker {
  readonly tenant?: string;
  readonly identity?: string;
  readonly signal?: CancelSignal;
}

const ask = (
  pool: TranslationPool,
  text: string,
  { tenant = 'default', identity = 'user a', signal }: Asker = {},
): Promise<AnsweredReply> =>
  pool.run({
    task: { text, tenant, readable: 1, range: { start: false, end: false }, parameters: noParameters },
    identity,
    answerCatalog,
    signal,
  });

/** `translated`, or the code of the error that the client gets. */
const outcome = (reply: Promise<AnsweredReply>): Promise<unknown> =>
  reply.then(
    (answered) => (answered.kind === 'refused' ? answered.error.code : answered.kind),
    (thrown: unknown) => (thrown instanceof AppError ? thrown.code : thrown),
  );

describe('translation in threads', () => {
  test('parses, resolves and prints', async () => {
    const reply = await ask(createPool(), 'select level, version() as v from app');
    expect(reply).toMatchObject({
      kind: 'translated',
      translation: {
        datasets: ['app'],
        columns: [{ name: 'level', type: { label: 'text' } }, { name: 'v' }],
      },
    });
  });

  test('answers queries that arrive together, each with its own answer', async () => {
    const pool = createPool();
    const texts = Array.from({ length: 50 }, (_, index) => `select ${index} as x${index}`);
    const replies = await Promise.all(
      texts.map((text, index) => ask(pool, text, { identity: String(index % 3) })),
    );
    const names = replies.map((reply) =>
      reply.kind === 'translated' ? reply.translation.columns[0]?.name : undefined,
    );
    expect(names).toEqual(texts.map((_, index) => `x${index}`));
  });

  test('an error in a query keeps its place, and the thread', async () => {
    const pool = createPool();
    expect(await ask(pool, 'select 1\nfrm x y')).toMatchObject({
      kind: 'refused',
      error: { code: 'sql_syntax', details: { line: 2, column: 5 } },
    });
    expect(await ask(pool, 'select 1,\n nosuch from app')).toMatchObject({
      kind: 'refused',
      error: { code: 'sql_unknown_column', details: { line: 2, column: 2 } },
      relations: ['app'],
    });
    expect(await outcome(ask(pool, 'select 1'))).toBe('translated');
  });

  test.each([
    ['a chain of operators', `select ${'1+'.repeat(100_000)}1`],
    ['parentheses', `select ${'('.repeat(100_000)}1${')'.repeat(100_000)}`],
    ['subqueries', `${'select ('.repeat(20_000)}select 1${')'.repeat(20_000)}`],
    ['many comments', `select 1${'/**/'.repeat(60_000)}`],
    ['open comments', `select 1${'/*'.repeat(100_000)}`],
    ['negations', `select ${'not '.repeat(60_000)}true`],
    ['joins', `select 1 from a${' join a on true'.repeat(15_000)}`],
    ['CASE', `select ${'case when true then '.repeat(10_000)}1${' end'.repeat(10_000)}`],
  ])('%s of 200 KB: a refusal, and later queries work', async (_, hostile) => {
    const pool = createPool();
    const code = await outcome(ask(pool, hostile));
    expect(['sql_too_large', 'sql_too_complex', 'sql_syntax']).toContain(code);
    expect(await outcome(ask(pool, 'select 1'))).toBe('translated');
  });

  test('as many comments as are allowed are translated', async () => {
    const comments = '/**/'.repeat(limits.maxSqlComments);
    expect(await outcome(ask(createPool(), `select 1${comments}`))).toBe('translated');
    expect(await outcome(ask(createPool(), `select 1${comments}/**/`))).toBe('sql_too_large');
  });

  test('a wide query of 100 KB is translated', async () => {
    const text = `select 1 in (${'1,'.repeat(50_000)}1)`;
    expect(await outcome(ask(createPool(), text))).toBe('translated');
  });

  test('a thread that cannot start is an error for each query, not a hang', async () => {
    const pool = createPool({ worker: new URL('file:///nowhere.js') });
    await expect(ask(pool, 'select 1')).rejects.toThrow('cannot be started');
    await expect(ask(pool, 'select 1')).rejects.toThrow('cannot be started');
  });

  test('what the catalog says instead of an answer is what the client is told', async () => {
    const pool = createPool();
    const error = { code: 'store_unavailable', message: 'it is not known', details: undefined } as const;
    const task = {
      text: 'select 1 from app',
      tenant: 'default',
      readable: 1,
      range: { start: false, end: false },
      parameters: noParameters,
    };
    const refused = pool.run({
      task,
      identity: 'user a',
      answerCatalog: async (_, post) =>
        void post({ datasets: [], names: [], sizes: [], error, isLast: true }),
    });
    expect(await refused).toMatchObject({ kind: 'refused', error });
    const failed = pool.run({
      task,
      identity: 'user a',
      answerCatalog: () => Promise.reject(new Error('a bug')),
    });
    await expect(failed).rejects.toThrow('the catalog did not answer: a bug');
    expect(await outcome(ask(pool, 'select 1 from app'))).toBe('translated');
  });
});

describe('a query that takes too much', () => {
  test.each([
    ['cpu', 200, /more than 200 ms of CPU time/],
    ['heap', 60_000, /memory limit/],
    ['exit', 60_000, /exited/],
    ['broken', 60_000, /call stack/],
  ])('%s: is refused, and others are answered', async (text, maxCpuMs, reason) => {
    const pool = createPool({ worker: greedyWorker, maxCpuMs });
    const refused = ask(pool, text, { identity: 'hostile' }).catch((thrown: unknown) => thrown);
    const others = Array.from({ length: 20 }, () => outcome(ask(pool, 'select 1', { identity: 'other' })));
    expect(await Promise.all(others)).toEqual(Array(20).fill('translated'));
    const message: unknown = expect.stringMatching(reason);
    expect(await refused).toMatchObject({ code: 'sql_too_complex', message });
    expect(await outcome(ask(pool, 'select 1', { identity: 'hostile' }))).toBe('translated');
  });

  test('a query that sleeps without CPU time holds its thread, and nobody else waits for it', async () => {
    const pool = createPool({ worker: greedyWorker });
    const sleeping = outcome(ask(pool, 'sleep', { identity: 'hostile' }));
    for (let round = 0; round < 20; round += 1)
      expect(await outcome(ask(pool, 'select 1', { identity: 'other' }))).toBe('translated');
    await pool.close();
    // The latter on a machine that is so busy that all of this took 15 s.
    expect(['shutting_down', 'sql_too_complex']).toContain(await sleeping);
  });

  test('a bug is no fault of the query', async () => {
    const pool = createPool({ worker: greedyWorker });
    await expect(ask(pool, 'bug')).rejects.toThrow('undefined is not what it should be');
    expect(await outcome(ask(pool, 'select 1'))).toBe('translated');
  });

  test('a thread that holds much memory outside of its heap is replaced after its answer', async () => {
    const pool = createPool({ worker: greedyWorker });
    for (let round = 0; round < 5; round += 1)
      expect(await outcome(ask(pool, 'external'))).toBe('translated');
    expect(await outcome(ask(pool, 'select 1'))).toBe('translated');
  });

  test('whoever sent it comes after all others, for a while', async () => {
    let laterMs = 0;
    const clock = { monotonicMs: () => systemClock.monotonicMs() + laterMs, after: systemClock.after };
    const pool = createPool({ worker: greedyWorker, maxCpuMs: 200, clock });
    expect(await outcome(ask(pool, 'cpu', { identity: 'hostile' }))).toBe('sql_too_complex');
    const orderOf = async (identities: readonly string[]) => {
      const order: string[] = [];
      const send = (identity: string) =>
        outcome(ask(pool, 'select 1', { identity })).then(() => order.push(identity));
      await Promise.all(identities.map(send));
      return order;
    };
    // One thread is for these, the other is held.
    const hold = async (identity: string) => {
      const held = outcome(ask(pool, 'sleep', { identity }));
      await expect.poll(() => pool.waiting).toBe(0);
      await outcome(ask(pool, 'select 1', { identity: 'good' }));
      return { held };
    };
    const sent = ['good', 'hostile', 'hostile', 'better', 'good'];
    const { held } = await hold('holder');
    // The first finds an idle thread; the others wait.
    expect(await orderOf(sent)).toEqual(['good', 'better', 'good', 'hostile', 'hostile']);
    laterMs = limits.translationPenaltyMs;
    // For who sleeps, too, that much time has passed.
    expect(await held).toBe('sql_too_complex');
    await hold('another');
    expect(await orderOf(sent)).toEqual(['good', 'hostile', 'better', 'good', 'hostile']);
  });

  test('all who have sent such together never have all threads', async () => {
    const pool = createPool({ worker: greedyWorker, maxCpuMs: 100 });
    for (const identity of ['a', 'b'])
      expect(await outcome(ask(pool, 'cpu', { identity }))).toBe('sql_too_complex');
    const sleeping = ['a', 'b'].map((identity) => outcome(ask(pool, 'sleep', { identity })));
    expect(await outcome(ask(pool, 'select 1', { identity: 'good' }))).toBe('translated');
    expect(pool.waiting).toBe(1);
    await pool.close();
    expect(await Promise.all(sleeping)).toEqual(Array(2).fill('shutting_down'));
  });
});

describe('whose turn it is', () => {
  test('one identity never has all threads, nor has one tenant', async () => {
    const pool = createPool({ worker: greedyWorker, threads: 3, shared: true });
    const sleepers = ['x', 'x', 'y', 'z'].map((identity) =>
      outcome(ask(pool, 'sleep', { tenant: 'noisy', identity })),
    );
    expect(await outcome(ask(pool, 'select 1', { tenant: 'quiet' }))).toBe('translated');
    // One each of x and y is at work, as soon as there are threads.
    await expect.poll(() => pool.waiting).toBe(2);
    expect(await outcome(ask(pool, 'select 1', { tenant: 'quiet' }))).toBe('translated');
    expect(pool.waiting).toBe(2);
    await pool.close();
    expect(await Promise.all(sleepers)).toEqual(Array(4).fill('shutting_down'));
  });

  test('where there is one tenant only, its identities share all threads', async () => {
    const pool = createPool({ worker: greedyWorker });
    const sleepers = ['x', 'x', 'y'].map((identity) => outcome(ask(pool, 'sleep', { identity })));
    await expect.poll(() => pool.waiting).toBe(1);
    await pool.close();
    await Promise.all(sleepers);
  });

  test('more queries than may wait are refused, and take no room and no turn from another', async () => {
    const pool = createPool();
    const done: string[] = [];
    const send = async (tenant: string, count: number) =>
      await Promise.all(
        Array.from({ length: count }, async () => {
          const code = await outcome(ask(pool, 'select 1', { tenant }));
          if (code === 'translated') done.push(tenant);
          return code;
        }),
      );
    const [noisy, quiet] = await Promise.all([send('noisy', limits.maxQueuedQueries + 20), send('quiet', 5)]);
    expect(new Set(noisy)).toEqual(new Set(['translated', 'overloaded']));
    expect(quiet).toEqual(Array(5).fill('translated'));
    // They take turns, and a thread may be at work for the other tenant.
    expect(done.lastIndexOf('quiet')).toBeLessThanOrEqual(2 * 5 + 2);
    expect(done.length).toBeGreaterThan(20);
  });

  test('who leaves gives up its place', async () => {
    const pool = createPool({ worker: greedyWorker });
    const sleeping = outcome(ask(pool, 'sleep'));
    const leaving = new Cancellation();
    const left = outcome(ask(pool, 'select 1', { signal: leaving }));
    expect(pool.waiting).toBeGreaterThan(0);
    leaving.cancel();
    expect(await left).toBe('query_cancelled');
    expect(await outcome(ask(pool, 'select 1', { signal: leaving }))).toBe('query_cancelled');
    await pool.close();
    expect(await sleeping).toBe('shutting_down');
    expect(pool.waiting).toBe(0);
  });

  test('after close, queries are refused', async () => {
    const pool = createPool();
    await ask(pool, 'select 1');
    await pool.close();
    expect(await outcome(ask(pool, 'select 1'))).toBe('shutting_down');
  });
});
