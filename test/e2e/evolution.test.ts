import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/limits/limits.ts';
import { authorization, type Row, Service } from '../support/service/service.ts';

/** How events may change over time, read back by SQL. */
let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '100' } });
}, 60_000);
afterAll(() => service?.dispose());

let datasets = 0;
/** Posts a body into a new dataset. */
async function post(
  body: string | Buffer,
  dataset = `d${++datasets}`,
): Promise<{ dataset: string; reply: Response }> {
  const reply = await fetch(`${service.url}/api/v1/ingest`, {
    method: 'POST',
    headers: { authorization, 'x-p-stream': dataset, 'content-type': 'application/json' },
    body: Buffer.from(body),
  });
  return { dataset, reply };
}

/** Queries when everything that was acknowledged is in the store. */
async function ask(sql: string): Promise<readonly Row[]> {
  await service.drained();
  return service.query(sql);
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const nest = (depth: number, inner: string): string =>
  depth === 0 ? inner : `{"n":${nest(depth - 1, inner)}}`;
const ten = Array.from({ length: 10 }, () => 'n').join('_');

const names = [
  'größe 長さ 🙂',
  'http.request.method',
  `it's "so"`,
  'a`b\\c',
  ' a  b;--{x}:num ',
  'select',
  '__proto__',
  'constructor',
  'n'.repeat(200),
];

/** An event, a query, and the expected result. */
const cases: readonly (readonly [title: string, event: string, select: string, expected: Row])[] = [
  [
    'names of any kind; PostgreSQL cuts them to 63 bytes',
    `{${names.map((name, index) => `${JSON.stringify(name)}:${index}`).join(',')}}`,
    names.map(quoted).join(', '),
    Object.fromEntries(names.map((name, index) => [name.slice(0, 63), index])),
  ],
  [
    'names that the system uses',
    '{"p_timestamp":"mine","p_overflow":1,"":0,"timestamp":true,"labels":"l","a:num":"s"}',
    '_p_timestamp, _p_overflow, _, timestamp, labels, "a:num", p_timestamp > now() - interval \'1 hour\' AS fresh',
    { _p_timestamp: 'mine', _p_overflow: 1, _: 0, timestamp: true, labels: 'l', 'a:num': 's', fresh: true },
  ],
  [
    '__proto__ inside',
    '{"__proto__":{"polluted":1},"a":{"__proto__":{"b":2},"constructor":{"prototype":3}}}',
    '__proto___polluted, a___proto___b, a_constructor_prototype',
    { __proto___polluted: 1, a___proto___b: 2, a_constructor_prototype: 3 },
  ],
  ['the last of several values for a key', '{"a":1,"b":2,"a":"x"}', 'a, b', { a: 'x', b: 2 }],
  ['ten levels', nest(10, '1'), ten, { [ten]: 1 }],
  ['eleven levels', nest(11, '1'), `${ten}, ${ten}->>'n' AS n`, { [ten]: '{"n":1}', n: '1' }],
  [
    'arrays of objects',
    '{"items":[{"sku":"a","n":[1,2]},{"sku":"b"}],"none":[],"empty":{}}',
    `items, items->1->>'sku' AS second, items->0->'n'->>1 AS deep, none, empty`,
    {
      items: '[{"sku":"a","n":[1,2]},{"sku":"b"}]',
      second: 'b',
      deep: '2',
      none: '[]',
      empty: '{}',
    },
  ],
  [
    'every digit of numbers',
    '{"max":9007199254740992,"over":9007199254740993,"huge":123456789012345678901234567890,"far":1e400}',
    'max, over, huge, far',
    {
      max: 9007199254740992,
      over: '9007199254740993',
      huge: '123456789012345678901234567890',
      far: '1e400',
    },
  ],
  [
    'the ends of doubles',
    '{"zero":-0,"near":5e-324,"top":1.7976931348623157e308}',
    'zero::text AS zero, near, top',
    { zero: '-0', near: 5e-324, top: 1.7976931348623157e308 },
  ],
];

describe('an event is read back', () => {
  beforeAll(async () => {
    for (const [index, [title, event]] of cases.entries()) {
      const { reply } = await post(event, `case${index}`);
      expect([title, reply.status, await reply.text()]).toEqual([title, 200, '{"accepted":1}']);
    }
    await service.drained();
  });

  it.each(cases.map((each, index) => [each[0], index] as const))('with %s', async (_, index) => {
    const [, , select, expected] = cases[index] ?? ['', '', '', {}];
    expect(await service.query(`SELECT ${select} FROM case${index}`)).toEqual([expected]);
    expect('polluted' in {}).toBe(false);
  });

  it('with its keys in any order, and more of them later', async () => {
    const { dataset } = await post('[{"x":1,"y":2},{"y":3,"x":4},{"z":5,"y":6,"x":7}]');
    expect(await ask(`SELECT x, y, z FROM ${dataset} ORDER BY x`)).toEqual([
      { x: 1, y: 2, z: null },
      { x: 4, y: 3, z: null },
      { x: 7, y: 6, z: 5 },
    ]);
  });

  it('with a string of a mebibyte', async () => {
    const text = 'é'.repeat(512 * 1024);
    const { dataset } = await post(JSON.stringify({ text }));
    const [row] = await ask(`SELECT octet_length(text) AS bytes, text FROM ${dataset}`);
    expect(row?.['bytes']).toBe(1024 * 1024);
    expect(row?.['text'] === text).toBe(true);
  });

  it('not at all, if it is not UTF-8', async () => {
    const { dataset, reply } = await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ code: 'bad_json' });
    await expect(service.query(`SELECT * FROM ${dataset}`)).rejects.toThrow('does not exist');
  });
});

