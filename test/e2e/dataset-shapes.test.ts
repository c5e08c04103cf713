import { afterAll, beforeAll, expect, it } from 'vitest';
import { authorization, Service } from '../support/service/service.ts';

/**
 * The exact requests and replies of this interface: method, path, headers, status, media type and body. The
 * steps run in order, since each depends on the previous ones.
 */
let service: Service;
/** A reader of two datasets, one of which is never created. */
let reader: string;
beforeAll(async () => {
  service = await Service.start({ env: { MILLRACE_FLUSH_INTERVAL_MS: '100' } });
  const send = (method: string, path: string, body: unknown) =>
    fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const resources = ['keyed', 'unmade'].map((dataset) => ({ privilege: 'reader', resource: { dataset } }));
  await send('PUT', '/role/reading', resources);
  const password = await (await send('POST', '/user/reader', ['reading'])).text();
  reader = `Basic ${Buffer.from(`reader:${password}`).toString('base64')}`;
}, 60_000);
afterAll(() => service?.dispose());

interface Exchange {
  readonly name: string;
  /** Method and path below `/api/v1/logstream`; THE-DAY is the day on which the event arrived. */
  readonly request: string;
  /** Not the administrator. */
  readonly asReader?: true;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The reply with status 200; a string is `text/plain`, everything else JSON. */
  readonly answer?: unknown;
  /** With this status and code, as problem details. */
  readonly refusal?: readonly [status: number, code: string, says: string];
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/);
const size = expect.stringMatching(/^\d+ Bytes$/);
const field = (name: string, data_type: unknown, nullable = true) => ({
  name,
  data_type,
  nullable,
  dict_id: 0,
  dict_is_ordered: false,
  metadata: {},
});
const timeField = field('p_timestamp', { Timestamp: ['Microsecond', '+00:00'] }, false);
/** By name, as they are shown. */
const schemaOf = (...fields: ReturnType<typeof field>[]) => ({
  fields: [timeField, ...fields].sort((one, other) => (one.name < other.name ? -1 : 1)),
  metadata: {},
});
const origin = [field('p_src_ip', 'Utf8'), field('p_user_agent', 'Utf8')];
const types = ['int', 'double', 'float', 'boolean', 'string', 'datetime', 'date'] as const;
const arrow: Readonly<Record<(typeof types)[number], string>> = {
  int: 'Int64',
  double: 'Float64',
  float: 'Float64',
  boolean: 'Boolean',
  string: 'Utf8',
  datetime: 'Utf8',
  date: 'Utf8',
};
const fixed = { fields: types.map((type) => ({ name: `a_${type}`, data_type: type })) };
const flag = { 'X-P-Static-Schema-Flag': 'true' };
const good = {
  a_int: 1,
  a_double: 1.5,
  a_float: 2,
  a_boolean: true,
  a_string: 'x',
  a_datetime: '2026-03-04T05:06:07Z',
  a_date: '2026-03-04',
};
const month = [{ description: 'a month', action: 'delete', duration: '30d' }];
const created = 'Log stream created';
const details = {
  createdAt: time,
  firstEventAt: null,
  latestEventAt: null,
  streamType: 'UserDefined',
  logSource: [{ log_source_format: 'json', fields: [] }],
  telemetryType: 'events',
};
const statistics = (count: number, bytes: number) => ({
  stream: 'app',
  time,
  ingestion: {
    count,
    size: `${bytes} Bytes`,
    format: 'json',
    lifetime_count: count,
    lifetime_size: `${bytes} Bytes`,
    deleted_count: 0,
    deleted_size: '0 Bytes',
    waiting_count: 0,
    waiting_size: '0 Bytes',
  },
  storage: {
    size,
    format: 'clickhouse',
    count,
    uncompressed_size: size,
    compression_ratio: count === 0 ? null : expect.any(Number),
  },
});
const ofDay = (count: number, bytes: number) => {
  const { ingestion, ...rest } = statistics(count, bytes);
  const { lifetime_count, lifetime_size, deleted_count, deleted_size, ...received } = ingestion;
  return { ...rest, ingestion: received };
};
const event = { level: 'info', ms: 3, ok: true };
const eventBytes = JSON.stringify([event]).length;

