import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { InsertBatch, Store } from '../../../src/clickhouse/store.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { parseClickHouseUrl } from '../../../src/lib/clickhouse-url.ts';
import { limits } from '../../../src/limits/limits.ts';
import { ClickHouseServer, openStoreOn } from '../../support/clickhouse/clickhouse-server.ts';
import { eventBlocks } from '../../support/clickhouse/event-blocks.ts';
import { type TestStore, testStore } from '../../support/clickhouse/test-store.ts';
import { onPath, removeFolder, temporaryFolder } from '../../support/lib/child.ts';
import { sayIfSkipped } from '../../support/lib/skipped.ts';

let server: ClickHouseServer;
let test: TestStore;
beforeAll(async () => {
  server = await ClickHouseServer.start();
  test = testStore(openStoreOn(server), () => server.dispose());
});
afterAll(() => test.close());

async function makeDataset(name: string, store = test.store): Promise<void> {
  for (const statement of datasetStatements('default', name, 'events')) await store.command(statement);
  await store.command(`ALTER TABLE t_default.\`${name}.events\` ADD COLUMN \`n:num\` Nullable(Float64)`);
}

function batch(dataset: string, token: string, ...numbers: number[]): InsertBatch {
  const blocks = eventBlocks(numbers.map((n) => ({ n })));
  return {
    database: 't_default',
    table: `${dataset}.events`,
    columns: blocks[0]?.columns ?? [],
    token,
    blocks: blocks.map((block) => block.bytes),
  };
}

const stored = async (dataset: string, { rows } = test) =>
  (await rows<{ n: number }>(`SELECT \`n:num\` AS n FROM t_default.\`${dataset}.events\` ORDER BY n`)).map(
    ({ n }) => n,
  );

/** A second store on the same server, closed at the end of the test. */
function another(options: Parameters<typeof openStoreOn>[1]): Store {
  const store = openStoreOn(server, options);
  onTestFinished(() => store.close());
  return store;
}

const unreachable = { name: 'StoreError', clickHouseCode: undefined, retryable: true };

describe('answers', () => {
  it('with an error carry the code of ClickHouse, whether it is worth another try or not', async () => {
    await makeDataset('codes');
    await server.expect({ kind: 'error', code: 252, name: 'TOO_MANY_PARTS' }, /codes/);
    const full = test.store.insert(batch('codes', 'a', 1));
    await expect(full).rejects.toMatchObject({ clickHouseCode: 252, retryable: true });
    await expect(test.store.command('SELECT nothing')).rejects.toMatchObject({
      clickHouseCode: 47,
      retryable: false,
      message: expect.stringContaining('UNKNOWN_IDENTIFIER'),
    });
  });

  it('of somebody else, such as a proxy, are no answer of ClickHouse', async () => {
    await server.expect({ kind: 'status', status: 404 }, /^SELECT/);
    await expect(test.rows('SELECT 1')).rejects.toMatchObject({
      ...unreachable,
      message: expect.stringContaining('HTTP status 404: <h1>not ClickHouse</h1>'),
    });
  });

  it('that break off with an exception after a 200 are failures with its code', async () => {
    await server.expect({ kind: 'stream' }, /^SELECT number/);
    const failing = 'SELECT number, throwIf(number = 1500000) FROM numbers(2000000)';
    await expect(test.rows(failing, { settings: { max_block_size: 65_536 } })).rejects.toMatchObject({
      clickHouseCode: 395,
      message: expect.stringMatching(/^Code: 395\. .*\(FUNCTION_THROW_IF_VALUE_IS_NON_ZERO\)$/),
    });
  });

  it('that break off without a word are failures, too', async () => {
    await server.expect({ kind: 'cut', when: 'within' }, /^SELECT number/);
    await expect(test.rows('SELECT number FROM numbers(1000)')).rejects.toMatchObject(unreachable);
  });

  it('that are sent as they are made come whole', async () => {
    await server.expect({ kind: 'stream' }, /^SELECT number/);
    const rows = await test.rows('SELECT number FROM numbers(300000)', {
      settings: { max_block_size: 1000 },
    });
    expect(rows).toHaveLength(300_000);
    expect(await server.faultsLeft()).toBe(0);
  });

  it('may hold what looks like the end of a failed one', async () => {
    const text =
      '\r\n__exception__\r\n0123456789abcdef\r\nCode: 1. x\n11 0123456789abcdef\r\n__exception__\r\n';
    expect(await test.rows(`SELECT unhex('${Buffer.from(text).toString('hex')}') AS x`)).toEqual([
      { x: text },
    ]);
  });
});

