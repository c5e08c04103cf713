/**
 * The bits of a double as two signed integers of 32 bits, for code that runs for every sample: nothing is
 * allocated.
 */
const double = new Float64Array(1);
const halves = new Int32Array(double.buffer);

/** The lower 32 bits. */
export function lowBits(value: number): number {
  double[0] = value;
  return halves[0] as number;
}

/** The upper 32 bits: sign, exponent and the first 20 bits of the fraction. */
export function highBits(value: number): number {
  double[0] = value;
  return halves[1] as number;
}