it('a field may be a number, a string and a boolean at once', async () => {
  const { dataset } = await post(
    '[{"id":1,"v":1.5},{"id":2,"v":"x"},{"id":3,"v":true},{"id":4},{"id":5,"v":"2"}]',
  );
  expect(await ask(`SELECT id, v FROM ${dataset} ORDER BY id`)).toEqual([
    { id: 1, v: '1.5' },
    { id: 2, v: 'x' },
    { id: 3, v: 'true' },
    { id: 4, v: null },
    { id: 5, v: '2' },
  ]);
  expect(await ask(`SELECT sum(v) AS sum, count(v) AS n FROM ${dataset}`)).toEqual([{ sum: 1.5, n: 4 }]);
  expect(await ask(`SELECT id FROM ${dataset} WHERE v = 'x' OR v`)).toHaveLength(2);
});

/** Fields `<prefix>0` and on, each with its number as the value. */
const manyFields = (prefix: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, index]));

/** The rows that a reader with that tag sees. */
async function narrowed(dataset: string, tag: string, select: string): Promise<unknown> {
  const send = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
    const init = {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const reply = await fetch(`${service.url}/api/${path}`, init);
    const text = await reply.text();
    expect([path, reply.status, text]).toEqual([path, 200, text]);
    return text;
  };
  const role = `reader-${++datasets}`;
  const privileges = [{ privilege: 'reader', resource: { dataset, tag } }];
  await send('PUT', `v1/role/${role}`, privileges, { authorization });
  const made = await send('POST', 'console/v1/apikeys', { keyName: role, roles: [role] }, { authorization });
  const { apiKey } = JSON.parse(made) as { apiKey: string };
  return JSON.parse(
    await send('POST', 'v1/query', { query: `${select} ${dataset}` }, { 'x-api-key': apiKey }),
  );
}

describe('more fields than columns', () => {
  const room = limits.maxColumnsPerDataset - 1;
  const dataset = 'wide';

  it('an event of 5,000 fields is read back by their names', async () => {
    const event = { ...manyFields('f', 5000), last: 'x', yes: true };
    const { reply } = await post(JSON.stringify(event), dataset);
    expect(reply.status).toBe(200);
    const select = `f0, f${room - 1}, f${room}, f4999 + 1 AS next, last, yes, nothing`;
    expect(await ask(`SELECT ${select} FROM ${dataset}`)).toEqual([
      {
        f0: 0,
        [`f${room - 1}`]: room - 1,
        [`f${room}`]: String(room),
        next: 5000,
        last: 'x',
        yes: 'true',
        nothing: null,
      },
    ]);
    const where = `f4000 = 4000 AND last = 'x' AND yes AND f${room} > ${room - 1}`;
    expect(await ask(`SELECT count(*) AS n FROM ${dataset} WHERE ${where}`)).toEqual([{ n: 1 }]);
    const schema = await fetch(`${service.url}/api/v1/logstream/${dataset}/schema`, {
      headers: { authorization },
    });
    const { fields } = (await schema.json()) as { fields: { name: string }[] };
    const ofSystem = ['p_overflow', 'p_src_ip', 'p_timestamp', 'p_user_agent'];
    expect(fields.slice(-ofSystem.length).map(({ name }) => name)).toEqual(ofSystem);
    // The time counts as a column, what is about requests does not.
    expect(fields).toHaveLength(limits.maxColumnsPerDataset - 1 + ofSystem.length);
    expect((await post('{"f0":1,"f4999":1}', dataset)).reply.status).toBe(200);
    await service.drained();
    expect(await narrowed(dataset, 'f4999=4999', 'SELECT f0, p_overflow IS NULL AS none FROM')).toEqual([
      { f0: 0, none: false },
    ]);
    expect(await narrowed(dataset, 'nothing=', 'SELECT f0 FROM')).toEqual([]);
  });

  it('fields that come later go the same way, small and large bodies alike, also after a crash', async () => {
    await post('{"id":1,"late":-0,"word":"é","flag":false,"f1":"other type","none":null}', dataset);
    const large = Array.from({ length: 300 }, (_, index) => ({
      id: 2 + index,
      late: index,
      [`own${index}`]: 'x',
    }));
    expect((await post(JSON.stringify(large), dataset)).reply.status).toBe(200);
    await service.kill();
    await service.restart();
    await post('{"id":5000,"late":"text","f2":3}', dataset);
    const select = 'id + 0 AS id, late::text AS late, word, flag, f1, f2';
    expect(await ask(`SELECT ${select} FROM ${dataset} WHERE id IN (1, 5000) ORDER BY id`)).toEqual([
      { id: 1, late: '-0', word: 'é', flag: 'false', f1: 'other type', f2: null },
      { id: 5000, late: 'text', word: null, flag: null, f1: null, f2: 3 },
    ]);
    expect(await ask(`SELECT count(*) AS n, sum(late) AS sum, count(own299) AS own FROM ${dataset}`)).toEqual(
      [{ n: 304, sum: (299 * 300) / 2, own: 1 }],
    );
    const [row] = await ask(`SELECT p_overflow->>'own7:str' AS own FROM ${dataset} WHERE id = 9`);
    expect(row).toEqual({ own: 'x' });
  });
});
