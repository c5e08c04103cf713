import { limits } from '../../limits/limits.ts';

/**
 * How the engine's allocator (jemalloc) returns memory that a query no longer uses.
 *
 * By default, freed memory stays with the process for five seconds, so a hash table that doubles leaves its
 * old memory behind. The process then grows beyond the memory that ClickHouse counts and bounds. Measured
 * with queries bounded to 1 GiB, the process at its largest (before, with these settings):
 *
 *     groupArray, quantileExact, replaceAll        1154, 1338, 1232 MiB         791, 956, 790 MiB
 *     a second after that                          1091 to 1258 MiB             278 to 299 MiB
 *     CPU of queries and small inserts             within the noise; 0.04 to 0.07 s more in the system
 *                                                  for an insert of a million rows
 *
 * Shorter times for all freed memory (`dirty_decay_ms:0`) save no more and double the CPU time of every
 * query. With these settings only large pieces are returned at once: jemalloc does that above its threshold,
 * unless its background threads do it later.
 */
export const allocatorEnvironment: Readonly<Record<string, string>> = {
  // ClickHouse's jemalloc has a prefix; Node.js has another allocator.
  JE_MALLOC_CONF: `oversize_threshold:${limits.engineReturnedBytes}`,
};

/**
 * The same for the engine's own settings: with background threads, large pieces would wait like all others.
 */
export const allocatorSettings = { jemalloc_enable_background_threads: 0 } as const;
