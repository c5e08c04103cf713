import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of `package.json`. Found by looking upwards, since these helpers run both from their sources (the
 * tests) and compiled into `dist/` (the benchmark).
 */
export function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`No package.json above ${import.meta.dirname}`);
    folder = parent;
  }
  return folder;
}
