import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The directory of `package.json`. It is searched upwards, since these helpers run from their sources (tests)
 * and from `dist/` (benchmarks).
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
