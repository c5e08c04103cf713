import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDirectory } from '../../../src/lib/files.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'millrace-files-'));
});
afterAll(() => rm(root, { recursive: true }));

describe('makeDirectory', () => {
  it('makes the directories above, too, and does nothing when all are there', async () => {
    const path = join(root, 'a', 'b', 'c');
    await makeDirectory(path, 0o700);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    await makeDirectory(path, 0o755);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it('takes a relative path and one with a slash at its end', async () => {
    const { cwd, chdir } = process;
    const before = cwd();
    chdir(root);
    try {
      await makeDirectory('relative/deep/');
    } finally {
      chdir(before);
    }
    expect((await stat(join(root, 'relative', 'deep'))).isDirectory()).toBe(true);
  });

  it('says so when a file is in the way', async () => {
    await expect(makeDirectory(join(import.meta.filename, 'below'))).rejects.toThrow('ENOTDIR');
  });
});
