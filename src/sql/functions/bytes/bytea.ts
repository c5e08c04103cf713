import { apply, literal } from '../../build.ts';
import { coerce, convert } from '../../coerce.ts';
import type { Expr } from '../../ir.ts';
import { letBindings } from '../../let-bindings.ts';
import { sqlError, unsupported } from '../../sql-error.ts';
import { raiseIf } from '../../syntax/raise.ts';
import { bytea, int4, int8, type SqlType, text, typeLabel } from '../../types.ts';
import {
  argument,
  type CallSite,
  callOverload,
  checkCount,
  constantText,
  type FunctionDefinition,
  type FunctionTable,
  type SpecialForm,
} from '../definition.ts';
import { bytesText } from './bytes-text.ts';

/** Bytes, which the store keeps as a string of them. */
function bytesArgument(args: readonly Expr[], index: number, site: CallSite): Expr {
  const arg = argument(args, index);
  if (arg.type.name === 'bytea' || arg.type.name === 'unknown') return coerce(arg, bytea, site.at);
  const types = args.map(({ type }) => typeLabel(type)).join(', ');
  throw sqlError(
    'sql_unknown_function',
    `function ${site.name}(${types}) does not exist; explicit casts may help`,
    site.at,
  );
}

const ofBytes =
  (type: SqlType, render: (value: string) => string): SpecialForm =>
  (args, site) => {
    checkCount(args, 1, 1, site);
    return apply(`${site.name}(bytea)`, type, render, bytesArgument(args, 0, site));
  };

/** A string of fixed length would lose zeros at its end. */
const hash = (name: string): SpecialForm => ofBytes(bytea, (a) => `unhex(hex(${name}(${a})))`);

/** A line break behind each 76 letters. */
const inBase64 = (value: string): string => `replaceRegexpAll(base64Encode(${value}), '(.{76})', '\\\\1\\n')`;
/** What is no letter of ASCII, as three octal digits. */
const escaped = (value: string): string => {
  const octal =
    "concat('\\\\', toString(bitShiftRight(n, 6)), toString(bitAnd(bitShiftRight(n, 3), 7)), toString(bitAnd(n, 7)))";
  const byte = `multiIf(n = 92, '\\\\\\\\', n = 0 OR n > 127, ${octal}, char(n))`;
  const each = `arrayMap(i -> ${letBindings(['n'], ['reinterpretAsUInt8(substring(b, i, 1))'], byte)}, range(1, length(b) + 1))`;
  return `if(isNull(${value}), NULL, ${letBindings(['b'], [`ifNull(${value}, '')`], `arrayStringConcat(${each})`)})`;
};

const formats: Readonly<Record<string, (value: string) => string>> = {
  hex: (a) => `lower(hex(${a}))`,
  base64: inBase64,
  escape: escaped,
};

function formatOf(given: Expr | undefined, site: CallSite): string {
  const name = constantText(given, 'the format', site, { sample: 'hex' }).toLowerCase();
  if (Object.hasOwn(formats, name)) return name;
  throw sqlError(
    'sql_invalid_parameter',
    `${site.name}: unrecognized encoding: ${JSON.stringify(name)}`,
    site.at,
  );
}

const encode: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const value = bytesArgument(args, 0, site);
  const name = formatOf(args[1], site);
  return apply(`encode ${name}`, text, formats[name] ?? bytesText, value);
};

const spaces = "'[ \\t\\n\\r]'";
const decoders: Readonly<Record<string, (value: string) => string>> = {
  hex: (a) => {
    const digits = `replaceRegexpAll(${a}, ${spaces}, '')`;
    const isBad = raiseIf("NOT match(h, '^([0-9a-fA-F]{2})*$')", 'badEncoding');
    return letBindings(['h'], [digits], `unhex(concat(h, substring('', 1 + ${isBad})))`);
  },
  base64: (a) => {
    const letters = `replaceRegexpAll(${a}, ${spaces}, '')`;
    const isBad = raiseIf("length(h) % 4 != 0 OR NOT match(h, '^[A-Za-z0-9+/]*={0,2}$')", 'badEncoding');
    return letBindings(['h'], [letters], `base64Decode(concat(h, substring('', 1 + ${isBad})))`);
  },
};

const decode: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const name = formatOf(args[1], site);
  const value = coerce(argument(args, 0), text, site.at);
  const render = decoders[name];
  return render === undefined
    ? convert(value, bytea, site.at)
    : apply(`decode ${name}`, bytea, render, value);
};

