import { createRequire } from 'node:module';

/** This program's version, from package.json: beside `src/`, or above `dist/` once it is built. */
export function readVersion(): string {
  const require = createRequire(import.meta.url);
  const built = import.meta.url.includes('/dist/src/');
  const { version } = require(built ? '../../../package.json' : '../../package.json') as { version: string };
  return version;
}
