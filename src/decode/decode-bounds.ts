import { limits } from '../limits/limits.ts';

/**
 * What a body may become while it is decoded. Most take about as much as their size says, a few a hundred
 * times that, and nobody knows which before they are decoded. So a body that looks short is decoded within
 * bounds that keep it short, and once more without these if they were too narrow.
 */
export interface DecodeBounds {
  /** Whether more than that is for somebody else to decode, and no fault of the body. */
  readonly isPreliminary: boolean;
  /** Of its rows, beyond the size of the body. */
  readonly maxInflatedBytes: number;
  readonly maxNewSeries: number;
  readonly maxNewSeriesLabels: number;
  /** Attributes in lists of keys that differ from all before. */
  readonly maxNewListAttributes: number;
}

/** What any request may become. */
export const requestBounds: DecodeBounds = {
  isPreliminary: false,
  maxInflatedBytes: limits.maxInflatedBlockBytes,
  maxNewSeries: limits.maxNewSeriesPerRequest,
  maxNewSeriesLabels: limits.maxNewSeriesLabelsPerRequest,
  maxNewListAttributes: limits.maxNewListAttributesPerRequest,
};

/** What takes some tens of milliseconds at most. */
export const shortBounds: DecodeBounds = {
  isPreliminary: true,
  maxInflatedBytes: limits.maxShortInflatedBytes,
  maxNewSeries: limits.maxShortNewSeries,
  maxNewSeriesLabels: limits.maxShortAttributes,
  maxNewListAttributes: limits.maxShortAttributes,
};

/** What takes a millisecond at most. */
export const inlineBounds: DecodeBounds = {
  isPreliminary: true,
  maxInflatedBytes: limits.maxInlineInflatedBytes,
  maxNewSeries: limits.maxInlineNewSeries,
  maxNewSeriesLabels: limits.maxInlineAttributes,
  maxNewListAttributes: limits.maxInlineAttributes,
};