function utf8(given: Expr | undefined, site: CallSite): void {
  const name = constantText(given, 'the encoding', site, { sample: 'UTF8' });
  if (!/^utf-?8$/i.test(name))
    throw unsupported(`${site.name} with the encoding ${JSON.stringify(name)}`, site.at);
}

const convertFrom: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  utf8(args[1], site);
  const isBad = (a: string): string =>
    raiseIf(`NOT isValidUTF8(${a}) OR position(${a}, char(0)) > 0`, 'badUtf8');
  return apply(
    site.name,
    text,
    (a) => `concat(${a}, substring('', 1 + ${isBad(a)}))`,
    bytesArgument(args, 0, site),
  );
};

const convertTo: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  utf8(args[1], site);
  return apply(site.name, bytea, (a) => `concat(${a}, '')`, coerce(argument(args, 0), text, site.at));
};

const byteAt: SpecialForm = (args, site) => {
  checkCount(args, 2, 2, site);
  const render = (a: string, n: string): string => {
    const outside = raiseIf(`${n} < 0 OR ${n} >= length(${a})`, 'badSubscript');
    return `toInt32(reinterpretAsUInt8(substring(${a}, ${n} + 1 + ${outside}, 1)))`;
  };
  return apply(
    site.name,
    int4,
    render,
    bytesArgument(args, 0, site),
    coerce(argument(args, 1), int8, site.at),
  );
};

/** From a place that may lie before the first byte, whose length counts from there. */
const substringOfBytes: SpecialForm = (args, site) => {
  checkCount(args, 2, 3, site);
  const value = bytesArgument(args, 0, site);
  const numbers = args.slice(1).map((arg) => coerce(arg, int4, site.at));
  const render = (a: string, from: string, length?: string): string => {
    const start = `greatest(toInt64(${from}), 1)`;
    if (length === undefined) return `substring(${a}, ${start})`;
    const negative = raiseIf(`isNotNull(${a}) AND isNotNull(${from}) AND ${length} < 0`, 'outOfRange');
    return `substring(${a}, ${start}, greatest(0, toInt64(${from}) + ${length} + ${negative} - ${start}))`;
  };
  return apply('substring(bytea)', bytea, render, value, ...numbers);
};

const isBytes = ([first]: readonly Expr[]): boolean => first?.type.name === 'bytea';

/** Functions of text that PostgreSQL has for bytes, too. */
const shared: Readonly<Record<string, SpecialForm>> = {
  length: ofBytes(int4, (a) => `toInt32(length(${a}))`),
  octet_length: ofBytes(int4, (a) => `toInt32(length(${a}))`),
  bit_length: ofBytes(int4, (a) => `toInt32(length(${a}) * 8)`),
  substring: substringOfBytes,
  substr: substringOfBytes,
  md5: ofBytes(text, (a) => `lower(hex(MD5(${a})))`),
  reverse: (_, site) => {
    throw unsupported('reverse of bytea', site.at);
  },
};

/** The function of text, and where the first argument is bytes that of bytes. */
export const withBytes = (table: FunctionTable): FunctionTable => ({
  ...table,
  ...Object.fromEntries(
    Object.entries(shared).map(([name, ofOnes]): readonly [string, FunctionDefinition] => {
      const ofText = table[name];
      return [
        name,
        (args, site) => {
          if (isBytes(args) || ofText === undefined) return ofOnes(args, site);
          return typeof ofText === 'function' ? ofText(args, site) : callOverload(ofText, args, site);
        },
      ];
    }),
  ),
});

export const byteaFunctions: FunctionTable = {
  encode,
  decode,
  sha224: hash('SHA224'),
  sha256: hash('SHA256'),
  sha384: hash('SHA384'),
  sha512: hash('SHA512'),
  convert_from: convertFrom,
  convert_to: convertTo,
  get_byte: byteAt,
  bit_count: ofBytes(int8, (a) => `toInt64(bitCount(${a}))`),
};

/** `a || b` of bytes; undefined for others. */
export function concatenateBytes(left: Expr, right: Expr, site: CallSite): Expr | undefined {
  const sides = [left, right];
  if (!sides.some(({ type }) => type.name === 'bytea')) return undefined;
  if (!sides.every(({ type }) => type.name === 'bytea' || type.name === 'unknown')) return undefined;
  const [a = literal(bytea, null), b = literal(bytea, null)] = sides.map((side) =>
    coerce(side, bytea, site.at),
  );
  return apply('bytea ||', bytea, (x, y) => `concat(${x}, ${y})`, a, b);
}
