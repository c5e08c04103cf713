import { defaultPgAddr } from '../config/pgwire-options.ts';
import type { Address } from '../lib/option-values.ts';
import { PgServer, type PgServerParts } from '../pgwire/server.ts';
import type { AppContext } from './app-context.ts';

export interface Pgwire {
  /** Undefined: nothing listens. */
  readonly address: Address | undefined;
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts listening for SQL clients. That the default port is in use is no reason not to start:
 * nobody has asked for it.
 * @throws AppError `bad_address` where it was asked for
 */
export async function startPgwire(
  { config, clock, log, metrics }: AppContext,
  parts: Omit<PgServerParts, 'clock' | 'log' | 'metrics'>,
): Promise<Pgwire> {
  const { pgAddr } = config;
  if (pgAddr === 'off') return { address: undefined, stop: () => Promise.resolve() };
  const { host, port } = pgAddr ?? defaultPgAddr;
  const server = new PgServer({ ...parts, clock, log, metrics });
  try {
    const bound = await server.listen(host, port);
    log.info({ address: `${host}:${bound}` }, 'listening for SQL clients');
    return { address: { host, port: bound }, stop: (graceMs) => server.close(graceMs) };
  } catch (error) {
    if (pgAddr !== undefined || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    log.warn(
      { address: `${host}:${port}` },
      'SQL clients cannot connect: the port is in use; MILLRACE_PG_ADDR sets another one, or off',
    );
    return { address: undefined, stop: () => Promise.resolve() };
  }
}
