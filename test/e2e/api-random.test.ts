import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { compressSync } from 'snappy';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonSchema, OpenApiDocument, Operation } from '../../bench/reference/openapi.ts';
import { type Hints, SchemaValues } from '../support/http/schema-values.ts';
import { packageRoot } from '../support/lib/package-root.ts';
import { testSeed } from '../support/lib/seed.ts';
import { Service } from '../support/service/service.ts';

/**
 * Asks a real service for every operation of its reference, with bodies, parameters and headers made
 * from the schemas there, right ones and damaged ones. Every reply must be one that the reference names:
 * its status, its media type, its code and its members. `MILLRACE_TEST_SEED` and `MILLRACE_TEST_RUNS`
 * search among others.
 */
const seed = testSeed;
const runs = 30 * Number(process.env['MILLRACE_TEST_RUNS'] ?? 1);

const document = JSON.parse(
  readFileSync(join(packageRoot(), 'docs/reference/openapi.json'), 'utf8'),
) as OpenApiDocument;

/** There is no identity provider here, so that these are not there either. */
const operations = Object.entries(document.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  .filter(({ operation }) => !operation.tags.includes('Sign-in'));

function resolve<Value extends object>(value: Value): Value {
  const ref = (value as { readonly $ref?: unknown }).$ref;
  if (typeof ref !== 'string') return value;
  const found = ref
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], document);
  return { ...(found as Value), ...value, $ref: undefined };
}

const names = ['app', 'fixed', 'shop', 'default', 'reading', 'admin', 'no-such-thing'];
/** Of documents that were made, with one that was not. */
const ids = ['01ARZ3NDEKTSV4RRFFQ69G5FAV'];
const maxIds = 20;
const sqlTexts = [
  'SELECT 1',
  'SELECT * FROM app',
  'SELECT count(*) AS n FROM app WHERE a > 1',
  'SELEC',
  'SELECT x FROM app',
];
const hints: Hints = {
  query: sqlTexts,
  filter_query: sqlTexts,
  filter_name: ['errors', 'slow'],
  stream_name: ['app', 'shop'],
  title: ['overview', 'errors', 'latency'],
  tile_id: ['01BX5ZZKBKACTAV9WEVGEMMVRZ', '01BX5ZZKBKACTAV9WEVGEMMVS0', 'x'],
  startTime: ['1h', 'now', '2026-01-01T00:00:00Z', '2026-01-01 00:00:00'],
  endTime: ['now', '2026-01-02T00:00:00Z'],
  streamName: ['app', 'shop'],
  stream: names,
  dataset: names,
  tag: ['env=prod', 'env'],
  roles: ['reading', 'no-such-role'],
  duration: ['30d', '0d'],
  date: ['2026-01-01', '2026-02-30'],
};

const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
ajv.addSchema(document, 'api');
const pointerPart = (text: string): string =>
  encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));

let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { MILLRACE_MULTI_TENANT: 'true' } });
});
afterAll(() => service?.dispose());

const { username, password } = Service.credentials;
const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

interface Sent {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

function requestFor(path: string, operation: Operation, values: SchemaValues): Sent {
  const { random } = values;
  const damage = random.chance(0.5) ? 0 : values.pick([0.05, 0.3]);
  const tenant = random.chance(0.9) ? 'default' : 'shop';
  const target = targetFor(path, operation, values, damage);
  const { body, headers } = bodyFor(path, operation, values, damage);
  return {
    path: target.path,
    headers: {
      'x-p-tenant': tenant,
      ...(random.chance(0.95) ? { authorization } : {}),
      ...target.headers,
      ...headers,
    },
    body,
  };
}

/** Path, query string and headers. */
function targetFor(
  path: string,
  operation: Operation,
  values: SchemaValues,
  damage: number,
): Pick<Sent, 'path' | 'headers'> {
  const { random } = values;
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  let target = path;
  for (const each of operation.parameters.map((one) => resolve(one as Parameter))) {
    if (each.name === 'X-P-Tenant' || (!each.required && random.chance(0.5))) continue;
    const isName = each.in === 'path' || each.name === 'X-P-Stream';
    const value =
      isName && random.chance(0.8)
        ? values.pick(path.includes('{id}') ? ids : names)
        : textOf(values.value(each.schema, damage));
    // What no HTTP client would send is not asked for.
    if (each.in === 'path') target = target.replace(`{${each.name}}`, segmentOf(value));
    else if (each.in === 'query') query.append(each.name, value);
    else if (/^[\x21-\x7e]+$/.test(value)) headers[each.name] = value;
  }
  // `/role/default` is a route of its own.
  if (target !== path && target in document.paths) target = path.replace(/\{\w+\}/, 'x');
  return { path: query.size > 0 ? `${target}?${query}` : target, headers };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const segmentOf = (value: string): string => {
  const segment = encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '?'));
  return segment === '' || /^\.+$/.test(segment) ? 'x' : segment;
};