const making: readonly Exchange[] = [
  { name: 'none yet', request: 'GET', asReader: true, answer: [] },
  { name: 'a new one', request: 'PUT /app', answer: created },
  { name: 'one that is there', request: 'PUT /app', refusal: [400, 'dataset_exists', 'dataset app'] },
  {
    name: 'a bad name',
    request: 'PUT /-pp',
    refusal: [400, 'bad_dataset_name', 'this is not a dataset name'],
  },
  {
    name: 'a bad name, encoded',
    request: 'PUT /a%2Fb',
    refusal: [400, 'bad_dataset_name', 'this is not a dataset name'],
  },
  { name: 'a fixed schema', request: 'PUT /fixed', headers: flag, body: fixed, answer: created },
  {
    name: 'a type that is none',
    request: 'PUT /never',
    headers: flag,
    body: { fields: [{ name: 'a', data_type: 'text' }] },
    refusal: [400, 'bad_dataset_options', 'data_type is one of int, double, float'],
  },
  { name: 'a time field', request: 'PUT /timed', headers: { 'X-P-Time-Partition': 'at' }, answer: created },
  {
    name: 'a custom partition',
    request: 'PUT /keyed',
    headers: { 'X-P-Custom-Partition': 'shop' },
    answer: created,
  },
  {
    name: 'all of them',
    request: 'GET',
    answer: expect.arrayContaining(['app', 'fixed', 'keyed', 'timed'].map((name) => ({ name }))),
  },
  { name: 'those that one may see', request: 'GET', asReader: true, answer: [{ name: 'keyed' }] },
];

const writing: readonly Exchange[] = [
  { name: 'into one that exists', request: 'POST /app', body: [event], answer: { accepted: 1 } },
  { name: 'into none', request: 'POST /nothing', body: [event], refusal: [404, 'dataset_not_found', ''] },
  { name: 'by the fixed schema', request: 'POST /fixed', body: [good], answer: { accepted: 1 } },
  ...types.map(
    (type): Exchange => ({
      name: `not ${type}`,
      request: 'POST /fixed',
      body: [{ ...good, [`a_${type}`]: type === 'boolean' || type === 'string' ? 7 : 'x' }],
      refusal: [400, 'bad_event', `a_${type}`],
    }),
  ),
  {
    name: 'another field',
    request: 'POST /fixed',
    body: [{ other: 1 }],
    refusal: [400, 'bad_event', '"other"'],
  },
  { name: 'without its time', request: 'POST /timed', body: [{}], refusal: [400, 'bad_event', '"at"'] },
  { name: 'with no time', request: 'POST /timed', body: [{ at: 'x' }], refusal: [400, 'bad_event', '"at"'] },
  { name: 'with its time', request: 'POST /timed', body: [{ at: 1_700_000_000 }], answer: { accepted: 1 } },
];

