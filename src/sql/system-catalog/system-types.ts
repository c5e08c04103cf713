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

/** Functions that `pg_type` names, with their object ids. */
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

const functionOid = (name: string): number => systemFunctions.get(name) ?? 0;

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

export const systemTypes: readonly SystemType[] = [
  ...plainTypes,
  ...plainTypes.filter(({ arrayOid }) => arrayOid > 0).map(arrayTypeOf),
];
export const typesByOid: ReadonlyMap<number, SystemType> = new Map(
  systemTypes.map((type) => [type.oid, type]),
);
export const typesByName: ReadonlyMap<string, SystemType> = new Map(
  systemTypes.map((type) => [type.name, type]),
);

/** A type by one of its names, `integer` or `int4`, `text[]` or `_text`. */
export function findType(name: string): SystemType | undefined {
  const plain = name
    .trim()
    .replace(/^pg_catalog\./, '')
    .replaceAll('"', '');
  const known = typesByName.get(plain) ?? typesByLabel.get(plain.toLowerCase());
  if (known !== undefined) return known;
  // Without what stands in parentheses, as in `character varying(20)`.
  const [open, close] = [plain.indexOf('('), plain.indexOf(')')];
  if (open < 0 || close < open) return undefined;
  return typesByLabel.get(`${plain.slice(0, open).trimEnd()}${plain.slice(close + 1)}`.toLowerCase());
}

const otherLabels: ReadonlyArray<readonly [string, string]> = [
  ['int', 'int4'],
  ['decimal', 'numeric'],
  ['float', 'float8'],
  ['timestamp', 'timestamp'],
];
const typesByLabel: ReadonlyMap<string, SystemType> = new Map([
  ...systemTypes.map((type) => [type.label.replaceAll('"', ''), type] as const).toReversed(),
  ...otherLabels.flatMap(([label, name]) => {
    const type = typesByName.get(name);
    return type === undefined ? [] : [[label, type] as const];
  }),
]);

/** `format_type`: with the modifier, if there is one. */
export function formatType(oid: number, modifier: number | null): string {
  const type = typesByOid.get(oid);
  if (type === undefined) return oid === 0 ? '-' : '???';
  if (modifier === null || modifier < 0) return type.label;
  switch (type.name) {
    case 'varchar':
    case 'bpchar':
      return `${type.label}(${modifier - 4})`;
    case 'numeric':
      return `numeric(${((modifier - 4) >> 16) & 0xffff},${(modifier - 4) & 0xffff})`;
    default:
      return type.label;
  }
}
