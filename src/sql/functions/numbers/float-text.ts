import { quoteString } from '../../../lib/quote.ts';
import { bindOnce } from '../../let-bindings.ts';

/**
 * A double as PostgreSQL prints it: the shortest digits that read back as the same value, with an exponent
 * below 1e-4 and from 1e15 on (src/common/d2s.c). ClickHouse finds the same digits but writes them without
 * an exponent between 1e-6 and 1e21.
 */
export const floatText = (value: string): string =>
  bindOnce([value], (number) => {
    const plain = `(abs(${number}) >= 1e-4 AND abs(${number}) < 1e15) OR ${number} = 0 OR isNull(${number})`;
    return `if(${plain}, toString(${number}), ${unusualText(number)})`;
  });

/** Of numbers that need an exponent, NaN and the infinities; seldom computed. */
function unusualText(value: string): string {
  // x is the number, s the engine's text of its size, d the digits of it without point and
  // zeros at either end.
  const mantissa =
    "concat(if(x < 0, '-', ''), substring(d, 1, 1), if(length(d) > 1, '.', ''), substring(d, 2))";
  const cases = [
    "isNaN(x), 'NaN'",
    "isInfinite(x), if(x > 0, 'Infinity', '-Infinity')",
    // The engine's exponent has neither a plus nor two digits.
    `position(s, 'e') > 0, concat(if(x < 0, '-', ''), ${withSignAndTwoDigits('s')})`,
    `abs(x) >= 1, concat(${mantissa}, 'e+', toString(length(splitByChar('.', s)[1]) - 1))`,
  ];
  // 0.0000123: the exponent counts the zeros behind the point and the first digit.
  const zeros = `extract(s, ${quoteString('^0\\.(0*)')})`;
  const small = `concat(${mantissa}, 'e-', leftPad(toString(length(${zeros}) + 1), 2, '0'))`;
  const withDigits = `arrayMap(d -> multiIf(${cases.join(', ')}, ${small}), [trimBoth(replaceOne(s, '.', ''), '0')])[1]`;
  return `arrayMap(x -> arrayMap(s -> ${withDigits}, [toString(abs(x))])[1], [${value}])[1]`;
}

const withSignAndTwoDigits = (text: string): string => {
  const replace = (from: string, pattern: string, replacement: string): string =>
    `replaceRegexpOne(${from}, ${quoteString(pattern)}, ${quoteString(replacement)})`;
  return replace(replace(text, 'e(\\d)', 'e+\\1'), 'e([+-])(\\d)$', 'e\\10\\2');
};
