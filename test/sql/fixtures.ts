import type { CatalogView, DatasetInfo } from '../../src/catalog/dataset-entry.ts';
import type { Store } from '../../src/clickhouse/store.ts';
import { datasetStatements } from '../../src/clickhouse/table-definitions.ts';
import { quoteIdentifier, quoteString } from '../../src/lib/quote.ts';
import { limits } from '../../src/limits/limits.ts';
import { type FieldType, fieldColumnName, fieldColumnType } from '../../src/model/column.ts';
import { databaseOf, defaultTenant, physicalTable } from '../../src/model/dataset.ts';

type Value = string | number | boolean | null;

/** An events dataset whose fields have one type each, as a table of PostgreSQL can have them. */
export interface Fixture {
  readonly name: string;
  readonly fields: Readonly<Record<string, FieldType>>;
  /** The time, then the fields in order. */
  readonly rows: readonly (readonly [string, ...Value[]])[];
}

const levels = ['info', 'warn', 'error', 'debug'];
const services = ['api', 'web', 'worker', null];
const messages = [
  'GET /index.html 200',
  "it's a 100% \\ backslash",
  'Überlauf ✓ emoji 😀',
  '',
  '  padded  ',
  null,
  'a,b,c',
];

/** 60 requests with repeated values and NULLs in every column. */
const app: Fixture = {
  name: 'app',
  fields: {
    id: 'num',
    level: 'str',
    service: 'str',
    status: 'num',
    ms: 'num',
    bytes: 'num',
    ok: 'bool',
    message: 'str',
  },
  rows: Array.from({ length: 60 }, (_, index) => {
    const day = String(1 + (index % 3)).padStart(2, '0');
    const hour = String(index % 24).padStart(2, '0');
    return [
      `2024-03-${day} ${hour}:${String((index * 7) % 60).padStart(2, '0')}:${String((index * 13) % 60).padStart(2, '0')}.${String(index * 1234).padStart(6, '0')}`,
      index,
      levels[index % 4] ?? null,
      services[index % 5 === 0 ? 3 : index % 3] ?? null,
      index % 11 === 0 ? null : ([200, 201, 404, 500][index % 4] ?? null),
      index % 7 === 0 ? null : Math.round(1000 * (index * 1.37 + 0.25)) / 1000,
      index % 13 === 0 ? null : index * index * 100,
      index % 6 === 0 ? null : index % 2 === 0,
      messages[index % messages.length] ?? null,
    ];
  }),
};

const emp: Fixture = {
  name: 'emp',
  fields: { eid: 'num', name: 'str', dept: 'num', boss: 'num', salary: 'num', hired: 'str' },
  rows: [
    ['2024-01-01 00:00:00', 1, 'Ada', 10, null, 5000, '2019-02-28'],
    ['2024-01-01 00:00:01', 2, 'Bob', 10, 1, 4000.5, '2020-02-29'],
    ['2024-01-01 00:00:02', 3, 'Cyd', 20, 1, 4000.5, '2021-12-31'],
    ['2024-01-01 00:00:03', 4, 'Dee', 20, 3, 3500, null],
    ['2024-01-01 00:00:04', 5, 'Eve', null, 3, null, '2023-07-04'],
    ['2024-01-01 00:00:05', 6, 'Fay', 40, 2, 100, '2024-01-01'],
  ],
};

const dept: Fixture = {
  name: 'dept',
  fields: { did: 'num', title: 'str' },
  rows: [
    ['2024-01-01 00:00:00', 10, 'Research'],
    ['2024-01-01 00:00:00', 20, 'Sales'],
    ['2024-01-01 00:00:00', 30, 'Empty'],
  ],
};

const empty: Fixture = { name: 'empty', fields: { x: 'num', s: 'str', b: 'bool' }, rows: [] };

export const fixtures: readonly Fixture[] = [app, emp, dept, empty];

const postgresType: Readonly<Record<FieldType, string>> = { num: 'float8', str: 'text', bool: 'boolean' };

/** Rows of one INSERT. */
const chunkRows = 5000;

function chunks<T>(rows: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(rows.length / chunkRows) }, (_, index) =>
    rows.slice(index * chunkRows, (index + 1) * chunkRows),
  );
}

/** The fixture as statements for PostgreSQL. */
export function postgresStatements(fixture: Fixture): string {
  const columns = Object.entries(fixture.fields).map(([name, type]) => `"${name}" ${postgresType[type]}`);
  const value = (each: Value): string =>
    each === null ? 'NULL' : typeof each === 'string' ? `'${each.replaceAll("'", "''")}'` : String(each);
  const rows = fixture.rows.map((row) => `(${row.map(value).join(', ')})`);
  const inserts = chunks(rows).map((chunk) => `INSERT INTO ${fixture.name} VALUES ${chunk.join(', ')};`);
  return `CREATE TABLE ${fixture.name} (p_timestamp timestamptz, ${columns.join(', ')}); ${inserts.join(' ')}`;
}

/**
 * Makes the fixture an events dataset of the store.
 * @throws for a time that the service stores none of: the partitions of tables have days from 1970 to 2106,
 * and a query leaves out those that by their days cannot match
 */
export async function loadEvents(store: Store, fixture: Fixture, tenant = defaultTenant): Promise<void> {
  for (const [time] of fixture.rows) {
    const ms = Date.parse(`${time.replace(' ', 'T')}Z`);
    if (!(ms >= 0 && ms <= limits.maxSampleTimestampMs)) throw new Error(`${fixture.name}: ${time}`);
  }
  for (const statement of datasetStatements(tenant, fixture.name, 'events')) await store.command(statement);
  const table = `${quoteIdentifier(databaseOf(tenant))}.${quoteIdentifier(physicalTable(fixture.name, 'events'))}`;
  for (const column of columnsOf(fixture).values()) {
    await store.command(
      `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${quoteIdentifier(column.name)} ${column.type}`,
    );
  }
  const value = (each: Value): string =>
    each === null ? 'NULL' : typeof each === 'string' ? quoteString(each) : String(each);
  const rows = fixture.rows.map((row) => `(${row.map(value).join(', ')})`);
  for (const chunk of chunks(rows)) await store.command(`INSERT INTO ${table} VALUES ${chunk.join(', ')}`);
}

const columnsOf = (fixture: Fixture) =>
  new Map(
    Object.entries(fixture.fields).map(([field, type]) => {
      const name = fieldColumnName(field, type);
      return [name, { name, type: fieldColumnType[type] }] as const;
    }),
  );

/** A catalog of events datasets, and of what else is given. */
export function catalogOf(events: readonly Fixture[], others: readonly DatasetInfo[] = []): CatalogView {
  const infos = [
    ...events.map((fixture): DatasetInfo => {
      const columns = columnsOf(fixture);
      return {
        tenant: defaultTenant,
        name: fixture.name,
        id: fixture.name,
        kind: 'events',
        columns,
        ready: true,
      };
    }),
    ...others,
  ];
  return {
    version: () => 0,
    get: (tenant, name) => infos.find((info) => info.tenant === tenant && info.name === name),
    list: (tenant) => infos.filter((info) => info.tenant === tenant),
  };
}