function bodyFor(
  path: string,
  { requestBody }: Operation,
  values: SchemaValues,
  damage: number,
): Pick<Sent, 'body' | 'headers'> {
  const { random } = values;
  if (requestBody === undefined || (!requestBody.required && random.chance(0.3))) {
    return { headers: {}, body: undefined };
  }
  const [mediaType, { schema }] = values.pick(Object.entries(requestBody.content));
  const headers = { 'content-type': random.chance(0.03) ? 'text/html' : mediaType };
  const json = mediaType.includes('json') ? values.value(schema, damage) : values.value({}, 1);
  const text = JSON.stringify(json) ?? '';
  const bytes = Buffer.from(random.chance(damage) ? text.slice(0, -1) : text);
  if (path !== '/v1/prometheus/write') return { headers, body: new Uint8Array(bytes) };
  const body = compressSync(random.chance(0.5) ? bytes : Buffer.alloc(0));
  return { headers: { ...headers, 'content-encoding': 'snappy' }, body: new Uint8Array(body) };
}

interface Answer {
  readonly status: number;
  /** What is not as the reference says; undefined if all is. */
  readonly problem: string | undefined;
}

async function ask(path: string, method: string, operation: Operation, sent: Sent): Promise<Answer> {
  const reply = await fetch(service.url + sent.path, {
    method: method.toUpperCase(),
    headers: sent.headers,
    redirect: 'manual',
    ...(sent.body === undefined ? {} : { body: sent.body }),
  });
  const bytes = Buffer.from(await reply.arrayBuffer());
  const { status } = reply;
  const text = bytes.toString('utf8');
  const [, made] = /"(?:dashboardId|filter_id)":"([0-9A-Z]{26})"/.exec(text) ?? [];
  if (made !== undefined && ids.length < maxIds && !ids.includes(made)) ids.push(made);
  const problem = problemWith(path, method, operation, status, reply.headers.get('content-type'), text);
  return {
    status,
    problem: problem === undefined ? undefined : `${problem}: ${status} ${text.slice(0, 500)}`,
  };
}

function problemWith(
  path: string,
  method: string,
  operation: Operation,
  status: number,
  header: string | null,
  text: string,
): string | undefined {
  if (status === 500) return 'an error inside the service';
  const written = operation.responses[String(status)];
  if (written === undefined) return 'a status that is not there';
  const { content = {} } = resolve(written) as { readonly content?: Readonly<Record<string, unknown>> };
  if (header === null) return Object.keys(content).length === 0 ? undefined : 'no media type';
  const mediaType = Object.keys(content).find((each) => each === header || each === header.split(';')[0]);
  if (mediaType === undefined) return `the media type ${header} is not there`;
  if (!mediaType.includes('json') || mediaType.includes('ndjson')) return undefined;
  const at =
    '$ref' in written ? written.$ref.slice(1) : `/paths/${pointerPart(path)}/${method}/responses/${status}`;
  const validate = ajv.getSchema(`api#${at}/content/${pointerPart(mediaType)}/schema`);
  if (validate === undefined) return `there is no schema at ${at}`;
  return validate(JSON.parse(text)) === true ? undefined : ajv.errorsText(validate.errors);
}

it(`answers as its reference says (seed ${seed})`, async () => {
  const statuses = new Set<number>();
  const problems: string[] = [];
  for (const [index, { path, method, operation }] of operations.entries()) {
    const values = new SchemaValues(seed + index, resolve, hints);
    for (let run = 0; run < runs; run += 1) {
      const sent = requestFor(path, operation, values);
      const { status, problem } = await ask(path, method, operation, sent);
      statuses.add(status);
      const { path: target, headers, body = [] } = sent;
      const shown = `${target} ${JSON.stringify(headers)} ${Buffer.from(body).toString('utf8').slice(0, 500)}`;
      if (problem !== undefined) problems.push(`run ${run}: ${method} ${shown}: ${problem}`);
    }
  }
  expect(problems).toEqual([]);
  // Right requests and wrong ones, or the schemas have not been of use.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 401, 404]));
});
