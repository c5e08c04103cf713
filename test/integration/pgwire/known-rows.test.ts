import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { utc } from '../../../src/lib/time-zone.ts';
import { MessageWriter } from '../../../src/pgwire/protocol/message-writer.ts';
import { RowEncoder } from '../../../src/pgwire/values/encoders.ts';
import { TabSeparatedRows } from '../../../src/pgwire/values/tab-separated-rows.ts';
import { KnownResult } from '../../../src/query/known-result.ts';
import type { QueryService } from '../../../src/query/query-service.ts';
import type { CatalogSession } from '../../../src/sql/catalog-session.ts';
import { catalogOf, fixtures } from '../../sql/fixtures.ts';
import { administrator, queryService, wholeOf } from '../../sql/querier.ts';
import { randomRuns } from '../../sql/random-runs.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';

/** What is answered without the store is what the store answers, to the byte of what clients get. */
let store: TestStore;
let direct: QueryService;
/** Whose bound on rows nothing fits that is known, and which the store takes for none. */
let byStore: QueryService;

beforeAll(async () => {
  store = await openTestStore();
  const bounds = { timeoutMs: 20_000, maxThreads: 2, maxMemoryBytes: 1 << 30, maxResultBytes: 1 << 30 };
  direct = queryService(store.store, catalogOf(fixtures));
  byStore = queryService(store.store, catalogOf(fixtures), { bounds: { ...bounds, maxResultRows: 0 } });
});
afterAll(() => store?.close());

interface Answer {
  readonly isKnown: boolean;
  /** Types, and rows in text and in binary; or the error. */
  readonly sent: unknown;
}

async function answer(service: QueryService, sql: string): Promise<Answer> {
  const { signal } = new AbortController();
  const session = (): CatalogSession => ({
    user: 'admin',
    database: 'millrace',
    processId: 1,
    startedMs: 0,
    serviceStartedMs: 0,
    clientAddress: undefined,
    settings: [['server_version_num', '150000']],
    sessions: [],
  });
  const common = { principal: administrator, tenant: 'default', session };
  try {
    const result = await service.run({ ...common, sql, format: 'rows', signal });
    const document = await wholeOf(result.chunks);
    const types = result.columns.map(({ label, type }) => [label, type.oid]);
    const sent: unknown[] = [types];
    for (const format of [0, 1] as const) {
      const rows = encoded(document, result.columns, format);
      // The store gives them in any order.
      sent.push(sql.startsWith('VALUES') ? rows.sort() : rows);
    }
    return { isKnown: result instanceof KnownResult, sent };
  } catch (thrown) {
    if (thrown instanceof AppError) return { isKnown: false, sent: [thrown.code, thrown.message] };
    throw thrown;
  }
}

function encoded(
  document: Buffer,
  columns: Awaited<ReturnType<QueryService['run']>>['columns'],
  format: 0 | 1,
): string[] {
  const encoder = new RowEncoder(
    columns.map(({ type }) => ({ type, format })),
    { timeZone: () => utc },
  );
  const rows = new TabSeparatedRows(columns.length);
  rows.push(document);
  const out = new MessageWriter();
  const made: string[] = [];
  while (rows.next()) {
    encoder.write(out, rows);
    made.push(out.take().toString('latin1'));
  }
  return made;
}

const texts = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'b',
    "it''s",
    'tab\there',
    'line\nfeed',
    'back\\slash',
    '\\N',
    'ünïcode 💡',
    'NULL',
  ),
  fc.string({ maxLength: 8 }).map((text) => text.replaceAll("'", "''").replaceAll('\0', '')),
);
const textLiteral = texts.map((text) => `'${text}'`);
const integers = fc.oneof(
  fc.constantFrom('0', '1', '-1', '7', '2147483647', '-2147483648', '2147483648', '9223372036854775807'),
  fc.integer().map(String),
  fc.constantFrom('NULL::int', 'NULL::bigint', "'12'::int2", '5::int8', '32767::int2'),
);
const others = fc.oneof(
  fc.constantFrom('1.5', '-0.0', '1.50', '1e3', '.5', '00.10', "'12.340'::numeric", 'NULL::numeric'),
  fc.double().map((value) => `'${value}'::float8`),
  fc.constantFrom(
    'NULL',
    'NULL::float8',
    'NULL::text',
    'NULL::timestamptz',
    "'1e400'::float8",
    '0.1::float8',
  ),
  fc.constantFrom(
    "'2024-02-29'::date",
    "'1969-12-31 23:59:59.999999'::timestamp",
    "'2024-03-01 10:00:00.5+02'::timestamptz",
    "'1900-01-01'::timestamptz",
    "interval '1 day 2 hours'",
    '\'{"a": 1}\'::json',
    'ARRAY[1, 2]',
    'now() IS NULL',
  ),
);

