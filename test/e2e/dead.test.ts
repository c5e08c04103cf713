import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Child, removeFolder, temporaryFolder } from '../support/lib/child.ts';
import { packageRoot } from '../support/lib/package-root.ts';
import { mainPath, Service } from '../support/service/service.ts';

async function runNode(name: string, args: readonly string[]): Promise<Child> {
  const child = await Child.start({ name, command: process.execPath, args, cwd: packageRoot() });
  onTestFinished(() => child.kill('SIGKILL'));
  await child.ended();
  return child;
}

/** Runs `millrace dead …` on this data directory. */
const dead = (dataDir: string, ...args: string[]): Promise<Child> =>
  runNode('millrace dead', [mainPath, 'dead', ...args, '--data-dir', dataDir]);

/** A change of the store by hand, with a ClickHouse client, while the service is stopped. */
async function byHand(dataDir: string, statement: string): Promise<void> {
  const script = `
    import { createChdbConnection } from 'chdb/connection';
    const connection = createChdbConnection({ path: ${JSON.stringify(join(dataDir, 'store/engine'))} });
    await connection.chdb.queryAsync(${JSON.stringify(statement)});
    await connection.close();`;
  const child = await runNode('statement', ['--input-type=module', '--eval', script]);
  expect(child.exit, child.report()).toEqual({ code: 0, signal: null });
}

test('rows that the store refuses are listed, tried again and dropped by command', async () => {
  const service = await Service.start();
  onTestFinished(() => service.dispose());
  const { dataDir } = service;
  const ids = async () => (await service.query('SELECT id FROM app ORDER BY id')).map((row) => row['id']);

  await service.ingest('app', [{ id: 1 }]);
  await service.drained();
  await service.stop();
  const table = 't_default.`app.events`';
  await byHand(dataDir, `ALTER TABLE ${table} ADD CONSTRAINT small CHECK \`id:num\` < 1000`);
  await service.restart();
  expect(await service.ingest('app', [{ id: 2 }, { id: 1001 }, { id: 3 }, { id: 1002 }, { id: 4 }])).toBe(5);
  await service.drained();
  expect(await ids()).toEqual([1, 2, 3, 4]);
  expect(await service.metric('millrace_dead_rows_total')).toBe(2);
  expect(await service.metric('millrace_dead_files')).toBe(2);

  const list = await dead(dataDir, 'list');
  expect(list.exit, list.report()).toEqual({ code: 0, signal: null });
  const lines = list.stdout.trim().split('\n');
  expect(lines[0]?.split(/\s+/)).toEqual(['NAME', 'DATASET', 'ROWS', 'TIME', 'CODE', 'REASON']);
  expect(lines).toHaveLength(3);
  const [first = '', second = ''] = lines.slice(1).map((line) => line.split(/\s+/)[0]);
  for (const line of lines.slice(1)) {
    expect(line).toMatch(/ {2}app +1 +\d{4}-\d\d-\d\dT[\d:.]+Z +469 +Constraint `small`/);
  }

  const running = await dead(dataDir, 'retry', '--all');
  expect(running.exit?.code, running.report()).toBe(1);
  expect(running.stderr).toContain(`the process ${service.child.pid} holds`);

  await service.stop();
  const refused = await dead(dataDir, 'retry', '--all');
  expect(refused.exit?.code, refused.report()).toBe(1);
  expect(refused.stdout).toContain(`${first}: stays, because Constraint`);
  const unknown = await dead(dataDir, 'retry', 'nobody');
  expect(unknown.exit?.code).toBe(1);
  expect(unknown.stderr).toContain('there is no dead letter nobody');
  expect(unknown.stderr).not.toContain('    at ');

  const dropped = await dead(dataDir, 'drop', second, '--yes');
  expect(dropped.exit, dropped.report()).toEqual({ code: 0, signal: null });
  expect(dropped.stdout).toBe(`${second}: dropped\n`);
  await byHand(dataDir, `ALTER TABLE ${table} DROP CONSTRAINT small`);
  const retried = await dead(dataDir, 'retry', first);
  expect(retried.exit, retried.report()).toEqual({ code: 0, signal: null });
  expect(retried.stdout).toBe(`${first}: stored\n`);
  expect(readdirSync(join(dataDir, 'dead'))).toEqual([]);
  expect((await dead(dataDir, 'list')).stdout).toBe('there are no dead letters\n');

  await service.restart();
  await service.drained();
  expect(await ids()).toEqual([1, 2, 3, 4, 1001]);
  expect(await service.metric('millrace_dead_files')).toBe(0);
});

test('a folder that is no data directory is not made one', async () => {
  const folder = temporaryFolder('elsewhere');
  onTestFinished(() => removeFolder(folder));
  for (const args of [['list'], ['retry', '--all'], ['drop', '--all', '--yes']]) {
    const child = await dead(folder, ...args);
    expect(child.exit?.code, child.report()).toBe(1);
    expect(child.stderr).toContain(`${folder} is not a data directory of Millrace`);
  }
  expect(readdirSync(folder)).toEqual([]);
});
