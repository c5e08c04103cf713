/**
 * Where everything lies in the kernel's memory. Its size is fixed: pages that nobody has touched cost nothing, and
 * no view of it is ever detached.
 *
 *     staticBytes   what the compiler puts at the bottom
 *     series table  slots of 32 bytes; its layout is in `series-table.ts`, which fills it
 *     body          as received
 *     message       the body decompressed
 *     columns       metric_id, series_id, timestamp, value: one value for each sample
 *
 * The capacities are no bounds for clients: what does not fit goes through the decoder in TypeScript alone.
 *
 * Body and message are followed by slack, so that a read or a copy of a whole word at their end stays in
 * memory of their own. What is read in the slack is never used.
 */
const staticBytes: u32 = 65_536;
const slackBytes: u32 = 64;

/** 2^21 slots, for `limits.seriesCacheEntries`. */
export const tableBytes: u32 = 67_108_864;
export const bodyCapacity: u32 = 4_194_304;
export const messageCapacity: u32 = 8_388_608;
/** Requests have 500 to 10,000 samples. */
export const rowCapacity: u32 = 262_144;

export const tableAddress: u32 = staticBytes;
export const bodyAddress: u32 = tableAddress + tableBytes;
export const messageAddress: u32 = bodyAddress + bodyCapacity + slackBytes;
export const metricIds: u32 = messageAddress + messageCapacity + slackBytes;
export const seriesIds: u32 = metricIds + 4 * rowCapacity;
export const timestamps: u32 = seriesIds + 8 * rowCapacity;
export const values: u32 = timestamps + 8 * rowCapacity;
/** What the memory must hold at least: its size, in pages of 64 KiB, is in `asconfig.json`. */
export const endAddress: u32 = values + 8 * rowCapacity;
