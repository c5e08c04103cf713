import type { CatalogView, DatasetInfo } from '../src/catalog/dataset-entry.ts';
import { systemClock } from '../src/lib/clock.ts';
import { fieldColumnName, fieldColumnType } from '../src/model/column.ts';
import { defaultTenant } from '../src/model/dataset.ts';
import type { Principal } from '../src/model/identity.ts';
import { Translator } from '../src/query/translator.ts';
import { markdownTable } from './markdown-table.ts';
import { ownCpuMicros, threadCpuMicros } from './proc.ts';
import { translationParts } from './translation-parts.ts';

/**
 * What queries of the catalog cost with 2,000 datasets of 20 fields: CPU of all threads of the process, and
 * of it in the main thread, where everybody else waits. No translation is cached, since each text is another
 * one.
 */

const datasets = 2000;
const fields = 20;

/** psql's `\dt`, and of its `\d dataset_1000` the statements that cost most. */
const statements: Readonly<Record<string, string>> = {
  '\\dt': `SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type", pg_catalog.pg_get_userbyid(c.relowner) as "Owner" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r','p','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2`,
  '\\d name: its object id': `SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(dataset_1000)$' COLLATE pg_catalog.default AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3`,
  '\\d name: its columns': `SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated FROM pg_catalog.pg_attribute a WHERE a.attrelid = 'dataset_1000'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
  'information_schema.tables': 'SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2',
  'information_schema.columns of one table': `SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'dataset_1000' ORDER BY ordinal_position`,
  'information_schema.columns, four of them':
    'SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns ORDER BY 1, 2, 3',
  'information_schema.columns, all of them': 'SELECT * FROM information_schema.columns',
};

function catalogOf(version: () => number): CatalogView {
  const columns = Array.from({ length: fields }, (_, index) => {
    const type = index % 2 === 0 ? 'str' : 'num';
    const name = fieldColumnName(`field_${index}`, type);
    return [name, { name, type: fieldColumnType[type] }] as const;
  });
  const infos = Array.from({ length: datasets }, (_, index): DatasetInfo => {
    const name = `dataset_${String(index).padStart(4, '0')}`;
    return { tenant: defaultTenant, name, id: name, kind: 'events', columns: new Map(columns), ready: true };
  });
  const byName = new Map(infos.map((info) => [info.name, info]));
  return { version, get: (_, name) => byName.get(name), list: () => infos };
}

const principal: Principal = {
  kind: 'root',
  name: 'admin',
  tenant: defaultTenant,
  privileges: [{ privilege: 'admin' }],
};

export async function measureCatalog(quick: boolean): Promise<string> {
  let version = 1;
  const { translations, ...parts } = translationParts();
  const translator = new Translator({ ...parts, translations, catalog: catalogOf(() => version) });
  let count = 0;
  const ask = (sql: string) => {
    count += 1;
    const times = { startMicros: undefined, endMicros: undefined, nowMicros: systemClock.nowMicros() };
    const text = `${sql} -- ${count}`;
    return translator.translate({ principal, tenant: defaultTenant, sql: text, times, needsSql: false });
  };
  const { pid } = process;
  const rounds = quick ? 10 : 50;
  /** @param before called before each statement @returns ms of all threads and of the main thread */
  const measured = async (sql: string, before: () => void) => {
    const run = async (): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        before();
        await ask(sql);
      }
    };
    await run();
    const [all, main] = [ownCpuMicros(pid), threadCpuMicros(pid, pid)];
    await run();
    return [ownCpuMicros(pid) - all, threadCpuMicros(pid, pid) - main].map((micros) =>
      (micros / rounds / 1000).toFixed(1),
    );
  };
  try {
    const rows: string[][] = [];
    for (const [name, sql] of Object.entries(statements)) {
      const same = await measured(sql, () => undefined);
      const changed = await measured(sql, () => {
        version += 1;
      });
      rows.push([name, ...same, ...changed]);
    }
    return markdownTable(
      [
        `${datasets} datasets of ${fields} fields`,
        'CPU ms',
        'of it in the main thread',
        'CPU ms after a change of the catalog',
        'of it in the main thread',
      ],
      rows,
    );
  } finally {
    await translations.close();
  }
}
