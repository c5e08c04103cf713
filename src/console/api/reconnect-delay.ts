const [firstMs, longestMs] = [1000, 30_000];

/**
 * How long to wait before an attempt to connect again: twice as long each time, up to half a minute, and
 * not the same for all pages, which have lost the service at the same time.
 * @param failures in a row before it, from 1
 * @param random from 0 to 1
 */
export const reconnectDelayMs = (failures: number, random: number): number =>
  Math.min(longestMs, firstMs * 2 ** (failures - 1)) * (0.5 + random / 2);
