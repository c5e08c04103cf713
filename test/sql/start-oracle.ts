import type { Oracle } from './oracle.ts';
import { EmbeddedPostgres } from './pglite.ts';
import { Postgres, postgresBinaries } from './postgres.ts';

/**
 * PostgreSQL to compare with: the server where it is installed (`apt-get install postgresql`), else the one
 * in WebAssembly; `MILLRACE_TEST_ORACLE=pglite` asks for the latter.
 */
export async function startOracle(): Promise<Oracle> {
  const bin = process.env['MILLRACE_TEST_ORACLE'] === 'pglite' ? undefined : postgresBinaries();
  return bin === undefined ? await EmbeddedPostgres.start() : await Postgres.start(bin);
}
