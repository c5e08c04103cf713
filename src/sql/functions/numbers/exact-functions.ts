import { apply, literal } from '../../build.ts';
import { coerce } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { int4, int8, isInteger, isNumber, numeric, typeLabel } from '../../types.ts';
import { argument, type CallSite, checkCount, type FunctionTable, type SpecialForm } from '../definition.ts';
import { callOperator } from '../operators.ts';

/** Functions of `numeric`, with all digits. */
function exactArgument(args: readonly Expr[], index: number, site: CallSite): Expr {
  const arg = argument(args, index);
  if (arg.type.name === 'unknown') return coerce(arg, numeric(0, true), site.at);
  if (isInteger(arg.type)) return coerce(arg, numeric(0, true), site.at);
  if (arg.type.name === 'numeric') return arg;
  const types = args.map(({ type }) => typeLabel(type)).join(', ');
  throw sqlError(
    'sql_unknown_function',
    `function ${site.name}(${types}) does not exist; explicit casts may help`,
    site.at,
  );
}

/** How often a number is in another one: what the remainder leaves is a multiple, so no digit is rounded. */
const quotient: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const [dividend, divisor] = [exactArgument(args, 0, site), exactArgument(args, 1, site)];
  const rest = callOperator('%', [dividend, divisor], site);
  const whole = callOperator('/', [callOperator('-', [dividend, rest], site), divisor], site);
  return apply('div', numeric(0, true), (a) => `toDecimal256(round(${a}), 0)`, whole);
};

/** As many digits as a decimal of the store holds. */
const maxFactorial = 56;
const tooLarge = `A factorial of more than ${maxFactorial}`;
const factorials = Array.from({ length: maxFactorial + 1 }, (_, index) => {
  let product = 1n;
  for (let factor = 2n; factor <= BigInt(index); factor += 1n) product *= factor;
  return `'${product}'`;
}).join(', ');

const factorial: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const number = coerce(argument(args, 0), int8, site.at);
  if (number.kind === 'literal' && Number(number.value) > maxFactorial) throw unsupported(tooLarge, site.at);
  const render = (n: string): string => {
    const place = `greatest(1, ${n} + 1 + ${raiseIf(`${n} > ${maxFactorial}`, 'largeFactorial')})`;
    // Of a negative number there is none, which the conversion of the text says.
    const found = `if(${n} < 0, 'none', [${factorials}][${place}])`;
    return `if(isNull(${n}), NULL, toDecimal256(ifNull(${found}, '0'), 0))`;
  };
  return apply('factorial', numeric(0, true), render, number);
};

/** Digits behind the point. */
const scale: SpecialForm = (args, site) => {
  checkCount(args, 1, 1, site);
  const value = exactArgument(args, 0, site);
  if (!isNumber(value.type) || value.type.name !== 'numeric' || !value.type.exact) {
    throw unsupported('scale of a numeric whose digits are not fixed', site.at);
  }
  const digits = value.type.scale;
  if (value.kind === 'literal') return literal(int4, value.value === null ? null : String(digits));
  return apply(`scale ${digits}`, int4, (a) => `if(isNull(${a}), NULL, ${digits})`, value);
};

export const exactFunctions: FunctionTable = { div: quotient, factorial, scale };
