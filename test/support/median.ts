/** The upper of the two in the middle, where there are two; 0 of nothing. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
