import { setTimeout as sleep } from 'node:timers/promises';
import { arrivalSettings, datasetStatements } from '../src/clickhouse/table-definitions.ts';
import { fieldColumnName, fieldColumnType } from '../src/model/column.ts';
import { defaultTenant } from '../src/model/dataset.ts';
import { openTestStore, type TestStore } from '../test/support/clickhouse/test-store.ts';
import { authorization, Service } from '../test/support/service/service.ts';
import { TailClient } from '../test/support/service/tail-client.ts';
import { markdownTable } from './markdown-table.ts';
import { cpuSeconds } from './proc.ts';
import { percentile, sendAtRate } from './sender.ts';
import { jsonWorkload } from './workloads.ts';

/**
 * What live tails cost: the numbers of inserts that merges keep, by a table with and one without them; and
 * the tails themselves, by the CPU and the delay of ingest without any, with 16 equal ones, and with 16 that
 * each have a query of their own.
 * @param part of the usual load
 */
export async function measureTails(part: number): Promise<string> {
  return [await measureNumbers(Math.ceil(60 * part)), await measureOpenTails(Math.ceil(30 * part))].join(
    '\n\n',
  );
}

const eventsInInsert = 20_000;
const merges = 4;

/** The same inserts into both tables in turn, then merges of all that they have. */
async function measureNumbers(inserts: number): Promise<string> {
  const store = await openTestStore();
  try {
    const tables = ['without', 'with'] as const;
    for (const table of tables) await makeTable(store, table, table === 'with');
    const spent = { without: { insert: 0, merge: 0 }, with: { insert: 0, merge: 0 } };
    const measured = async (work: () => Promise<void>): Promise<number> => {
      const before = cpuSeconds(process.pid);
      await work();
      return cpuSeconds(process.pid) - before;
    };
    for (let insert = 0; insert < inserts; insert += 1) {
      for (const table of inTurn(tables, insert))
        spent[table].insert += await measured(() => store.store.command(insertOf(table, insert)));
    }
    for (const table of tables) await store.store.command(`SYSTEM START MERGES ${nameOf(table)}`);
    for (let merge = 0; merge < merges; merge += 1) {
      for (const table of inTurn(tables, merge))
        spent[table].merge += await measured(() =>
          store.store.command(`OPTIMIZE TABLE ${nameOf(table)} FINAL`),
        );
    }
    const sizes = await store.rows<{ table: string; bytes: string }>(
      "SELECT table, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = 't_default' GROUP BY table",
    );
    const bytesOf = (table: string) => Number(sizes.find((size) => size.table === `${table}.events`)?.bytes);
    return markdownTable(
      ['numbers of inserts', 'CPU of inserts, s', `CPU of ${merges} merges, s`, 'bytes an event, merged'],
      tables.map((table) => [
        table,
        spent[table].insert.toFixed(2),
        spent[table].merge.toFixed(2),
        (bytesOf(table) / (inserts * eventsInInsert)).toFixed(3),
      ]),
    );
  } finally {
    await store.close();
  }
}

const inTurn = <T>(all: readonly T[], round: number): readonly T[] =>
  round % 2 === 0 ? all : all.toReversed();
const nameOf = (table: string): string => `\`t_default\`.\`${table}.events\``;

const columns = [
  { field: 'level', type: 'str' },
  { field: 'message', type: 'str' },
  { field: 'service', type: 'str' },
  { field: 'user', type: 'str' },
  { field: 'ms', type: 'num' },
  { field: 'status', type: 'num' },
] as const;

async function makeTable({ store }: TestStore, table: string, keeps: boolean): Promise<void> {
  const specs = columns.map(({ field, type }) => ({
    name: fieldColumnName(field, type),
    type: fieldColumnType[type],
  }));
  for (const statement of datasetStatements(defaultTenant, table, 'events', undefined, specs))
    await store.command(statement);
  if (!keeps)
    await store.command(`ALTER TABLE ${nameOf(table)} MODIFY SETTING ${arrivalSettings.replace('1', '0')}`);
  await store.command(`SYSTEM STOP MERGES ${nameOf(table)}`);
}

/** Events of one second, of which two in a hundred come up to half a minute late; the same for each table. */
const insertOf = (table: string, insert: number): string =>
  `INSERT INTO ${nameOf(table)} (p_timestamp, ${columns.map(({ field, type }) => `\`${field}:${type}\``).join(', ')})
   SELECT toDateTime64('2026-11-20 00:00:00', 6, 'UTC') + ${insert} + number / ${eventsInInsert} - if(number % 50 = 0, r % 30, 0),
     ['info', 'warn', 'error'][r % 3 + 1], concat('request ', toString(r), ' took ', toString(r % 1000), ' ms'),
     concat('svc-', toString(r % 20)), concat('u', toString(r % 100000)), r % 1000, 200 + r % 5
   FROM (SELECT number, cityHash64(number, ${insert}) AS r FROM numbers(${eventsInInsert}))`;

const dataset = 'app';
const requestsPerSecond = 20;
const eventsInRequest = 250;
const tailCount = 16;

const cases = [
  { name: 'no tail', bodies: [] },
  { name: `${tailCount} equal tails`, bodies: Array.from({ length: tailCount }, () => ({})) },
  {
    name: `${tailCount} different tails`,
    bodies: Array.from({ length: tailCount }, (_, index) => ({
      where: `level <> 'x${index}'`,
      limit: 500 - index,
    })),
  },
] as const;

/** The same load in each case, at a fixed rate. */
async function measureOpenTails(seconds: number): Promise<string> {
  const rows: string[][] = [];
  for (const { name, bodies } of cases) {
    const service = await Service.start();
    try {
      const { bodies: requests, items } = jsonWorkload(seconds * requestsPerSecond, eventsInRequest);
      const load = {
        url: `${service.url}/api/v1/ingest`,
        headers: { authorization, 'content-type': 'application/json', 'x-p-stream': dataset },
        bodies: requests,
        requestsPerSecond,
      };
      await sendAtRate({ ...load, bodies: requests.slice(0, requestsPerSecond) });
      await service.drained();
      const clients: TailClient[] = [];
      for (const body of bodies) clients.push(await TailClient.open(service.url, dataset, { body }));
      await sleep(2000);
      const before = cpuSeconds(service.child.pid);
      const { latenciesMs } = await sendAtRate(load);
      await service.drained();
      const cpu = cpuSeconds(service.child.pid) - before;
      const sent = await service.metric('millrace_tail_rows_total');
      const skipped = await service.metric('millrace_tail_skipped_rows_total');
      for (const client of clients) client.leave();
      rows.push([
        name,
        ((cpu * 1e6) / items).toFixed(2),
        percentile(latenciesMs, 0.99).toFixed(1),
        String(sent),
        String(skipped),
      ]);
    } finally {
      await service.dispose();
    }
  }
  return markdownTable(['', 'CPU s / 1 M events', 'p99 of a request, ms', 'rows sent', 'rows skipped'], rows);
}
