import { createRequire } from 'node:module';

/** The version from package.json, which is next to `src/`, or above `dist/` in a build. */
export function readVersion(): string {
  const require = createRequire(import.meta.url);
  const built = import.meta.url.includes('/dist/src/');
  const { version } = require(built ? '../../../package.json' : '../../package.json') as { version: string };
  return version;
}
