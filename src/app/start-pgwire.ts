import { defaultPgAddr } from '../config/pgwire-options.ts';
import type { Address } from '../lib/option-values.ts';
import { StartError } from '../lib/start-error.ts';
import { PgServer, type PgServerParts } from '../pgwire/pg-server.ts';
import type { AppContext } from './app-context.ts';
import { listenOrExplain } from './listen.ts';
import type { CertificateUser } from './tls-certificate.ts';

export interface Pgwire {
  /** Undefined: nothing listens. */
  readonly address: Address | undefined;
  readonly server: CertificateUser | undefined;
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts listening for SQL clients. That the default port is in use is no reason not to start:
 * nobody has asked for it.
 * @throws StartError where the address was asked for
 */
export async function startPgwire(
  { config, clock, log, metrics }: AppContext,
  parts: Omit<PgServerParts, 'clock' | 'log' | 'metrics'>,
): Promise<Pgwire> {
  const { pgAddr } = config;
  if (pgAddr === 'off') return nothing;
  const server = new PgServer({ ...parts, clock, log, metrics });
  if (config.tls !== undefined) await server.useCertificate(config.tls);
  const option = { flag: '--pg-addr', env: 'MILLRACE_PG_ADDR' };
  try {
    const address = await listenOrExplain(server, pgAddr ?? defaultPgAddr, option);
    log.info({ address: `${address.host}:${address.port}` }, 'listening for SQL clients');
    return { address, server, stop: (graceMs) => server.close(graceMs) };
  } catch (error) {
    if (pgAddr !== undefined || !(error instanceof StartError)) throw error;
    log.warn({ reason: error.message }, 'SQL clients cannot connect');
    return nothing;
  }
}

const nothing: Pgwire = { address: undefined, server: undefined, stop: () => Promise.resolve() };
