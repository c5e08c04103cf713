import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorization, Service } from '../support/service/service.ts';

/** Options that owners set when they create datasets, and labels that headers add to events. */
let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '100' } });
}, 60_000);
afterAll(() => service?.dispose());

type Headers = Readonly<Record<string, string>>;
type Outcome = readonly [status: number, text: string];

async function send(method: string, path: string, headers: Headers, body?: unknown): Promise<Outcome> {
  const reply = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: {
      authorization,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return [reply.status, await reply.text()];
}

/** Queries when everything that was acknowledged is in the store. */
async function ask(sql: string, range: { startTime?: string; endTime?: string } = {}) {
  await service.drained();
  return service.query(sql, range);
}

const make = (name: string, headers: Headers, body?: unknown) =>
  send('PUT', `/logstream/${name}`, headers, body);
const ingest = (name: string, body: unknown, headers: Headers = {}) =>
  send('POST', '/ingest', { 'x-p-stream': name, ...headers }, body);
const made: Outcome = [200, 'Log stream created'];
const accepted = (events: number): Outcome => [200, JSON.stringify({ accepted: events })];

/** The code and the detail of a refusal with that status. */
function refusal([status, text]: Outcome): readonly [number, string, string] {
  const { code, detail } = JSON.parse(text) as { code: string; detail: string };
  return [status, code, detail];
}

const info = async (name: string) =>
  JSON.parse((await send('GET', `/logstream/${name}/info`, {}))[1]) as object;

describe('a time field', () => {
  const micros = (text: string) => Date.parse(text) * 1000;
  const at = '2026-03-04T05:06:07.089Z';

  it('becomes the time of the dataset, however it is written', async () => {
    expect(await make('timed', { 'X-P-Time-Partition': 'at' })).toEqual(made);
    const seconds = micros(at) / 1e6;
    const times = [
      at,
      '2026-03-04T06:06:07.089+01:00',
      '2026-03-04 05:06:07.089',
      seconds,
      seconds * 1000,
      seconds * 1e6,
      String(seconds * 1e6),
    ];
    const nanos = `{"id":7,"at":${BigInt(micros(at)) * 1000n + 999n}}`;
    const events = times.map((time, id) => JSON.stringify({ id, at: time }));
    expect(await ingest('timed', `[${[...events, nanos].join(',')}]`)).toEqual(accepted(8));
    const rows = await ask('SELECT id, p_timestamp FROM timed ORDER BY id');
    expect(rows.map((row) => row['p_timestamp'])).toEqual(
      Array.from({ length: 8 }, () => '2026-03-04T05:06:07.089000Z'),
    );
    // The field is also stored as it was sent.
    expect(await ask('SELECT at FROM timed WHERE id = 1')).toEqual([{ at: times[1] }]);
    const range = { startTime: '2026-03-04T05:06:07Z', endTime: '2026-03-04T05:06:08Z' };
    expect(await ask('SELECT count(*) AS n FROM timed', range)).toEqual([{ n: 8 }]);
    expect(await info('timed')).toMatchObject({
      timePartition: 'at',
      firstEventAt: '2026-03-04T05:06:07.089000Z',
    });
  });

  it.each([
    ['nothing', '[{"at":1},{"id":1}]', 'element 2: it lacks the field "at"'],
    ['null', '[{"at":null}]', 'lacks the field "at"'],
    ['a boolean', '{"at":true}', 'line 1: it lacks the field "at"'],
    ['other text', '{"at":"yesterday"}', 'the field "at" is the time'],
    ['a date alone', '{"at":"2026-03-04"}', 'the field "at" is the time'],
    ['a day that is none', '{"at":"2026-02-30T00:00:00Z"}', 'the field "at" is the time'],
    ['a time before 1970', '{"at":-1}', 'the field "at" is the time'],
    ['a time beyond 2106', '{"at":"2200-01-01T00:00:00Z"}', 'the field "at" is the time'],
    ['an array', '{"at":[1]}', 'the field "at" is the time'],
  ])('that holds %s is refused', async (_, body, words) => {
    expect(await make('timed', { 'X-P-Time-Partition': 'at' })).toEqual([
      400,
      expect.stringContaining('dataset_exists'),
    ]);
    expect(refusal(await ingest('timed', body))).toEqual([400, 'bad_event', expect.stringContaining(words)]);
    expect(await ask('SELECT count(*) AS n FROM timed')).toEqual([{ n: 8 }]);
  });

  it('may be inside an object, or be named like the time itself, and takes days of any order', async () => {
    expect(await make('nested', { 'X-P-Time-Partition': 'meta_at' })).toEqual(made);
    await ingest('nested', [
      { meta: { at: 1_000 } },
      { meta: { at: 1_700_000_000 } },
      { meta: { at: 86_400_000 } },
    ]);
    expect(await ask('SELECT p_timestamp AS t FROM nested ORDER BY 1')).toEqual([
      { t: '1970-01-01T00:16:40.000000Z' },
      { t: '1972-09-27T00:00:00.000000Z' },
      { t: '2023-11-14T22:13:20.000000Z' },
    ]);
    expect(await make('again', { 'X-P-Time-Partition': 'p_timestamp' })).toEqual(made);
    await ingest('again', { p_timestamp: at });
    expect(await ask('SELECT p_timestamp AS t FROM again')).toEqual([{ t: '2026-03-04T05:06:07.089000Z' }]);
  });
});

describe('a static schema', () => {
  const types = ['int', 'double', 'float', 'boolean', 'string', 'datetime', 'date'];
  const fields = types.map((type) => ({ name: type, data_type: type }));
  const flag = { 'X-P-Static-Schema-Flag': 'true' };
  const good = {
    int: -5,
    double: 1.5,
    float: 2,
    boolean: true,
    string: 'x',
    datetime: '2026-03-04T05:06:07Z',
    date: '2026-03-04',
  };

  it('has its columns before the first event, and takes what fits', async () => {
    expect(await make('fixed', flag, { fields })).toEqual(made);
    expect(await ask('SELECT int, date FROM fixed')).toEqual([]);
    expect(await ingest('fixed', [good, {}, { int: null, other: null }])).toEqual(accepted(3));
    expect(await ask('SELECT * FROM fixed WHERE int = -5')).toEqual([
      { ...good, p_timestamp: expect.any(String), p_src_ip: '127.0.0.1', p_user_agent: 'node' },
    ]);
    expect(await info('fixed')).toMatchObject({ staticSchemaFlag: true });
    const schema = JSON.parse((await send('GET', '/logstream/fixed/schema', {}))[1]) as {
      fields: { name: string; data_type: unknown }[];
    };
    const declared = schema.fields.filter(({ name }) => types.includes(name));
    expect(declared.map(({ name, data_type: type }) => [name, type])).toEqual([
      ['boolean', 'Boolean'],
      ['date', 'Utf8'],
      ['datetime', 'Utf8'],
      ['double', 'Float64'],
      ['float', 'Float64'],
      ['int', 'Int64'],
      ['string', 'Utf8'],
    ]);
  });

  it.each([
    ['{"other":1}', 'no field "other"'],
    ['{"int":{"a":1}}', 'no field "int_a"'],
    ['{"int":1.5}', '"int" is an int'],
    ['{"int":"1"}', '"int" is an int'],
    ['{"int":9007199254740993}', '"int" is an int'],
    ['{"double":true}', '"double" is a double'],
    ['{"float":1e400}', '"float" is a float'],
    ['{"boolean":0}', '"boolean" is a boolean'],
    ['{"string":1}', '"string" is a string'],
    ['{"string":["x"]}', '"string" is a string'],
    ['{"string":12345678901234567890}', '"string" is a string'],
    ['{"datetime":"2026-03-04"}', '"datetime" is a datetime'],
    ['{"datetime":1}', '"datetime" is a datetime'],
    ['{"date":"2026-03-32"}', '"date" is a date'],
    ['{"date":"2026-03-04T00:00:00Z"}', '"date" is a date'],
  ])('refuses %s by name, and the whole request with it', async (event, words) => {
    const [status, code, detail] = refusal(await ingest('fixed', `[${JSON.stringify(good)},${event}]`));
    expect([status, code]).toEqual([400, 'bad_event']);
    expect(detail).toMatch(/^element 2: /);
    expect(detail).toContain(words);
    expect(await ask('SELECT count(*) AS n FROM fixed')).toEqual([{ n: 3 }]);
  });

  it('is asked for as it has to be', async () => {
    const refused = async (headers: Headers, body?: unknown) =>
      refusal(await make('never', headers, body))[2];
    expect(await refused(flag)).toContain('a static schema is in the body');
    expect(await refused({ 'X-P-Static-Schema-Flag': 'yes' })).toContain('"true" or "false"');
    expect(await refused({}, { fields })).toContain('X-P-Static-Schema-Flag');
    expect(await refused(flag, { fields: [] })).toContain('1 to 999 fields');
    expect(await refused(flag, { fields: [...fields, ...fields] })).toContain('"int" is there twice');
    expect(await refused(flag, { fields: [{ name: 'a', data_type: 'list' }] })).toContain(
      'data_type is one of',
    );
    expect(await refused(flag, { fields: [{ name: '', data_type: 'int' }] })).toContain('1 to 250 bytes');
    expect(await refused(flag, { fields: [{ name: 'p_timestamp', data_type: 'int' }] })).toContain(
      'name of the system',
    );
    expect(await refused(flag, { fields: [{ name: 'a', data_type: 'int', nullable: 1 }] })).toContain(
      '"nullable" is not known',
    );
    expect(await refused({ ...flag, 'X-P-Time-Partition': 'no' }, { fields })).toContain('no field "no"');
    expect(await refused({ ...flag, 'X-P-Time-Partition': 'date' }, { fields })).toContain('is a date');
    expect(await refused({ 'X-P-Custom-Partition': 'p_timestamp' })).toContain('name of the system');
    expect(await refused({ 'X-P-Time-Partition-Limit': '30d' })).toContain('and there is none');
    for (const limit of ['0d', '30', '1.5d', '-1d', '9999999d']) {
      const headers = { 'X-P-Time-Partition': 'at', 'X-P-Time-Partition-Limit': limit };
      expect(await refused(headers)).toContain('a number of days');
    }
    expect(await refused({ 'X-P-Custom-Partition': 'a,b' })).toContain('at most 1 field');
    expect(await refused({ 'X-P-Update-Stream': 'true' })).toContain('x-p-update-stream is not supported');
    expect((await send('GET', '/logstream/never/info', {}))[0]).toBe(404);
  });

  it('holds for other datasets of that name only if they ask for it, and after a crash', async () => {
    expect(await make('short', { ...flag, 'X-P-Time-Partition': 'datetime' }, { fields })).toEqual(made);
    await ingest('short', good);
    await service.kill();
    await service.restart();
    expect(refusal(await ingest('short', { other: 1 }))[1]).toBe('bad_event');
    expect(await ingest('short', { ...good, int: 6 })).toEqual(accepted(1));
    expect(await ask('SELECT int, p_timestamp AS t FROM short ORDER BY int')).toEqual([
      { int: -5, t: '2026-03-04T05:06:07.000000Z' },
      { int: 6, t: '2026-03-04T05:06:07.000000Z' },
    ]);
    expect((await send('DELETE', '/logstream/short', {}))[0]).toBe(200);
    expect(await ingest('short', { other: 1 })).toEqual(accepted(1));
    expect(await ask('SELECT other FROM short')).toEqual([{ other: 1 }]);
    expect(await info('short')).not.toHaveProperty('staticSchemaFlag');
  }, 60_000);
});

describe('a custom partition', () => {
  it('leads the order key, whatever its values are', async () => {
    expect(await make('keyed', { 'X-P-Custom-Partition': "it's {x}" })).toEqual(made);
    const name = `"it's {x}"`;
    // A column without values is not shown.
    expect(JSON.parse((await send('GET', '/logstream/keyed/schema', {}))[1])).toMatchObject({
      fields: [{ name: 'p_timestamp' }],
    });
    await ingest('keyed', [{ "it's {x}": 'b' }, { "it's {x}": 'a' }, { id: 1 }]);
    expect(await ask(`SELECT ${name} AS x FROM keyed ORDER BY 1`)).toEqual([
      { x: 'a' },
      { x: 'b' },
      { x: null },
    ]);
    await ingest('keyed', [{ "it's {x}": 5 }]);
    expect(await ask(`SELECT count(*) AS n FROM keyed WHERE ${name} = 5`)).toEqual([{ n: 1 }]);
    expect(await info('keyed')).toMatchObject({ customPartition: "it's {x}" });
    const fixed = {
      fields: [
        { name: 'shop', data_type: 'int' },
        { name: 'at', data_type: 'string' },
      ],
    };
    const headers = {
      'X-P-Static-Schema-Flag': 'true',
      'X-P-Custom-Partition': 'shop',
      'X-P-Time-Partition': 'at',
    };
    expect(await make('everything', headers, fixed)).toEqual(made);
    await ingest('everything', [
      { shop: 2, at: '2026-01-01T00:00:00Z' },
      { shop: 1, at: '2026-01-01T00:00:01Z' },
    ]);
    expect(await ask('SELECT shop FROM everything ORDER BY p_timestamp')).toEqual([{ shop: 2 }, { shop: 1 }]);
  });
});

describe('search fields', () => {
  it('are found by what is in them, also where the field comes later', async () => {
    const headers = { 'X-P-Search-Fields': 'message, error_text' };
    expect(await make('searched', headers)).toEqual(made);
    expect(await info('searched')).toMatchObject({ searchFields: ['message', 'error_text'] });
    await ingest('searched', [{ message: 'Connection refused' }, { message: 'started' }, { other: 1 }]);
    await service.drained();
    await ingest('searched', [
      { message: 7 },
      { error: { text: 'İO-ERROR 503' } },
      { message: 'a REFUSED one' },
    ]);
    const count = (where: string) => ask(`SELECT count(*) AS n FROM searched WHERE ${where}`);
    expect(await count("message ILIKE '%refused%'")).toEqual([{ n: 2 }]);
    expect(await count("message LIKE '%refused'")).toEqual([{ n: 1 }]);
    expect(await count("error_text ~* 'io-error [0-9]+'")).toEqual([{ n: 0 }]);
    expect(await count("error_text ILIKE '%io-error%'")).toEqual([{ n: 1 }]);
    expect(await count("error_text = 'İO-ERROR 503'")).toEqual([{ n: 1 }]);
    expect(await count("message NOT LIKE '%refused%'")).toEqual([{ n: 3 }]);
  });

  it.each([
    ['a,b,c,d,e,f,g,h,i', 'at most 8 fields'],
    [',', '1 to 250 bytes'],
    ['a,,b', '1 to 250 bytes'],
    ['p_timestamp', 'a name of the system'],
  ])('%s are refused', async (names, words) => {
    const [status, code, detail] = refusal(await make('never', { 'X-P-Search-Fields': names }));
    expect([status, code]).toEqual([400, 'bad_dataset_options']);
    expect(detail).toContain(words);
  });
});

describe('a limit of days', () => {
  it('refuses events whose own time is older, and those alone', async () => {
    const headers = { 'X-P-Time-Partition': 'at', 'X-P-Time-Partition-Limit': '30d' };
    expect(await make('recent', headers)).toEqual(made);
    expect(await info('recent')).toMatchObject({ timePartition: 'at', timePartitionLimit: '30d' });
    const daysAgo = (days: number) => ({ at: new Date(Date.now() - days * 86_400_000).toISOString() });
    expect(await ingest('recent', [daysAgo(29), daysAgo(-29)])).toEqual(accepted(2));
    const [status, code, detail] = refusal(await ingest('recent', [daysAgo(1), daysAgo(31)]));
    expect([status, code]).toEqual([400, 'bad_event']);
    expect(detail).toContain('element 2: the field "at" says');
    expect(detail).toContain('at most 30 days old');
    expect(await ask('SELECT count(*) AS n FROM recent')).toEqual([{ n: 2 }]);
  });
});

describe('headers of an ingest request', () => {
  it('become fields of every event, and win over its own', async () => {
    const headers = { 'X-P-Meta-Host': 'web 1', 'x-p-tag-env': 'prod' };
    expect(await ingest('labelled', [{ n: 1 }, { n: 2, 'tag-env': 'dev' }, {}], headers)).toEqual(
      accepted(3),
    );
    await ingest('labelled', [{ n: 4 }]);
    expect(await ask('SELECT n, "meta-host", "tag-env" FROM labelled ORDER BY n')).toEqual([
      { n: 1, 'meta-host': 'web 1', 'tag-env': 'prod' },
      { n: 2, 'meta-host': 'web 1', 'tag-env': 'prod' },
      { n: 4, 'meta-host': null, 'tag-env': null },
      { n: null, 'meta-host': 'web 1', 'tag-env': 'prod' },
    ]);
  });

  it('are part of what a repetition repeats', async () => {
    const key = { 'idempotency-key': '"labels"' };
    expect(await ingest('repeated', [{ n: 1 }], { ...key, 'x-p-meta-a': '1' })).toEqual(accepted(1));
    expect(await ingest('repeated', [{ n: 1 }], { ...key, 'x-p-meta-a': '1' })).toEqual(accepted(1));
    for (const other of [{ 'x-p-meta-a': '2' }, { 'x-p-meta-b': '1' }, {}]) {
      expect(refusal(await ingest('repeated', [{ n: 1 }], { ...key, ...other })).slice(0, 2)).toEqual([
        422,
        'idempotency_key_reused',
      ]);
    }
    expect(await ask('SELECT n, "meta-a" AS a FROM repeated')).toEqual([{ n: 1, a: '1' }]);
  });

  it('are ten at most, and no nonsense', async () => {
    const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`x-p-tag-${index}`, 'x']));
    expect(refusal(await ingest('never', [{}], eleven))).toEqual([
      400,
      'bad_header',
      expect.stringContaining('at most 10'),
    ]);
    expect(refusal(await ingest('never', [{}], { 'x-p-meta-': 'x' }))[1]).toBe('bad_header');
    expect(refusal(await ingest('never', [{}], { 'x-p-meta-a': 'aéb' }))[1]).toBe('bad_header');
  });

  it('obey a static schema like the event itself', async () => {
    expect(
      await make(
        'strict',
        { 'X-P-Static-Schema-Flag': 'true' },
        { fields: [{ name: 'tag-env', data_type: 'string' }] },
      ),
    ).toEqual(made);
    expect(await ingest('strict', [{}], { 'x-p-tag-env': 'prod' })).toEqual(accepted(1));
    expect(refusal(await ingest('strict', [{}], { 'x-p-tag-other': 'prod' }))[2]).toContain(
      'no field "tag-other"',
    );
  });
});

