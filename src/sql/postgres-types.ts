import {
  arrayOf,
  bool,
  bytea,
  date,
  float,
  int2,
  int4,
  int8,
  interval,
  json,
  jsonb,
  map,
  numeric,
  type SqlType,
  text,
  time,
  timestamp,
  timestamptz,
  typeLabel,
} from './types.ts';

/** A type as clients of PostgreSQL know it: of a column of a result, or of a parameter. */
export interface PostgresType {
  readonly sql: SqlType;
  /** Of PostgreSQL's `pg_type`. */
  readonly oid: number;
  /** As PostgreSQL's `format_type` writes it: `double precision`. */
  readonly label: string;
  /** `atttypmod` of a numeric whose digits were declared; none has another. */
  readonly modifier?: number;
}

/**
 * Object ids of the types that there are, and of their arrays (PostgreSQL's src/include/catalog/pg_type.dat).
 */
const types: ReadonlyArray<readonly [type: SqlType, oid: number, arrayOid: number]> = [
  [bool, 16, 1000],
  [int8, 20, 1016],
  [int2, 21, 1005],
  [int4, 23, 1007],
  [text, 25, 1009],
  [json, 114, 199],
  [float, 701, 1022],
  [timestamp, 1114, 1115],
  [date, 1082, 1182],
  [time, 1083, 1183],
  [bytea, 17, 1001],
  [timestamptz, 1184, 1185],
  [interval, 1186, 1187],
  [numeric(0, true), 1700, 1231],
  [jsonb, 3802, 3807],
  // PostgreSQL has no such type; the text of a map is a JSON object.
  [map, 114, 199],
];

/** The types that a column of a result or of a dataset can have; arrays are of these. */
export const sqlTypes: readonly SqlType[] = types.map(([type]) => type);

/** Object ids of types that only a parameter can have, and whose values have a form of their own. */
export const typeOids = { real: 700, realArray: 1021, uuid: 2950, uuidArray: 2951, unknown: 705 } as const;

/**
 * Types of parameters that are taken for others here: `name`, `"char"`, `oid`, `real`, `character`,
 * `character varying`, `uuid`. No column has one of them. The values of `real` and `uuid` have a form of
 * their own.
 */
const synonyms: ReadonlyArray<readonly [type: SqlType, oid: number, arrayOid: number]> = [
  [text, 19, 1003],
  [text, 18, 1002],
  [int4, 26, 1028],
  [float, typeOids.real, typeOids.realArray],
  [text, 1042, 1014],
  [text, 1043, 1015],
  [text, typeOids.uuid, typeOids.uuidArray],
];

const oids: ReadonlyMap<string, { readonly oid: number; readonly arrayOid: number }> = new Map(
  types.map(([{ name }, oid, arrayOid]) => [name, { oid, arrayOid }]),
);
const textOids = { oid: 25, arrayOid: 1009 };

const typesByOid: ReadonlyMap<number, SqlType> = new Map(
  [...synonyms, ...types.filter(([type]) => type !== map)].flatMap(([type, oid, arrayOid]) => [
    [oid, type] as const,
    [arrayOid, arrayOf(type)] as const,
  ]),
);

/** A type with its object id. */
export function postgresType(type: SqlType): PostgresType {
  const isArray = type.name === 'array';
  const { oid, arrayOid } = oids.get(isArray ? type.element.name : type.name) ?? textOids;
  const modifier = type.name === 'numeric' ? modifierOf(type) : undefined;
  const named = { sql: type, oid: isArray ? arrayOid : oid, label: typeLabel(type) };
  return modifier === undefined ? named : { ...named, modifier };
}

/** As PostgreSQL packs `numeric(digits, scale)` (src/backend/utils/adt/numeric.c, make_numeric_typmod). */
const modifierOf = ({ digits, exact, scale }: Extract<SqlType, { name: 'numeric' }>): number | undefined =>
  digits === undefined || !exact ? undefined : ((digits << 16) | scale) + 4;

/** The type that a client names by its object id; undefined where there is none here. */
export const typeOfOid = (oid: number): SqlType | undefined => typesByOid.get(oid);
