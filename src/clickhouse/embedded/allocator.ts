import { limits } from '../../limits/limits.ts';

/**
 * How the engine's allocator (jemalloc) gives memory back that a query does not use any more.
 *
 * By default freed memory stays with the process for five seconds, and a table that doubles leaves its old
 * halves there. So the process grows beyond what ClickHouse counts, and by which it bounds queries. Measured
 * with queries bounded to 1 GiB, the process at its largest (before, with these settings):
 *
 *     groupArray, quantileExact, replaceAll        1154, 1338, 1232 MiB         791, 956, 790 MiB
 *     a second after that                          1091 to 1258 MiB             278 to 299 MiB
 *     CPU of queries and small inserts             within the noise; 0.04 to 0.07 s more in the system
 *                                                  for an insert of a million rows
 *
 * Shorter times for all freed memory (`dirty_decay_ms:0`) hold as much and double the CPU time of every
 * query. Only large pieces go back at once here: jemalloc does that for those beyond its threshold, unless
 * threads of its own do it later.
 */
export const allocatorEnvironment: Readonly<Record<string, string>> = {
  // ClickHouse's jemalloc has a prefix; Node.js has another allocator.
  JE_MALLOC_CONF: `oversize_threshold:${limits.engineReturnedBytes}`,
};

/** The same as settings of the engine: with threads for it, large pieces would wait like all others. */
export const allocatorSettings = { jemalloc_enable_background_threads: 0 } as const;
