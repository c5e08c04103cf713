import { join, resolve } from 'node:path';
import { type Address, boolean, integer, parseAddress } from '../lib/option-values.ts';
import { limits } from '../limits/limits.ts';
import { needOption, type Option, type OptionTexts, readOption } from './option.ts';

/** How the process is monitored and backed up. */
export interface OperationConfig {
  /** Undefined: served with the API. */
  readonly metricsAddr: Address | undefined;
  /** Whether `/metrics` requires credentials. */
  readonly metricsAuth: 'none' | 'required';
  /** Whether `/metrics` shows rows and bytes of the largest datasets, by name. */
  readonly metricsDatasets: boolean;
  /** Where backups of the embedded engine go. */
  readonly backupDir: string;
  /** How long the event loop may be stuck before the process is killed; 0 for no limit. */
  readonly watchdogMs: number;
}

export const operationOptions = {
  metricsAddr: {
    env: 'MILLRACE_METRICS_ADDR',
    meaning: 'a separate address for /metrics; it is served with the HTTP API if this is not set',
    fallback: undefined,
    parse: parseAddress,
    allowed: 'host:port, such as 127.0.0.1:9100; port 0 picks a free port',
  },
  metricsAuth: {
    env: 'MILLRACE_METRICS_AUTH',
    meaning: 'whether /metrics requires credentials that may query',
    fallback: 'none',
    parse: (text) => (text === 'none' || text === 'required' ? text : undefined),
    allowed: 'none, required',
  },
  metricsDatasets: {
    env: 'MILLRACE_METRICS_DATASETS',
    meaning:
      'whether /metrics shows rows and bytes of the largest datasets; whoever reads it then sees the names of datasets and tenants',
    fallback: 'false',
    parse: boolean,
    allowed: 'true, false',
  },
  backupDir: {
    env: 'MILLRACE_BACKUP_DIR',
    meaning: 'where millrace backup puts backups of the embedded engine',
    fallback: undefined,
    fallbackShown: '`backups` in the data directory',
    parse: (text) => (text === '' ? undefined : resolve(text)),
    allowed: 'a path',
  },
  watchdogMs: {
    env: 'MILLRACE_WATCHDOG_MS',
    meaning: 'how long the event loop may be stuck before the process is killed, in milliseconds',
    fallback: String(limits.watchdogMs),
    parse: (text) => (text === '0' ? 0 : integer(1000, 3_600_000)(text)),
    allowed: '0 for never, or a number of milliseconds from 1000 to 3600000',
  },
} as const satisfies { readonly [K in keyof OperationConfig]: Option<OperationConfig[K]> };

/** @throws ConfigError */
export const readOperation = (texts: OptionTexts, dataDir: string): OperationConfig => ({
  backupDir: readOption<string>(operationOptions.backupDir, texts) ?? join(dataDir, 'backups'),
  metricsAddr: readOption<Address>(operationOptions.metricsAddr, texts),
  metricsAuth: needOption<'none' | 'required'>(operationOptions.metricsAuth, texts),
  metricsDatasets: needOption<boolean>(operationOptions.metricsDatasets, texts),
  watchdogMs: needOption(operationOptions.watchdogMs, texts),
});
