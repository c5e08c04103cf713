/** Texts of a field with an index are found as those of a field without one, and less is read for it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readableRows } from '../../../src/auth/policy.ts';
import type { DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { quoteString } from '../../../src/lib/quote.ts';
import { databaseOf, defaultTenant, physicalTable } from '../../../src/model/dataset.ts';
import type { DatasetOptions } from '../../../src/model/dataset-options.ts';
import type { Privilege } from '../../../src/model/identity.ts';
import { lowerCase, searchIndex } from '../../../src/model/text-search.ts';
import { catalogOf } from '../../sql/fixtures.ts';
import { administrator, asker, queryService } from '../../sql/querier.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { seededRandom } from '../../support/lib/random.ts';
import { testSeed } from '../../support/lib/seed.ts';

const columns = [
  { name: 'n:num', type: 'Nullable(Float64)' },
  { name: 'text:str', type: 'Nullable(String)' },
];
const indexed: DatasetOptions = { searchFields: ['text', 'later'] };
const info = (name: string): DatasetInfo => ({
  tenant: defaultTenant,
  name,
  id: name,
  kind: 'events',
  columns: new Map(columns.map((column) => [column.name, column])),
  ready: true,
});
const catalog = {
  ...catalogOf([], [info('plain'), info('searched'), info('upgraded')]),
  optionsOf: (_: string, id: string) => (id === 'plain' ? undefined : indexed),
};
const tableOf = (name: string): string => `${databaseOf(defaultTenant)}.\`${physicalTable(name, 'events')}\``;

/** Of the rows that are read at least, if any are. */
const granuleRows = 8192;
const granules = 5;
const random = seededRandom(testSeed);

/** Pieces that are alike in some alphabet, in some case, or to LIKE or a regular expression. */
const pieces = [
  'error',
  'ERROR',
  'Error',
  'timeout',
  'İstanbul',
  'istanbul',
  'ISTANBUL',
  'ıstanbul',
  'KELVIN',
  '\u212aelvin',
  'kelvin',
  'straße',
  'STRASSE',
  'Straẞe',
  'ſtraſſe',
  'ΣΑΣ',
  'σας',
  'ΣΑς',
  'ΟΔΟΣ ',
  'οδος ',
  'ὈΔΟΣ',
  'Ǆungla',
  'ǆungla',
  'ǅungla',
  'Überlauf',
  'überlauf',
  'UBERLAUF',
  'naïve',
  'ПРИВЕТ',
  'привет',
  '日本語の文字',
  '😀😃😄😁',
  '𐐀𐐁𐐂𐐃',
  '𐐨𐐩𐐪𐐫',
  'a\u0307bc',
  'I\u0307stanbul',
  '100%',
  '50_50',
  'C:\\temp',
  'a.b.c.d',
  '(paren)',
  '[brackets]',
  "it's",
  ' ',
  '  ',
  '',
  'a',
  'ab',
  'abc',
  '\n',
  '\t',
  'x'.repeat(90),
];
const some = <T>(items: readonly T[]): T => items[random.integer(0, items.length - 1)] as T;
const textOf = (most: number): string =>
  Array.from({ length: random.integer(1, most) }, () => some(pieces)).join(some(['', ' ', '-']));
/** A part of a text, cut between characters. */
const partOf = (text: string): string => {
  const characters = [...text];
  const from = random.integer(0, characters.length - 1);
  return characters.slice(from, from + random.integer(1, 12)).join('');
};
const changedCase = (text: string): string =>
  [...text].map((each) => some([each, each.toUpperCase(), each.toLowerCase()])).join('');

const texts = Array.from({ length: 400 }, () => (random.chance(0.05) ? null : textOf(4)));

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  const create = async (name: string, options: DatasetOptions | undefined) => {
    for (const statement of datasetStatements(defaultTenant, name, 'events', options, columns))
      await store.store.command(statement);
  };
  const fill = async (name: string) => {
    const rows = texts.map((each, index) => `(${index}, ${each === null ? 'NULL' : quoteString(each)})`);
    await store.store.command(`INSERT INTO ${tableOf(name)} (p_timestamp, \`n:num\`, \`text:str\`)
      SELECT toDateTime64(1763640000, 6, 'UTC'), n, t FROM values('n Float64, t Nullable(String)', ${rows.join(', ')})`);
  };
  await create('plain', undefined);
  await create('searched', indexed);
  await create('upgraded', undefined);
  for (const name of ['plain', 'searched', 'upgraded']) await fill(name);
  // A part without the index beside one with it.
  await store.store.command(`ALTER TABLE ${tableOf('upgraded')} ADD INDEX ${searchIndex('text:str')}`);
  await fill('upgraded');
  await store.store.command(`
    INSERT INTO ${tableOf('searched')} (p_timestamp, \`n:num\`, \`text:str\`)
    SELECT toDateTime64(1763640000 + number, 6, 'UTC'), 1e6 + number, 'request ' || toString(number) || if(number = 20000, ' Zyzzyva', '')
    FROM numbers(${granuleRows * granules})`);
});
afterAll(() => store?.close());

const question = { principal: administrator, tenant: defaultTenant, signal: new AbortController().signal };
const service = () => queryService(store.store, catalog);
const ask = async (sql: string) => (await asker(service())(sql)).rows;

