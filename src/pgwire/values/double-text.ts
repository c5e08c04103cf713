/**
 * A double as PostgreSQL writes it since version 12: the shortest digits that bring it back, with an exponent
 * below 1e-4 and from 1e15 on (src/common/d2s.c).
 */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value < 0 ? '-Infinity' : 'Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const absolute = Math.abs(value);
  if (absolute >= 1e-4 && absolute < 1e15) {
    // JavaScript has no exponent from 1e-6 to 1e21.
    return String(value);
  }
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = exponent.replace(/^[+-]/, '').padStart(2, '0');
  return `${digits}e${exponent.startsWith('-') ? '-' : '+'}${power}`;
}

/** A double as the store writes it. */
export const readDouble = (text: string): number => {
  switch (text) {
    case 'nan':
    case '-nan':
      return Number.NaN;
    case 'inf':
      return Number.POSITIVE_INFINITY;
    case '-inf':
      return Number.NEGATIVE_INFINITY;
    default:
      return Number(text);
  }
};