it('detects the schema that events would have', async () => {
  const sample = [
    { a: 1, b: 'x', c: { d: true } },
    { a: 'one', e: [1], f: null, p_timestamp: 1 },
  ];
  const rest = { dict_id: 0, dict_is_ordered: false, metadata: {} };
  const [status, text] = await send('POST', '/logstream/schema/detect', {}, sample);
  expect([status, JSON.parse(text)]).toEqual([
    200,
    {
      fields: [
        { name: '_p_timestamp', data_type: 'Float64', nullable: true, ...rest },
        { name: 'a', data_type: 'Utf8', nullable: true, ...rest },
        { name: 'b', data_type: 'Utf8', nullable: true, ...rest },
        { name: 'c_d', data_type: 'Boolean', nullable: true, ...rest },
        { name: 'e', data_type: 'Utf8', nullable: true, ...rest },
        {
          name: 'p_timestamp',
          data_type: { Timestamp: ['Microsecond', '+00:00'] },
          nullable: false,
          ...rest,
        },
      ],
      metadata: {},
    },
  ]);
  expect(refusal(await send('POST', '/logstream/schema/detect', {}, '[{'))[1]).toBe('bad_json');
  expect(refusal(await send('POST', '/logstream/schema/detect', {}, '[1]'))[1]).toBe('bad_event');
});