const { item } = fc.letrec<{ int: string; bool: string; text: string; item: string }>((tie) => ({
  int: fc.oneof(
    { depthSize: 'small' },
    integers,
    fc
      .tuple(tie('int'), fc.constantFrom('+', '-', '*', '/', '%', '&', '<<'), tie('int'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    tie('int').map((value) => `(- ${value})`),
    fc
      .tuple(tie('int'), fc.constantFrom('int2', 'int4', 'int8'))
      .map(([value, type]) => `(${value})::${type}`),
  ),
  bool: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('true', 'false', 'NULL::bool'),
    fc
      .tuple(fc.constantFrom('int', 'text'), fc.constantFrom('=', '<>', '<', '<=', '>', '>='))
      .chain(([kind, operator]) =>
        fc.tuple(tie(kind), tie(kind)).map(([left, right]) => `(${left} ${operator} ${right})`),
      ),
    fc
      .tuple(tie('bool'), fc.constantFrom('and', 'or'), tie('bool'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    tie('bool').map((value) => `(not ${value})`),
  ),
  text: fc.oneof(
    { depthSize: 'small' },
    textLiteral,
    fc.tuple(tie('text'), tie('text')).map(([left, right]) => `(${left} || ${right})`),
    fc.oneof(tie('int'), tie('bool')).map((value) => `(${value})::text`),
  ),
  item: fc.oneof(tie('int'), tie('bool'), tie('text'), others),
}));

test('constants, and what is computed of them', async () => {
  let known = 0;
  let all = 0;
  const statement = fc.oneof(
    fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => `SELECT ${items.join(', ')}`),
    fc
      .tuple(integers, textLiteral, integers, textLiteral)
      .map(([a, b, c, d]) => `VALUES (${a}, ${b}), (${c}, ${d})`),
  );
  const property = fc.asyncProperty(statement, async (sql) => {
    const [own, stored] = [await answer(direct, sql), await answer(byStore, sql)];
    expect(stored.isKnown).toBe(false);
    expect(own.sent).toEqual(stored.sent);
    all += 1;
    if (own.isKnown) known += 1;
  });
  await fc.assert(property, {
    ...randomRuns(300),
    interruptAfterTimeLimit: 90_000,
    markInterruptAsFailure: true,
  });
  expect(known / all).toBeGreaterThan(0.4);
});

describe('queries that need no store', () => {
  test.each([
    'SELECT 1',
    "SELECT 1 AS a, 'text' AS b, true AS c, NULL AS d",
    'SELECT 2 * 3 + 1, 7 / 2, -7 % 3, 1 < 2',
    "SELECT 'a' || 1",
    "SELECT '2024-03-01 10:00:00+02'::timestamptz, '2024-03-01'::date, 1.50, '1.5'::float8",
    'VALUES (1), (2), (NULL)',
    'SELECT version()',
    "SELECT current_setting('server_version_num')",
    "SELECT current_schema(), current_schemas(true), 'a\tb'::name",
    'SELECT oid, typname, typlen, typbyval, typtype, typelem FROM pg_catalog.pg_type ORDER BY oid',
    'SELECT * FROM pg_catalog.pg_class ORDER BY oid',
    'SELECT attname, attnum, attnotnull FROM pg_attribute WHERE attnum > 0 ORDER BY attrelid, attnum',
    'SELECT relname FROM pg_class WHERE false',
    "SELECT ARRAY['it''s', 'a\tb', NULL]::name[] FROM pg_namespace LIMIT 1",
    'SELECT pg_postmaster_start_time() IS NULL, has_schema_privilege(oid, $$USAGE$$) FROM pg_namespace',
  ])('%s', async (sql) => {
    const [own, stored] = [await answer(direct, sql), await answer(byStore, sql)];
    expect(own.isKnown).toBe(true);
    expect(own.sent).toEqual(stored.sent);
  });

  test.each(['SELECT now()', 'SELECT 1 / 0', 'SELECT 2147483647 + 1', 'SELECT count(*)', 'SELECT 1 LIMIT 0'])(
    '%s is the store’s to answer',
    async (sql) => {
      const [own, stored] = [await answer(direct, sql), await answer(byStore, sql)];
      expect(own.isKnown).toBe(false);
      expect(own.sent).toEqual(stored.sent);
    },
  );
});
