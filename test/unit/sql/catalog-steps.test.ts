import { expect, test } from 'vitest';
import { TranslationBudget } from '../../../src/sql/budget.ts';
import { noParameters } from '../../../src/sql/parameters.ts';
import type { SqlCatalog } from '../../../src/sql/sql-catalog.ts';
import { parseQuery } from '../../../src/sql/syntax/parse.ts';
import { translate } from '../../../src/sql/translate-query.ts';
import { ColumnMemory, ReadableMemory } from '../../../src/sql/translation/task-catalog.ts';
import type { CatalogQuestion } from '../../../src/sql/translation/translation-messages.ts';
import { runTask } from '../../../src/sql/translation/translation-task.ts';
import { catalogOfDatasets, eventsDataset } from '../../support/sql/small-catalogs.ts';

/** What queries of the catalog cost with 2,000 datasets of 20 columns, in steps and in what they ask for. */

const count = 2000;
const fields = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`c${index}`, ['num'] as const]));
const names = Array.from({ length: count }, (_, index) => `dataset_${index}`);
const whole = catalogOfDatasets(names.map((name) => eventsDataset(name, fields)));

/** psql's `\dt`. */
const listTables = `SELECT n.nspname as "Schema", c.relname as "Name",
    CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' END as "Type",
    pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
  FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
  WHERE c.relkind IN ('r','p','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast'
    AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
  ORDER BY 1,2`;

const oneTable = `SELECT a.attname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
  WHERE c.relname = 'dataset_1000' AND a.attnum > 0 ORDER BY a.attnum`;

const columnsOfOne = `SELECT column_name FROM information_schema.columns
  WHERE table_schema = 'public' AND table_name = 'dataset_1000' ORDER BY ordinal_position`;

/** @returns how many steps it took, how many rows it gave, and how many datasets it looked into */
async function cost(sql: string) {
  const budget = new TranslationBudget();
  const looked = new Set<string>();
  const catalog: SqlCatalog = {
    ...whole,
    dataset: (name) => {
      looked.add(name);
      return whole.dataset(name);
    },
  };
  const range = { start: false, end: false };
  const { knownRows } = translate(await parseQuery(sql), catalog, range, budget);
  return { steps: budget.spent('catalogSteps'), rows: knownRows?.count, looked: looked.size };
}

test('all tables are listed in some steps for each', async () => {
  const { steps, rows, looked } = await cost(listTables);
  expect(rows).toBe(count);
  expect(looked).toBe(0);
  expect(steps).toBeLessThan(60 * count);
});

test.each([
  ['by its object id and name', oneTable],
  ['in information_schema', columnsOfOne],
])('the columns of one table %s cost no more with more tables', async (_, sql) => {
  const { steps, rows, looked } = await cost(sql);
  expect(rows).toBe(21);
  expect(looked).toBe(1);
  expect(steps).toBeLessThan(1000);
});

/** Runs a task in this thread. @returns how many datasets were asked for in each question */
async function questions(sql: string): Promise<readonly (number | 'names' | 'sizes')[]> {
  const asked: (number | 'names' | 'sizes')[] = [];
  const ask = (question: CatalogQuestion) => {
    asked.push(question.about === 'datasets' ? question.datasets.length : question.about);
    const datasets =
      question.about === 'datasets'
        ? question.datasets.map(({ name }) => ({
            name,
            kind: 'readable' as const,
            id: name,
            holds: 'events' as const,
            ready: true,
            state: 1,
            columns: ['c0:num'],
            rows: 'all' as const,
          }))
        : [];
    const known = question.about === 'names' ? names.map((name) => ({ name, kind: 'events' as const })) : [];
    return Promise.resolve({ datasets, names: known, sizes: [], error: undefined });
  };
  const parts = { version: '1.2.3', columns: new ColumnMemory(), readables: new ReadableMemory(), ask };
  const range = { start: false, end: false };
  const task = { text: sql, tenant: 'default', readable: 1, range, parameters: noParameters };
  for (const _ of ['the first time', 'and again'])
    expect(await runTask(task, parts)).toMatchObject({ kind: 'translated' });
  return asked;
}

test('a thread asks for the names once, and for the columns that a query gets to', async () => {
  expect(await questions(listTables)).toEqual(['names']);
  expect(await questions(columnsOfOne)).toEqual(['names', 1, 1]);
  expect(await questions('SELECT count(*) FROM information_schema.columns')).toEqual(['names', count, count]);
  const few = [1, 2, 3, 4, 5].map((each) => `'dataset_${each}'`).join(', ');
  const joined = `SELECT a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relname IN (${few})`;
  const [first, ...more] = await questions(joined);
  expect([first, ...more.slice(0, 4)]).toEqual(['names', 1, 1, 1, count - 3]);
});
