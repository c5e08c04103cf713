import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { datasetStatements } from '../../../src/clickhouse/table-definitions.ts';
import { openTestStore, type TestStore } from '../../support/clickhouse/test-store.ts';
import { CrashPoints } from '../../support/wal/crash-points.ts';
import { deadNotes, deadValues } from '../../support/wal/dead-rows.ts';
import { MemoryFiles } from '../../support/wal/memory-files.ts';
import { startWritePath } from '../../support/wal/write-path.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

const dataset = 'strict';
const table = `t_default.\`${dataset}.events\``;
const good = [1, 2, 3];
const bad = [1001, 1002];

/** An empty table that refuses ids of a thousand and more. */
async function makeTable(): Promise<void> {
  await test.store.command('TRUNCATE TABLE IF EXISTS millrace.metadata');
  await test.store.command(`DROP TABLE IF EXISTS ${table}`);
  for (const statement of datasetStatements('default', dataset, 'events'))
    await test.store.command(statement);
  await test.store.command(
    `ALTER TABLE ${table} ADD COLUMN \`id:num\` Nullable(Float64), ADD CONSTRAINT small CHECK \`id:num\` < 1000`,
  );
}

/** A life that drains a poisoned batch and ends at that point; then another that goes to the end. */
async function crashAt(
  point: number,
  image: (files: MemoryFiles) => MemoryFiles,
  between: () => Promise<void>,
) {
  await makeTable();
  const files = new MemoryFiles();
  const dead = new MemoryFiles();
  const points = new CrashPoints();
  const first = await startWritePath({
    files: points.files(files),
    store: points.store(test.store),
    dead: points.files(dead),
  });
  await first.write(dataset, [{ id: 1 }]);
  await first.write(dataset, [{ id: 1001 }, { id: 2 }]);
  await first.write(dataset, [{ id: 3 }, { id: 1002 }]);
  await first.wal.close();
  points.stopAt(point);
  first.drain.start();
  const crashed = await Promise.race([
    points.crashed.then(() => true),
    first.drain.drained(1).then(() => false),
  ]);
  await between();
  const left = image(dead);
  const second = await startWritePath({ files: image(files), store: test.store, dead: left });
  await second.finish();
  return { crashed, second, deadFiles: left.names() };
}

const stored = async () =>
  (await test.rows<{ id: number }>(`SELECT \`id:num\` AS id FROM ${table} ORDER BY id`)).map(({ id }) => id);

/** Every point of a drain, one after another, until a point is no longer reached. */
async function crashEverywhere(
  image: (files: MemoryFiles) => MemoryFiles,
  between: () => Promise<void>,
  check: (dead: unknown[], where: string) => Promise<void>,
): Promise<void> {
  let points = 0;
  for (let crashed = true; crashed; ) {
    const { second, deadFiles, ...round } = await crashAt(points + 1, image, between);
    const where = `crash at point ${points + 1}`;
    await check(await deadValues(second.deadLetters, test, 'id:num'), where);
    const names = (await deadNotes(second.deadLetters)).map(({ name }) => name);
    expect(
      deadFiles.filter((name) => name.endsWith('.json')),
      where,
    ).toEqual(names.map((name) => `${name}.json`));
    expect(second.wal.pendingSegments, where).toBe(0);
    crashed = round.crashed;
    if (crashed) points += 1;
  }
  // The insert, the trials, two files and their names for each letter, the second insert, the removal.
  expect(points).toBeGreaterThan(30);
}

describe('a poisoned batch, when the process stops in the middle of it,', () => {
  it('is stored once but for the bad rows, which are dead letters once', async () => {
    const killed = (files: MemoryFiles) => files;
    await crashEverywhere(
      killed,
      async () => {},
      async (dead, where) => {
        expect(await stored(), where).toEqual(good);
        expect(dead, where).toEqual(bad);
      },
    );
  }, 120_000);

  it('has each row in one place, when power is lost and the table takes all of them afterwards', async () => {
    const powerCut = (files: MemoryFiles) => files.afterPowerCut();
    const mend = () => test.store.command(`ALTER TABLE ${table} DROP CONSTRAINT small`);
    const places = new Set<number>();
    await crashEverywhere(powerCut, mend, async (dead, where) => {
      expect([...(await stored()), ...dead].sort(), where).toEqual([...good, ...bad].sort());
      places.add(dead.length);
    });
    // Decisions from before the crash stay, and no others are added.
    expect([...places]).toEqual([0, 1, 2]);
  }, 120_000);
});
