import { appendFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../../src/clickhouse/store.ts';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { insertEvent } from '../../support/clickhouse/event-blocks.ts';
import { openEmbedded } from '../../support/clickhouse/test-store.ts';

const table = 't_default.`app.events`';

/** Inserts one event for each id, each a batch with its own token. */
async function insert(store: Store, ...ids: number[]): Promise<void> {
  for (const id of ids) await insertEvent(store, 'app', { id }, `node-1-${id}-app`);
}

async function ids(store: Store): Promise<number[]> {
  const bytes = await store.select(`SELECT \`id:num\` FROM ${table} ORDER BY 1`, 'JSONCompactEachRow');
  return Buffer.from(bytes)
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as [number])[0]);
}

/** The table's folder, by the part that the engine wrote down last. */
function tokenLog(directory: string): { path: string; part: string; folder: string } {
  // The engine also has links to the folders, by their tables' names.
  const store = join(directory, 'engine', 'store');
  const logs = readdirSync(store, { recursive: true, encoding: 'utf8' })
    .filter((path) => /deduplication_log_\d+\.txt$/.test(path))
    .map((path) => join(store, path));
  const [path, ...others] = logs.filter((log) => readFileSync(log, 'utf8').includes('\t'));
  if (path === undefined || others.length > 0) throw new Error(`${logs.length} logs of tokens`);
  const part = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1)?.split('\t')[1] ?? '';
  return { path, part, folder: dirname(dirname(path)) };
}

test('an insert whose token was written down when the process was killed, and whose part was not, is stored', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-tokens-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const open = () => openEmbedded(directory);
  const first = await open();
  for (const statement of datasetStatements('default', 'app', 'events')) await first.command(statement);
  await first.command(`ALTER TABLE ${table} ADD COLUMN \`id:num\` Nullable(Float64)`);
  await insert(first, 1, 2, 3);
  await first.close();

  // What a SIGKILL leaves between the two: the part still has the name under which it was written.
  const { part, folder } = tokenLog(directory);
  renameSync(join(folder, part), join(folder, `tmp_insert_${part}`));
  const second = await open();
  expect(await ids(second)).toEqual([1, 2]);
  // All of them are repeated, since their segments may still be in the log.
  await insert(second, 1, 2, 3);
  expect(await ids(second)).toEqual([1, 2, 3]);
  await second.command(`OPTIMIZE TABLE ${table} FINAL`);
  await second.close();

  // A merged part exists; an incomplete line is ignored.
  appendFileSync(tokenLog(directory).path, '1\t20');
  const third = await open();
  await insert(third, 1, 2, 3, 4);
  expect(await ids(third)).toEqual([1, 2, 3, 4]);
  await third.close();
}, 60_000);
