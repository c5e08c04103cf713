import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockHeld, takeLock } from '../../../src/lib/process-lock.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-lock-'));
  file = join(directory, 'lock');
});
afterEach(() => rm(directory, { recursive: true }));

describe('the process lock', () => {
  it('is held by one, and free again after its release', async () => {
    const release = await takeLock(file);
    await expect(takeLock(file)).rejects.toThrow(LockHeld);
    await expect(takeLock(file)).rejects.toMatchObject({ pid: process.pid });
    await release();
    await (await takeLock(file))();
  });

  it('goes to exactly one of several that find it left by a dead process', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    await writeFile(file, `${child.pid} whenever\n`);
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(file)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('does not count for another process that was given the number of the dead one', async () => {
    await writeFile(file, `${process.pid} another-boot/1\n`);
    const release = await takeLock(file);
    expect(await readFile(file, 'utf8')).toMatch(new RegExp(`^${process.pid} `));
    await release();
  });

  it('takes an unreadable lock for a dead one', async () => {
    await writeFile(file, 'garbage');
    await (await takeLock(file))();
  });
});