/** How many granules of the table are left when its indexes have been looked into. */
async function granulesRead(sql: string): Promise<number> {
  const explained = await service().explain({ ...question, sql });
  const lines = await store.rows<{ explain: string }>(`EXPLAIN indexes = 1 ${explained.sql}`);
  const counts = lines.flatMap(({ explain }) => /^\s*Granules: (\d+)\/\d+$/.exec(explain)?.[1] ?? []);
  return Number(counts.at(-1));
}

test.each([
  ["text like '%Zyzzyva%'", 1],
  ["text ilike '%zYZZyva'", 1],
  ["text like 'request _____ Zyzzyva'", 1],
  ["text ~ 'Zyzzyva$'", 1],
  ["text ~ '^request [0-9]+ Zyzzyv.'", 1],
  ["text ~* 'zyzzyva'", 1],
  ["text = 'request 20000 Zyzzyva'", 1],
  ["n > 0 and (text like '%Zyzzyva%' or text ilike '%nowhere to be found%')", 1],
  ["text like '%nowhere to be found%'", 0],
])('where %s, few granules are read', async (where, rows) => {
  const sql = `select count(*) from searched where ${where}`;
  expect(await ask(sql)).toEqual([[rows]]);
  // A filter has false positives now and then.
  expect(await granulesRead(sql)).toBeLessThanOrEqual(2);
});

test.each([
  ["text not like '%Zyzzyva%' and n >= 1000000", granuleRows * granules - 1],
  ["(text like '%Zyzzyva%' or n = 1000001)", 2],
  ["(text like '%Zyzzyva%') is not true and n >= 1000000", granuleRows * granules - 1],
  ["(text ~ 'Zyzzyva|request 30000') and n >= 1000000", 2],
  ["text like '%yva' and n >= 1000000", 1],
])('where %s, all rows are looked at', async (where, rows) => {
  expect(await ask(`select count(*) from searched where ${where}`)).toEqual([[rows]]);
});

test('a row that a join fills up is kept', async () => {
  const joined =
    "searched a left join searched b on b.n = a.n and b.text like '%Zyzzyva%' where a.n >= 1000000";
  expect(await ask(`select count(*) from ${joined} and b.text is null`)).toEqual([
    [granuleRows * granules - 1],
  ]);
});

test(`random conditions have the same answers with an index, without, and with one for some rows (seed ${testSeed})`, async () => {
  const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const likeOf = (text: string): string =>
    [...text]
      .map((each) => ('%_\\'.includes(each) ? `\\${each}` : random.chance(0.1) ? some(['_', '%']) : each))
      .join('');
  const regexOf = (text: string): string =>
    [...text]
      .map((each) =>
        /[A-Za-z0-9 \n\t]|[^\0-\x7f]/.test(each)
          ? random.chance(0.1)
            ? some(['.', `${each}?`, `(${each})`, `${each}+`])
            : each
          : `\\${each}`,
      )
      .join('');
  const conditions = Array.from({ length: 80 }, () => {
    const part = changedCase(partOf(some(texts) ?? 'error'));
    return some([
      `text like ${literal(`%${likeOf(part)}%`)}`,
      `text ilike ${literal(`%${likeOf(part)}%`)}`,
      `text ilike ${literal(likeOf(some(texts) ?? ''))}`,
      `text ~ ${literal(regexOf(part))}`,
      `text ~* ${literal(regexOf(part))}`,
      `text ~* ${literal(`^.*${regexOf(part)}`)}`,
      `text = ${literal(some(texts) ?? '')}`,
      `(text like ${literal(`%${part.replace(/[\\%_]/g, '')}%`)} or text ilike ${literal(`${likeOf(part)}%`)})`,
      `not (text ilike ${literal(`%${likeOf(part)}%`)})`,
    ]);
  });
  let found = 0;
  for (const condition of conditions) {
    const of = (name: string) => ask(`select n from ${name} where ${condition} and n < 1000000 order by n`);
    const [plain, searched, upgraded] = [await of('plain'), await of('searched'), await of('upgraded')];
    expect(searched, condition).toEqual(plain);
    expect(upgraded, condition).toEqual(plain.flatMap((row) => [row, row]));
    found += plain.length;
  }
  expect(found).toBeGreaterThan(conditions.length);
}, 120_000);

test('the lower case of a text is that of its characters, wherever they stand', async () => {
  const different = await store.rows<{ n: number }>(`
    SELECT count() AS n FROM (
      SELECT arrayJoin(['', 'a', 'Α', 'Σ', 'I']) AS before, arrayJoin(['', 'a', 'Α', '\u0307']) AS after,
        decodeHTMLComponent(concat('&#', toString(number), ';')) AS c
      FROM numbers(33, ${0x1f000 - 33}) WHERE number NOT BETWEEN 0xd800 AND 0xdfff)
    WHERE ${lowerCase('concat(before, c, after)')} != concat(${lowerCase('before')}, ${lowerCase('c')}, ${lowerCase('after')})
    SETTINGS max_block_size = 1024`);
  expect(Number(different[0]?.n)).toBe(0);
}, 120_000);

test('who may not see all rows is not told by the index what is in the others', async () => {
  const privileges: Privilege[] = [
    { privilege: 'reader', dataset: 'searched', tag: { field: 'text', value: 'abc' } },
  ];
  const principal = { ...administrator, kind: 'user' as const, privileges };
  const narrowed = queryService(store.store, catalog, { readableRows });
  const sql = "select count(*) from searched where text ilike '%zyzzyva%'";
  expect((await narrowed.explain({ ...question, sql })).sql).toContain('ifNull(lowerUTF8');
  expect((await narrowed.explain({ ...question, sql, principal })).sql).not.toContain('ifNull(lowerUTF8');
});
