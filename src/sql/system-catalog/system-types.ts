import type { Value } from './catalog-value.ts';
import { systemFunctionList, systemTypeList } from './system-type-list.ts';

/** A type as `pg_type` has it. */
export interface SystemType {
  readonly oid: number;
  readonly name: string;
  /** As `format_type` writes it. */
  readonly label: string;
  readonly category: string;
  readonly elementOid: number;
  readonly arrayOid: number;
  readonly length: number;
  readonly byValue: boolean;
  readonly align: string;
  readonly storage: string;
  readonly collation: number;
  /** All columns of `pg_type` that are no default. */
  readonly columns: Readonly<Record<string, Value>>;
}

/** Functions that `pg_type`, `pg_range` and `pg_am` name, with their object ids. */
export const systemFunctions: ReadonlyMap<string, number> = new Map(
  systemFunctionList
    .trim()
    .split(/\s+/)
    .map((entry) => {
      const [name = '', oid] = entry.split('=');
      return [name, Number(oid)];
    }),
);
export const systemFunctionNames: ReadonlyMap<number, string> = new Map(
  [...systemFunctions].map(([name, oid]) => [oid, name]),
);

/** 0 for one that is not among them. */
export const functionOid = (name: string): number => systemFunctions.get(name) ?? 0;

function readType(line: string): SystemType {
  const words = line.split(' ');
  const [oid, name = '', length, byValue, kind = '', category = '', preferred, delimiter = '', element] =
    words;
  const [array, input = '', output = '', receive = '', send = '', align = '', storage = '', base, collation] =
    words.slice(9);
  return {
    oid: Number(oid),
    name,
    label: words.slice(18).join(' '),
    category,
    elementOid: Number(element),
    arrayOid: Number(array),
    length: Number(length),
    byValue: byValue === 't',
    align,
    storage,
    collation: Number(collation),
    columns: {
      typtype: kind,
      typispreferred: preferred === 't',
      typdelim: delimiter,
      typinput: functionOid(input),
      typoutput: functionOid(output),
      typreceive: functionOid(receive),
      typsend: functionOid(send),
      typbasetype: Number(base),
    },
  };
}

function arrayTypeOf(element: SystemType): SystemType {
  const align = element.align === 'd' ? 'd' : 'i';
  return {
    oid: element.arrayOid,
    name: `_${element.name}`,
    label: `${element.label}[]`,
    category: 'A',
    elementOid: element.oid,
    arrayOid: 0,
    length: -1,
    byValue: false,
    align,
    storage: 'x',
    collation: element.collation,
    columns: {
      typtype: 'b',
      typispreferred: false,
      typdelim: element.columns['typdelim'] ?? ',',
      typsubscript: arraySubscript,
      typinput: functionOid('array_in'),
      typoutput: functionOid('array_out'),
      typreceive: functionOid('array_recv'),
      typsend: functionOid('array_send'),
      typbasetype: 0,
    },
  };
}

/** Of `array_subscript_handler`. */
const arraySubscript = 6179;

const plainTypes = systemTypeList.trim().split('\n').map(readType);

/** Those of pseudo-types are in the list. */
const listed = new Set(plainTypes.map(({ oid }) => oid));

export const systemTypes: readonly SystemType[] = [
  ...plainTypes,
  ...plainTypes.filter(({ arrayOid }) => arrayOid > 0 && !listed.has(arrayOid)).map(arrayTypeOf),
];
export const typesByOid: ReadonlyMap<number, SystemType> = new Map(
  systemTypes.map((type) => [type.oid, type]),
);
export const typesByName: ReadonlyMap<string, SystemType> = new Map(
  systemTypes.map((type) => [type.name, type]),
);

/** `format_type` (PostgreSQL's src/backend/utils/adt/format_type.c): with the modifier, if there is one. */
export function formatType(oid: number, modifier: number | null): string {
  const type = typesByOid.get(oid);
  if (type === undefined) return oid === 0 ? '-' : '???';
  const element = type.category === 'A' ? typesByOid.get(type.elementOid) : undefined;
  if (element !== undefined && type.name.startsWith('_')) return `${formatType(element.oid, modifier)}[]`;
  // Without a modifier, these two would be of length 1.
  if (modifier === -1 && type.name === 'bpchar') return 'bpchar';
  if (modifier === -1 && type.name === 'bit') return '"bit"';
  if (modifier === null || modifier < 0) return type.label;
  switch (type.name) {
    case 'varchar':
    case 'bpchar':
      return modifier > 4 ? `${type.label}(${modifier - 4})` : type.label;
    case 'bit':
    case 'varbit':
      return `${type.label}(${modifier})`;
    case 'numeric':
      return `numeric(${((modifier - 4) >> 16) & 0xffff},${(modifier - 4) & 0x7ff})`;
    case 'timestamp':
    case 'timestamptz':
    case 'time':
    case 'timetz': {
      const [word, ...more] = type.label.split(' ');
      return `${word}(${modifier}) ${more.join(' ')}`;
    }
    case 'interval':
      return modifier >= 0x7fff_0000 ? `interval(${modifier & 0xffff})` : type.label;
    default:
      return `${type.label}(${modifier})`;
  }
}
