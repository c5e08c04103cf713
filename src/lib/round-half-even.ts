/** To the nearest whole number, to the even one of two that are as near (C's `rint`). */
export function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}
