import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small file system, mounted on a temporary directory. */
export interface Mount {
  readonly path: string;
  unmount(): void;
}

const run = (command: string, ...args: readonly string[]): void => {
  execFileSync(command, args, { stdio: 'pipe' });
};

const mountPoint = (): string => mkdtempSync(join(tmpdir(), 'millrace-mount-'));

/** A file system in memory. Needs root. */
export function mountTmpfs(mebibytes: number): Mount {
  const path = mountPoint();
  run('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path);
  return {
    path,
    unmount: () => {
      run('umount', path);
      rmSync(path, { recursive: true });
    },
  };
}

/** An ext4 file system in a file, whose disk can be made to fail. Needs root and a loop device. */
export class Ext4Mount implements Mount {
  readonly path = mountPoint();
  readonly #image = `${this.path}.img`;

  constructor(mebibytes: number) {
    writeFileSync(this.#image, '');
    truncateSync(this.#image, mebibytes * 1024 * 1024);
    run('mkfs.ext4', '-q', this.#image);
    this.#mount();
  }

  /** Remounts it read-only under open files, as ext4 does when its disk fails. */
  becomeReadOnly(): void {
    run('mount', '-o', 'remount,abort', this.path);
  }

  /** Remounts it; no file may be open. */
  repair(): void {
    run('umount', this.path);
    this.#mount();
  }

  unmount(): void {
    run('umount', this.path);
    rmSync(this.path, { recursive: true });
    rmSync(this.#image);
  }

  #mount(): void {
    run('mount', '-o', 'loop', this.#image, this.path);
  }
}

/** Why no file system can be mounted here; undefined if it can. */
export function mountProblem(mount: () => Mount): string | undefined {
  if (process.platform !== 'linux') return 'mounts are those of Linux';
  if (process.getuid?.() !== 0) return 'mounting needs root';
  try {
    mount().unmount();
    return undefined;
  } catch (error) {
    return `mounting failed: ${error instanceof Error ? error.message.trim() : String(error)}`;
  }
}
