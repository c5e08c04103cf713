import { type Address, parseAddress } from '../lib/option-values.ts';
import { type Option, type OptionTexts, readOption } from './option.ts';

/** The PostgreSQL wire protocol. */
export interface PgwireConfig {
  /** Undefined: the default address, and none if its port is in use. */
  readonly pgAddr: Address | 'off' | undefined;
}

/** Beside a PostgreSQL that is there already, on 5432 and perhaps 5433. */
export const defaultPgAddr: Address = { host: '127.0.0.1', port: 5434 };

export const pgwireOptions = {
  pgAddr: {
    env: 'MILLRACE_PG_ADDR',
    meaning: 'where SQL clients connect, by the PostgreSQL wire protocol',
    fallback: undefined,
    fallbackShown: `${defaultPgAddr.host}:${defaultPgAddr.port}, if that port is free`,
    parse: (text) => (text === 'off' ? 'off' : parseAddress(text)),
    allowed: 'off, or host:port, such as 0.0.0.0:5434; port 0 picks a free port',
  },
} as const satisfies { readonly [K in keyof PgwireConfig]: Option<Address | 'off'> };

/** @throws ConfigError */
export const readPgwire = (texts: OptionTexts): PgwireConfig => ({
  pgAddr: readOption<Address | 'off'>(pgwireOptions.pgAddr, texts),
});
