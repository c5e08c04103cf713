import { constants, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openWalDirectory } from '../../../src/wal/wal-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-files-'));
afterAll(() => rmSync(directory, { recursive: true }));
const files = await openWalDirectory(directory);

describe('a file of the log', () => {
  it('takes more buffers than one call of the system does, at a position', async () => {
    const file = await files.create('many');
    const buffers = Array.from({ length: 3000 }, (_, index) => Buffer.from(`${index},`));
    await file.writeDurably([Buffer.from('head ')], 0);
    await file.writeDurably(buffers, 5);
    await file.close();
    expect(readFileSync(join(directory, 'many'), 'utf8')).toBe(`head ${Buffer.concat(buffers)}`);
  });

  it('takes durable writes when it was there already', async () => {
    await (await files.create('again')).close();
    const file = await files.open('again');
    await file.writeDurably([Buffer.from('one'), Buffer.from('two')], 0);
    expect((await file.read(0, 6)).toString()).toBe('onetwo');
    await file.close();
  });

  it('is made once', async () => {
    await (await files.create('once')).close();
    await expect(files.create('once')).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it.runIf(process.platform === 'linux')('is synced by the system with each write', async () => {
    const file = await files.create('synced');
    const descriptor = readdirSync('/proc/self/fd').find(
      (name) => linkOf(name) === join(directory, 'synced'),
    );
    const [, flags = ''] =
      /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
    expect(Number.parseInt(flags, 8) & constants.O_DSYNC).toBe(constants.O_DSYNC);
    await file.close();
  });
});

/** Empty for a descriptor that was closed a moment ago. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
