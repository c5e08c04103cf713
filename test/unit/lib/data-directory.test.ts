import { fstatSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { loadOrCreatePassword, loadOrCreateSecret } from '../../../src/lib/data-directory.ts';
import { removeFolder, temporaryFolder } from '../../support/lib/child.ts';

const modeOf = (file: string): number => statSync(file).mode & 0o777;

it('secrets are for their owner alone, whatever lies in their place', async () => {
  const folder = temporaryFolder('secrets');
  try {
    for (const name of ['secret', 'admin-password']) {
      writeFileSync(join(folder, `${name}.new`), 'half a sec', { mode: 0o644 });
    }
    const secret = await loadOrCreateSecret(folder);
    const { password, made } = await loadOrCreatePassword(folder);
    expect([secret.length, password.length, made]).toEqual([43, 24, true]);
    for (const name of ['secret', 'admin-password']) expect(modeOf(join(folder, name))).toBe(0o600);
    expect(await loadOrCreateSecret(folder)).toBe(secret);
    expect(await loadOrCreatePassword(folder)).toMatchObject({ password, made: false });
  } finally {
    removeFolder(folder);
  }
});

it('secrets survive a power cut once they are known: the file is synced, and then its name', async () => {
  const folder = temporaryFolder('secrets-synced');
  const handle = await open(folder);
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { sync } = handles;
  /** What was synced, each time: its inode, and which names the directory had. */
  let synced: { inode: number; names: string[] }[] = [];
  const spy = vi.spyOn(handles, 'sync').mockImplementation(async function (this: FileHandle) {
    await sync.call(this);
    synced.push({ inode: fstatSync(this.fd).ino, names: readdirSync(folder).sort() });
  });
  try {
    const before: string[] = [];
    for (const [name, make] of [
      ['admin-password', loadOrCreatePassword],
      ['secret', loadOrCreateSecret],
    ] as const) {
      synced = [];
      await make(folder);
      const file = statSync(join(folder, name)).ino;
      const draft = [...before, `${name}.new`];
      before.push(name);
      expect(synced).toEqual([
        { inode: file, names: draft },
        { inode: statSync(folder).ino, names: before },
      ]);
    }
  } finally {
    spy.mockRestore();
    removeFolder(folder);
  }
});
