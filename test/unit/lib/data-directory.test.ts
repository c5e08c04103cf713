import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keptPassword, keptSecret } from '../../../src/lib/data-directory.ts';
import { removeFolder, temporaryFolder } from '../../support/child.ts';

const modeOf = (file: string): number => statSync(file).mode & 0o777;

it('secrets are for their owner alone, whatever lies in their place', async () => {
  const folder = temporaryFolder('secrets');
  try {
    for (const name of ['secret', 'admin-password']) {
      writeFileSync(join(folder, `${name}.new`), 'half a sec', { mode: 0o644 });
    }
    const secret = await keptSecret(folder);
    const { password, made } = await keptPassword(folder);
    expect([secret.length, password.length, made]).toEqual([43, 24, true]);
    for (const name of ['secret', 'admin-password']) expect(modeOf(join(folder, name))).toBe(0o600);
    expect(await keptSecret(folder)).toBe(secret);
    expect(await keptPassword(folder)).toMatchObject({ password, made: false });
  } finally {
    removeFolder(folder);
  }
});
