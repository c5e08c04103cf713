import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { otlpBody } from '../support/otlp/numbered-otlp.ts';
import { authorization, Service, UnexpectedReply } from '../support/service/service.ts';

/** Datasets whose names have dots and begin with digits, in each place that takes a name. */
let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '100' } });
}, 60_000);
afterAll(() => service?.dispose());

const send = async (method: string, path: string, body?: unknown) => {
  const reply = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return [reply.status, await reply.text()] as const;
};
const detailOf = async (sql: string): Promise<string> => {
  const refused: unknown = await service.query(sql).catch((error: unknown) => error);
  return refused instanceof UnexpectedReply ? refused.body : '';
};

describe.each(['nginx.access-2024.01.01', '2024-logs', 'k8s.pod', '7', 'app.2'])('%s', (name) => {
  it('is written, asked for, described, limited, deleted and made anew', async () => {
    expect(await service.ingest(name, [{ id: 1 }, { id: 2 }])).toBe(2);
    await service.drained();
    expect(await service.query(`SELECT count(*) AS n FROM "${name}"`)).toEqual([{ n: 2 }]);
    expect(await service.query(`SELECT count(*) AS n FROM public."${name}" p`)).toEqual([{ n: 2 }]);
    expect(JSON.parse((await send('GET', '/logstream'))[1])).toContainEqual({ name });
    const retention = [{ description: '', action: 'delete', duration: '30d' }];
    expect((await send('PUT', `/logstream/${name}/retention`, retention))[0]).toBe(200);
    expect(JSON.parse((await send('GET', `/logstream/${name}/retention`))[1])).toEqual(retention);
    expect((await send('PUT', `/logstream/${name}/limits`, { maxColumns: 20 }))[0]).toBe(200);
    expect(JSON.parse((await send('GET', `/logstream/${name}/stats`))[1])).toMatchObject({ stream: name });
    const counts = { stream: name, startTime: '1h', endTime: 'now', numBins: 1 };
    expect(JSON.parse((await send('POST', '/counts', counts))[1])).toMatchObject({ records: [{ count: 2 }] });
    expect((await send('DELETE', `/logstream/${name}`))[0]).toBe(200);
    expect(await service.ingest(name, [{ id: 3 }])).toBe(1);
    await service.drained();
    expect(await service.query(`SELECT id FROM "${name}"`)).toEqual([{ id: 3 }]);
    await service.kill();
    await service.restart();
    expect(await service.query(`SELECT id FROM "${name}"`)).toEqual([{ id: 3 }]);
  }, 60_000);
});

it('a name with a number is not the second dataset of the name before it', async () => {
  await service.ingest('web', [{ id: 'first' }]);
  expect((await send('DELETE', '/logstream/web'))[0]).toBe(200);
  await service.ingest('web', [{ id: 'second' }]);
  await service.ingest('web.2', [{ id: 'other' }]);
  await service.drained();
  expect(await service.query('SELECT id FROM web')).toEqual([{ id: 'second' }]);
  expect(await service.query('SELECT id FROM "web.2"')).toEqual([{ id: 'other' }]);
  expect((await send('DELETE', '/logstream/web.2'))[0]).toBe(200);
  expect(await service.query('SELECT id FROM web')).toEqual([{ id: 'second' }]);
});

it('a dataset a.series is not the series of a', async () => {
  await service.otlp(
    'metrics',
    otlpBody({ kind: 'points', number: 1, rows: 1, acknowledged: false }, Date.now()),
    'meter',
  );
  await service.ingest('meter.series', [{ mine: true }]);
  await service.drained();
  expect(await service.query('SELECT mine FROM "meter.series"')).toEqual([{ mine: true }]);
  expect(await service.query('SELECT count(*) > 0 AS yes FROM meter.series')).toEqual([{ yes: true }]);
  expect(await service.query('SELECT count(*) > 0 AS yes FROM millrace.meter.series')).toEqual([
    { yes: true },
  ]);
  // There, it is a label that no series has.
  expect(await service.query('SELECT mine FROM meter.series')).toEqual([{ mine: null }]);
  // Privileges go by the whole name.
  const role = [{ privilege: 'reader', resource: { dataset: 'meter.series' } }];
  expect((await send('PUT', '/role/narrow', role))[0]).toBe(200);
  const [, password] = await send('POST', '/user/nina', ['narrow']);
  const ask = async (query: string) => {
    const headers = {
      authorization: `Basic ${Buffer.from(`nina:${password}`).toString('base64')}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ query });
    return (await fetch(`${service.url}/api/v1/query`, { method: 'POST', headers, body })).status;
  };
  expect(await ask('SELECT mine FROM "meter.series"')).toBe(200);
  expect(await ask('SELECT 1 FROM meter.series')).toBe(403);
});

it('names may be written with the schema and the catalog', async () => {
  await service.ingest('app', [{ id: 1 }]);
  await service.drained();
  for (const from of ['app', 'public.app', 'millrace.public.app']) {
    expect(await service.query(`SELECT app.id FROM ${from}`)).toEqual([{ id: 1 }]);
  }
  const listed = "SELECT table_name FROM millrace.information_schema.tables WHERE table_name = 'app'";
  expect(await service.query(listed)).toEqual([{ table_name: 'app' }]);
  expect(await detailOf('SELECT 1 FROM public.nosuch')).toContain(
    'relation \\"public.nosuch\\" does not exist',
  );
  expect(await detailOf('SELECT 1 FROM other.app')).toContain('does not exist');
  expect(await detailOf('SELECT 1 FROM other.public.app')).toContain('does not exist');
});

it('a name that needs quotes is told so', async () => {
  await service.ingest('k8s.node-logs', [{ id: 1 }]);
  await service.ingest('k8s.node', [{ id: 1 }]);
  await service.drained();
  expect(await detailOf('SELECT 1 FROM k8s.node-logs')).toContain('in double quotes: \\"k8s.node-logs\\"');
  expect(await detailOf('SELECT 1 FROM k8s.node')).toContain('in double quotes: \\"k8s.node\\"');
});
