import { quoteString } from '../../lib/quote.ts';
import { microsPerDay } from '../../lib/timestamp.ts';
import type { Literal, Parameter } from '../ir.ts';
import { parameterPlaceholder } from '../placeholders.ts';
import { dateText } from '../syntax/literals.ts';
import { storeType } from '../types.ts';

/** A literal as ClickHouse SQL. Negative numbers stand in parentheses: `--` would begin a comment. */
export function printLiteral({ type, value }: Literal): string {
  if (value === null) return type.name === 'array' ? `CAST([], ${quoteString(storeType(type))})` : 'NULL';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'object')
    return printInteger(
      String(BigInt(value.months * 30 + value.days) * BigInt(microsPerDay) + BigInt(value.micros)),
    );
  switch (type.name) {
    case 'int2':
    case 'int4':
    case 'int8':
    case 'time':
      return printInteger(String(value));
    case 'float':
      return printFloat(String(value));
    case 'numeric':
      return `toDecimal256(${quoteString(String(value))}, ${type.scale})`;
    case 'timestamp':
    case 'timestamptz':
      return `fromUnixTimestamp64Micro(${value}, 'UTC')`;
    case 'bytea':
      return `unhex(${quoteString(String(value))})`;
    case 'date':
      return `toDate32(${quoteString(dateText(Number(value)))})`;
    default:
      return quoteString(String(value));
  }
}

/** A literal, or the placeholder of a parameter. */
export const printConstant = (expr: Literal | Parameter): string =>
  expr.kind === 'literal' ? printLiteral(expr) : parameterPlaceholder(expr.number);

const signed = (number: string): string => (number.startsWith('-') ? `(${number})` : number);

/** Beyond 32 bits the engine would take it for unsigned, which does not mix with other integers. */
const printInteger = (text: string): string =>
  Math.abs(Number(text)) < 2 ** 31 ? signed(text) : `toInt64(${signed(text)})`;

/** With a point or exponent, so that the engine sees a double. */
function printFloat(text: string): string {
  if (text === 'nan' || text === 'inf') return text;
  const number = text.replace(/^\+/, '').replace(/^(-?)\./, '$10.');
  return signed(/[.e]|inf/i.test(number) ? number : `${number}.0`);
}
