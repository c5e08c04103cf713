import { systemClock } from '../src/lib/clock.ts';
import { createLogger } from '../src/lib/log.ts';
import { limits } from '../src/limits/limits.ts';
import { TranslationPool } from '../src/query/translation-pool.ts';
import type { TranslatorParts } from '../src/query/translator.ts';

interface TranslationParts extends Omit<TranslatorParts, 'catalog'> {
  readonly translations: TranslationPool;
}

/** What a translator needs besides a catalog, for somebody who may read everything that is stored. */
export const translationParts = (): TranslationParts => ({
  translations: new TranslationPool({
    worker: new URL('../workers/translate.js', import.meta.url),
    version: 'bench',
    threads: limits.minTranslationThreads,
    shared: false,
    maxCpuMs: limits.translationCpuMs,
    clock: systemClock,
    log: createLogger('silent'),
  }),
  readableRows: () => 'all',
  storedSizes: () => Promise.resolve(undefined),
  waitForPending: () => Promise.resolve(false),
});