describe('the way to the server', () => {
  it('is named when nobody listens, without its secrets', async () => {
    const down = await ClickHouseServer.prepare();
    const store = openStoreOn(down);
    const failure = await store.command('SELECT 1').catch((error: unknown) => error);
    expect(failure).toMatchObject({
      ...unreachable,
      message: expect.stringContaining(`no answer from ClickHouse at http://127.0.0.1:${down.port}: connect`),
    });
    expect(JSON.stringify(failure) + String(failure)).not.toContain('secret');
    await store.close();
    await down.dispose();
  });

  it('needs the right password; a wrong one may be set right, so nothing is given up', async () => {
    const wrong = another({ address: { ...server.address, password: 'wrong' } });
    await expect(wrong.insert(batch('codes', 'b', 1))).rejects.toMatchObject({
      clickHouseCode: 516,
      retryable: true,
    });
  });

  it('may be cut before an insert arrives or after it was stored: repeated, it is there once', async () => {
    await makeDataset('cut');
    for (const [token, when] of [
      ['cut-1', 'before'],
      ['cut-2', 'after'],
    ] as const) {
      const insert = () => test.store.insert(batch('cut', token, ...(when === 'before' ? [1] : [2, 3])));
      await server.expect({ kind: 'cut', when }, /^INSERT/);
      await expect(insert()).rejects.toMatchObject(unreachable);
      expect(await stored('cut')).toEqual(when === 'before' ? [] : [1, 2, 3]);
      await insert();
    }
    expect(await stored('cut')).toEqual([1, 2, 3]);
  });

  it('may hang: the wait ends, and an insert that runs twice in the end is there once', async () => {
    await makeDataset('hung');
    const impatient = another({ insertTimeoutMs: 300 });
    const insert = () => impatient.insert(batch('hung', 'hung-1', 1, 2));
    server.pause();
    try {
      await expect(insert()).rejects.toMatchObject(unreachable);
      await expect(insert()).rejects.toMatchObject(unreachable);
    } finally {
      server.resume();
    }
    await test.store.insert(batch('hung', 'hung-1', 1, 2));
    expect(await stored('hung')).toEqual([1, 2]);
  });

  it('lets go of an insert that nobody waits for any more', async () => {
    const waiting = new AbortController();
    server.pause();
    try {
      const insert = test.store.insert(batch('hung', 'hung-2', 3), waiting.signal);
      setTimeout(() => waiting.abort(), 100);
      await expect(insert).rejects.toMatchObject(unreachable);
    } finally {
      server.resume();
    }
  });

  it('carries several inserts at the same time', async () => {
    await makeDataset('parallel');
    // They hang until all of them are there, and longer than a machine may need for that.
    const fault = { kind: 'delay', ms: 5000, when: 'before' } as const;
    await server.expect(fault, /^INSERT/, limits.maxParallelInserts);
    const numbers = Array.from({ length: limits.maxParallelInserts }, (_, n) => n);
    let answered = 0;
    const inserts = numbers.map(async (n) => {
      await test.store.insert(batch('parallel', `parallel-${n}`, n));
      answered += 1;
    });
    await vi.waitUntil(async () => (await server.faultsLeft()) === 0 || answered > 0, { timeout: 60_000 });
    expect(answered).toBe(0);
    await Promise.all(inserts);
    expect(await stored('parallel')).toEqual(numbers);
  });

  it('can be narrow: requests are compressed if the address says so', async () => {
    await makeDataset('gzip');
    const compressed = another({ address: parseClickHouseUrl(`${server.url}?compression=gzip`) });
    await compressed.insert(batch('gzip', 'gzip-1', 1, 2));
    expect(await stored('gzip')).toEqual([1, 2]);
  });

  it('survives a kill of the server: what is repeated is there once', async () => {
    await makeDataset('killed');
    await test.store.insert(batch('killed', 'killed-1', 1));
    await server.kill();
    await expect(test.store.insert(batch('killed', 'killed-2', 2))).rejects.toMatchObject(unreachable);
    await server.start();
    for (const n of [1, 2]) await test.store.insert(batch('killed', `killed-${n}`, n));
    expect(await stored('killed')).toEqual([1, 2]);
  });
});

const opensslProblem = onPath('openssl')
  ? undefined
  : 'openssl, which makes the certificate, is not on the PATH';
sayIfSkipped('HTTPS', opensslProblem);
describe.skipIf(opensslProblem !== undefined)('HTTPS', () => {
  it('takes the authority from the address, and no server without', async () => {
    const folder = temporaryFolder('certificate');
    onTestFinished(() => removeFolder(folder));
    const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const subject = ['-subj', '/CN=store', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const files = ['-keyout', keyFile, '-out', certFile];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], {
      stdio: 'ignore',
    });
    const secure = await ClickHouseServer.prepare({ tls: { certFile, keyFile } });
    await secure.start();
    onTestFinished(() => secure.dispose());
    const trusting = testStore(
      openStoreOn(secure, { address: parseClickHouseUrl(`${secure.url}?ca=${certFile}`) }),
      async () => {},
    );
    await makeDataset('secure', trusting.store);
    await trusting.store.insert(batch('secure', 'secure-1', 1));
    expect(await stored('secure', trusting)).toEqual([1]);
    await trusting.close();

    const distrustful = openStoreOn(secure);
    await expect(distrustful.command('SELECT 1')).rejects.toMatchObject({
      ...unreachable,
      message: expect.stringContaining('self-signed certificate'),
    });
    await distrustful.close();
  });
});
