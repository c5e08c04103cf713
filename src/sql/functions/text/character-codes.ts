import { limits } from '../../../limits/limits.ts';
import { bindOnce, letBindings } from '../../let-bindings.ts';
import { sqlError } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { int4, text } from '../../types.ts';
import { callOverload, type FunctionTable, fn, type SpecialForm } from '../definition.ts';

/** Characters by their numbers in Unicode, of which texts have the bytes of UTF-8. */
const byte = (lead: number, bits: string): string => `bitOr(${lead}, ${bits})`;
const bitsFrom = (code: string, shift: number): string => `bitAnd(bitShiftRight(${code}, ${shift}), 63)`;

const characterOf = (code: string): string => {
  const follow = (shift: number): string => byte(128, bitsFrom('n', shift));
  const two = `char(${byte(192, 'bitShiftRight(n, 6)')}, ${follow(0)})`;
  const three = `char(${byte(224, 'bitShiftRight(n, 12)')}, ${follow(6)}, ${follow(0)})`;
  const four = `char(${byte(240, 'bitShiftRight(n, 18)')}, ${follow(12)}, ${follow(6)}, ${follow(0)})`;
  const isNone = raiseIf('n < 1 OR n > 1114111 OR (n >= 55296 AND n <= 57343)', 'outOfRange');
  const encoded = `multiIf(n < 128, char(n), n < 2048, ${two}, n < 65536, ${three}, ${four})`;
  const checked = `if(isNull(${code}), 1, toInt64(${code}))`;
  const made = letBindings(['n'], [checked], `concat(${encoded}, if(${isNone} = 0, '', ''))`);
  return `if(isNull(${code}), NULL, ${made})`;
};

const codeOf = (value: string): string => {
  const bits = (place: number, mask: number, shift: number): string =>
    `bitShiftLeft(bitAnd(toInt32(reinterpretAsUInt8(substring(c, ${place}, 1))), ${mask}), ${shift})`;
  const two = `${bits(1, 31, 6)} + ${bits(2, 63, 0)}`;
  const three = `${bits(1, 15, 12)} + ${bits(2, 63, 6)} + ${bits(3, 63, 0)}`;
  const four = `${bits(1, 7, 18)} + ${bits(2, 63, 12)} + ${bits(3, 63, 6)} + ${bits(4, 63, 0)}`;
  const code = `multiIf(empty(c), 0, length(c) = 1, ${bits(1, 127, 0)}, length(c) = 2, ${two}, length(c) = 3, ${three}, ${four})`;
  return `if(isNull(${value}), NULL, toInt32(${letBindings(['c'], [`substringUTF8(ifNull(${value}, ''), 1, 1)`], code)}))`;
};

const tooLong = `repeat to more than ${limits.maxPaddedLength} bytes`;

/** A length that the query says itself is refused before it runs. */
const repeat: SpecialForm = (args, site) => {
  const [value, times] = args;
  const length = value?.kind === 'literal' ? Buffer.byteLength(String(value.value ?? '')) : 1;
  if (times?.kind === 'literal' && length * Number(times.value) > limits.maxPaddedLength)
    throw sqlError('sql_too_large', tooLong, site.at);
  return callOverload([fn(['text', 'int'], text, repeated)], args, site);
};

const repeated = (value: string, times: string): string =>
  bindOnce([value, `toInt64(${times})`], (a, n) => {
    const isTooLong = raiseIf(`length(${a}) * ${n} > ${limits.maxPaddedLength}`, 'outOfRange');
    return `repeat(${a}, toUInt32(if(${n} < 0, 0, ${n}) + ${isTooLong}))`;
  });

/** Two's complement of 32 bits, and of 64 for what is wider. */
const inHex = (unsigned: string) => (value: string) =>
  `if(${value} = 0, '0', trimLeft(lower(hex(${unsigned}(${value}))), '0'))`;

export const characterFunctions: FunctionTable = {
  ascii: [fn(['text'], int4, codeOf)],
  chr: [fn(['int'], text, characterOf)],
  repeat,
  to_hex: [
    {
      ...fn(['int'], text, inHex('toUInt32')),
      renderAs: (_, [number]) => inHex(number?.type.name === 'int8' ? 'toUInt64' : 'toUInt32'),
    },
  ],
};
