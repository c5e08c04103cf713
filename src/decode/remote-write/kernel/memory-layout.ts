/**
 * Where everything lies in the kernel's memory. Its size is fixed: pages that nobody has touched cost
 * nothing, and no view of it is ever detached.
 *
 *     staticBytes   what the compiler puts at the bottom
 *     series table  slots of 32 bytes; its layout is in `series-table.ts`, which fills it
 *     metadata      a table of the same kind, of the descriptions of metrics
 *     references    scratch for the labels of one series of version 2.0
 *     symbols       of a request of version 2.0: where each is, and its hash
 *     days          of the samples of the request, which both decoders mark
 *     body          as received
 *     message       the body decompressed
 *     columns       metric_id, series_id, timestamp, value: one value for each sample
 *     new series    scratch for the labels of one, then the columns of their rows (`write-new-series.ts`)
 *
 * The capacities are no bounds for clients: what does not fit goes through the decoder in TypeScript alone.
 *
 * Body and message are followed by slack, so that a read or a copy of a whole word at their end stays in
 * memory of their own. What is read in the slack is never used.
 */
import { dictionaryBytes } from './dictionary';

const staticBytes: u32 = 65_536;
const slackBytes: u32 = 64;

/** 2^21 slots, for `limits.seriesCacheEntries`. */
export const tableBytes: u32 = 67_108_864;
/** 2^18 slots, for `limits.metadataCacheEntries`. */
export const metadataTableBytes: u32 = 8_388_608;
/** References of a series: names and values, for `limits.maxLabelsPerSeries`. */
export const refCapacity: u32 = 512;
/** A request of 10,000 series has some 30,000. */
export const symbolCapacity: u32 = 131_072;
/** A bit for each day of `limits.maxSampleTimestampMs`, in words of 32: which days the request has. */
export const dayBitsBytes: u32 = 6216;
export const bodyCapacity: u32 = 4_194_304;
export const messageCapacity: u32 = 8_388_608;
/** Requests have 500 to 10,000 samples. */
export const rowCapacity: u32 = 262_144;

export const tableAddress: u32 = staticBytes;
export const metadataTableAddress: u32 = tableAddress + tableBytes;
/** Four bytes each. */
export const refsAddress: u32 = metadataTableAddress + metadataTableBytes;
/** The hashes of their symbols, eight bytes each. */
export const refHashes: u32 = refsAddress + 4 * refCapacity;
/** Where each begins and ends, four bytes each. */
export const symbolPlaces: u32 = refHashes + 8 * refCapacity;
export const symbolHashes: u32 = symbolPlaces + 8 * symbolCapacity;
export const dayBits: u32 = symbolHashes + 8 * symbolCapacity;
export const bodyAddress: u32 = dayBits + dayBitsBytes;
export const messageAddress: u32 = bodyAddress + bodyCapacity + slackBytes;
export const metricIds: u32 = messageAddress + messageCapacity + slackBytes;
export const seriesIds: u32 = metricIds + 4 * rowCapacity;
export const timestamps: u32 = seriesIds + 8 * rowCapacity;
export const values: u32 = timestamps + 8 * rowCapacity;

/** Rows of new series. */
export const seriesCapacity: u32 = 65_536;
/** Their labels beside the metric's name. */
export const pairCapacity: u32 = 1_048_576;
/** Bytes of their values, with their lengths. */
export const valueCapacity: u32 = messageCapacity;
/** Of one series. */
export const labelCapacity: u32 = 64;
export const canonicalCapacity: u32 = 65_536;

export const placesAddress: u32 = values + 8 * rowCapacity;
export const canonicalAddress: u32 = placesAddress + 12 * labelCapacity;
export const newSeriesIds: u32 = canonicalAddress + canonicalCapacity + slackBytes;
export const newLabelEnds: u32 = newSeriesIds + 8 * seriesCapacity;
export const newMetricIds: u32 = newLabelEnds + 8 * seriesCapacity;
export const newDates: u32 = newMetricIds + 4 * seriesCapacity;
export const newMetricNames: u32 = newDates + 2 * seriesCapacity;
export const newLabelKeys: u32 = newMetricNames + 2 * seriesCapacity;
/** Each is a part of the message, with its length. */
export const newLabelValues: u32 = newLabelKeys + 2 * pairCapacity;
export const labelNames: u32 = newLabelValues + valueCapacity + slackBytes;
export const metricNames: u32 = labelNames + dictionaryBytes;
/** What the memory must hold at least: its size, in pages of 64 KiB, is in `asconfig.json`. */
export const endAddress: u32 = metricNames + dictionaryBytes;