const asking: readonly Exchange[] = [
  {
    name: 'a schema',
    request: 'GET /app/schema',
    answer: schemaOf(field('level', 'Utf8'), field('ms', 'Float64'), field('ok', 'Boolean'), ...origin),
  },
  {
    name: 'a fixed schema',
    request: 'GET /fixed/schema',
    answer: schemaOf(...types.map((type) => field(`a_${type}`, arrow[type])), ...origin),
  },
  {
    name: 'a schema of none',
    request: 'GET /nothing/schema',
    refusal: [404, 'dataset_not_found', 'nothing'],
  },
  {
    name: 'the schema of events',
    request: 'POST /schema/detect',
    body: [event],
    answer: schemaOf(field('level', 'Utf8'), field('ms', 'Float64'), field('ok', 'Boolean')),
  },
  {
    name: 'the schema of one',
    request: 'POST /schema/detect',
    body: {},
    answer: { fields: [timeField], metadata: {} },
  },
  { name: 'of no events', request: 'POST /schema/detect', body: 7, refusal: [400, 'bad_event', 'a number'] },
  {
    name: 'details',
    request: 'GET /app/info',
    answer: { ...details, firstEventAt: time, latestEventAt: time },
  },
  { name: 'of an empty one', request: 'GET /keyed/info', answer: { ...details, customPartition: 'shop' } },
  {
    name: 'with a time field',
    request: 'GET /timed/info',
    answer: {
      ...details,
      timePartition: 'at',
      firstEventAt: '2023-11-14T22:13:20.000000Z',
      latestEventAt: '2023-11-14T22:13:20.000000Z',
    },
  },
  {
    name: 'with a fixed schema',
    request: 'GET /fixed/info',
    answer: { ...details, staticSchemaFlag: true, firstEventAt: time, latestEventAt: time },
  },
  { name: 'of none', request: 'GET /nothing/info', refusal: [404, 'dataset_not_found', 'nothing'] },
  { name: 'statistics', request: 'GET /app/stats', answer: statistics(1, eventBytes) },
  { name: 'of a day', request: 'GET /app/stats?date=THE-DAY', answer: ofDay(1, eventBytes) },
  { name: 'of another day', request: 'GET /app/stats?date=2001-01-01', answer: ofDay(0, 0) },
  {
    name: 'of no day',
    request: 'GET /app/stats?date=2026-02-30',
    refusal: [400, 'bad_request', 'YYYY-MM-DD'],
  },
  { name: 'of none', request: 'GET /nothing/stats', refusal: [404, 'dataset_not_found', 'nothing'] },
  { name: 'no retention', request: 'GET /app/retention', answer: [] },
  {
    name: 'a retention',
    request: 'PUT /app/retention',
    body: month,
    answer: 'set retention configuration for log stream app',
  },
  { name: 'which is there', request: 'GET /app/retention', answer: month },
  {
    name: 'another action',
    request: 'PUT /app/retention',
    body: [{ ...month[0], action: 'move' }],
    refusal: [400, 'bad_retention', '"delete"'],
  },
  { name: 'of none', request: 'GET /nothing/retention', refusal: [404, 'dataset_not_found', 'nothing'] },
  {
    name: 'for none',
    request: 'PUT /nothing/retention',
    body: month,
    refusal: [404, 'dataset_not_found', 'nothing'],
  },
  { name: 'the end', request: 'DELETE /app', answer: 'log stream app deleted' },
  { name: 'of none', request: 'DELETE /app', refusal: [404, 'dataset_not_found', 'app'] },
  { name: 'another method', request: 'PATCH /app', refusal: [405, 'method_not_allowed', 'PUT'] },
];

let theDay = '';

async function exchange({ request, asReader, headers = {}, body, answer, refusal }: Exchange): Promise<void> {
  const [method = '', path = ''] = request.replace('THE-DAY', theDay).split(' ');
  const reply = await fetch(`${service.url}/api/v1/logstream${path}`, {
    method,
    headers: {
      authorization: asReader === true ? reader : authorization,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const form = [reply.status, reply.headers.get('content-type')];
  if (refusal !== undefined) {
    const [status, code, says] = refusal;
    expect(form, text).toEqual([status, 'application/problem+json']);
    expect(JSON.parse(text)).toMatchObject({ status, code, detail: expect.stringContaining(says) });
  } else if (typeof answer === 'string') {
    expect([...form, text]).toEqual([200, 'text/plain; charset=utf-8', answer]);
  } else {
    expect(form, text).toEqual([200, 'application/json']);
    expect(JSON.parse(text)).toEqual(answer);
  }
}

const named = (exchanges: readonly Exchange[]) =>
  exchanges.map((each) => [each.request, each.name, each] as const);

it.each(named(making))('%s: %s', (_, __, each) => exchange(each));
it.each(named(writing))('%s: %s', (_, __, each) => exchange(each));
it('what was written is in the store', async () => {
  await service.drained();
  const [event] = await service.query('SELECT p_timestamp FROM app');
  theDay = String(event?.['p_timestamp']).slice(0, 10);
});
it.each(named(asking))('%s: %s', (_, __, each) => exchange(each));
