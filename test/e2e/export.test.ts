/** Results beyond the bounds of a query: `?export=true`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ResultFormat, resultFormats } from '../../src/query/result-format.ts';
import { enginePid } from '../support/lib/child.ts';
import { authorization, Service } from '../support/service/service.ts';

const rows = 5_000_000;
const MiB = 1024 * 1024;
/** Five million rows of about 120 bytes, which the store makes of nothing. */
const many = `select id, lpad(id::text, 100, 'x') as filler
  from (select a * 2000 + b as id from generate_series(0, 2499) a, generate_series(1, 2000) b) v`;

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service?.dispose());

const ask = (sql: string, parameters: string, options: RequestInit = {}) =>
  fetch(`${service.url}/api/v1/query?${parameters}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ query: sql }),
    ...options,
  });
const exported = (sql: string, format: ResultFormat, options: RequestInit = {}) =>
  ask(sql, `export=true&format=${format}`, options);
async function* bytesOf(reply: Response): AsyncGenerator<Uint8Array, void> {
  if (reply.body !== null) yield* reply.body as unknown as AsyncIterable<Uint8Array>;
}
const engine = () => enginePid(join(service.dataDir, 'store'));
const problemOf = async (reply: Response) =>
  (await reply.json()) as Record<string, unknown> & { readonly code: string; readonly detail: string };
const isOver = async () => {
  const reply = await exported('select 1 as x', 'ndjson');
  await reply.text();
  return reply.status;
};
/** Memory of a process, bytes. */
const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

describe('a result that is too large', () => {
  test.each(['json', 'ndjson', 'csv'] as const)('%s that breaks off ends with the reason', async (format) => {
    const reply = await ask(many, `format=${format}`);
    expect(reply.status).toBe(200);
    let end = '';
    const read = (async () => {
      for await (const part of bytesOf(reply))
        end = (end + Buffer.from(part).toString('latin1')).slice(-1000);
    })();
    await expect(read).rejects.toThrow();
    const reason = JSON.parse(end.trimEnd().split('\n').at(-1) ?? '') as {
      error: { code: string; detail: string };
    };
    expect(reason.error.code).toBe('query_result_too_large');
    expect(reason.error.detail).toMatch(
      /^the result has more than 1,000,000 rows; it had 1\.\d+ million rows/,
    );
  });
});

describe('an export', () => {
  test('gives all rows, and neither process holds them', async () => {
    await (await ask('select 1 as x', 'format=ndjson')).text();
    const pids = [service.child.pid, engine()].filter((pid) => pid !== undefined);
    expect(pids).toHaveLength(2);
    const before = pids.map(residentBytes);
    const grown = [0, 0];
    let [bytes, lines, looked] = [0, 0, 0];
    const reply = await exported(many, 'ndjson');
    expect(reply.status).toBe(200);
    for await (const part of bytesOf(reply)) {
      bytes += part.byteLength;
      for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) lines += 1;
      if (bytes < looked + 16 * MiB) continue;
      looked = bytes;
      for (const [index, pid] of pids.entries()) {
        grown[index] = Math.max(grown[index] ?? 0, residentBytes(pid) - (before[index] ?? 0));
      }
    }
    expect(lines).toBe(rows);
    expect(bytes).toBeGreaterThan(600 * MiB);
    for (const each of grown) expect(each).toBeLessThan(200 * MiB);
  });

  test('sorts on disk what does not fit its memory', async () => {
    const reply = await exported(`select id from (${many}) v order by filler desc, id`, 'csv');
    expect([reply.status, reply.ok ? '' : await reply.text()]).toEqual([200, '']);
    let [count, first] = [-1, ''];
    for await (const part of bytesOf(reply)) {
      if (first.length < 100) first += Buffer.from(part).toString('latin1');
      for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) count += 1;
    }
    expect(count).toBe(rows);
    expect(first.split('\n').slice(1, 3)).toEqual(['9', '8']);
  });

  test('one of a user at a time; it ends when its client leaves, and others can query meanwhile', async () => {
    const client = new AbortController();
    const reply = await exported(many, 'ndjson', { signal: client.signal });
    const reader = bytesOf(reply);
    await reader.next();
    const second = await exported('select 1 as x', 'ndjson');
    expect([second.status, (await problemOf(second)).code]).toEqual([503, 'overloaded']);
    expect(second.headers.get('retry-after')).not.toBeNull();
    expect(await service.query('select 1 as x')).toEqual([{ x: 1 }]);
    client.abort();
    await expect.poll(isOver).toBe(200);
    expect(
      await service.query("select count(*) as n from millrace_audit where audit = 'query.export'"),
    ).toEqual([{ n: expect.any(Number) }]);
  });

  test('needs a privilege, on each dataset that it reads', async () => {
    await service.ingest('mine', [{ a: 1 }]);
    await service.ingest('other', [{ a: 1 }]);
    const admin = (method: string, path: string, body: unknown) =>
      fetch(service.url + path, {
        method,
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const keyWith = async (name: string, privileges: unknown) => {
      expect((await admin('PUT', `/api/v1/role/${name}`, privileges)).status).toBe(200);
      const made = await admin('POST', '/api/console/v1/apikeys', { keyName: name, roles: [name] });
      return ((await made.json()) as { apiKey: string }).apiKey;
    };
    const reader = { privilege: 'reader' };
    const readerKey = await keyWith('plain', [reader]);
    const exporterKey = await keyWith('exports', [
      reader,
      { privilege: 'exporter', resource: { dataset: 'mine' } },
    ]);
    const status = async (key: string, sql: string) => {
      const reply = await exported(sql, 'ndjson', {
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
      });
      return [reply.status, await reply.text()];
    };
    expect((await status(readerKey, 'select a from mine'))[0]).toBe(403);
    expect(await status(exporterKey, 'select a from mine')).toEqual([200, '{"a":1}\n']);
    const [refused, why] = await status(exporterKey, 'select m.a from mine m, other o');
    expect([refused, why]).toEqual([403, expect.stringContaining('other')]);
    await expect
      .poll(() =>
        service.query(
          "select audit, target, by_name, code from millrace_audit where by_name in ('plain', 'exports') order by by_name, audit",
        ),
      )
      .toEqual([
        { audit: 'denied', target: '', by_name: 'exports', code: 'forbidden' },
        { audit: 'query.export', target: 'mine', by_name: 'exports', code: '' },
        { audit: 'denied', target: '', by_name: 'plain', code: 'forbidden' },
      ]);
  });

  test.each(['json', 'parquet', 'arrow'] as const)('%s of a query that fails has no end', async (format) => {
    const reply = await exported(`select id, filler, 1 / (id - 4000000) as x from (${many}) v`, format);
    expect(reply.status).toBe(200);
    let end = Buffer.alloc(0);
    const read = (async () => {
      for await (const part of bytesOf(reply)) end = Buffer.concat([end, part]).subarray(-10_000);
    })();
    await expect(read).rejects.toThrow();
    const ends = { json: /\]\s*(\n\{"error".*\}\n)?$/, parquet: /PAR1$/, arrow: /\xff{4}\0{4}$/ };
    expect(end.toString('latin1')).not.toMatch(ends[format]);
  });

  test.each(resultFormats)('%s that is cut short is no whole document', async (format) => {
    const reply = await exported(many, format);
    expect(reply.status).toBe(200);
    let bytes = 0;
    const read = (async () => {
      for await (const part of bytesOf(reply)) {
        if (bytes === 0) process.kill(engine(), 'SIGKILL');
        bytes += part.byteLength;
      }
    })();
    // What HTTP says: the last chunk is missing.
    await expect(read).rejects.toThrow();
    await expect.poll(isOver).toBe(200);
  });
});
