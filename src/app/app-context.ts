import type { Config } from '../config/config.ts';
import type { systemClock } from '../lib/clock.ts';
import type { DataDirectory } from '../lib/data-directory.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';

/** What every part of the service is given. */
export interface AppContext {
  readonly config: Config;
  readonly directory: DataDirectory;
  readonly clock: typeof systemClock;
  readonly metrics: Metrics;
  readonly log: Logger;
}
