import { limits } from '../../limits/limits.ts';
import type { Query } from '../ast.ts';
import { spend, spendCatalogRows } from '../budget.ts';
import { apply, columnOf } from '../build.ts';
import type { SessionEffect } from '../catalog-session.ts';
import { type Expr, outputName, type SelectIr } from '../ir.ts';
import { arrayCell, doubleCell, type KnownRows, nullCell, tabSeparated, textCell } from '../known-rows.ts';
import type { QueryParameters } from '../parameters.ts';
import { type PostgresType, postgresType } from '../postgres-types.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { CatalogRows } from '../system-catalog/catalog-rows.ts';
import type { Row, Value } from '../system-catalog/catalog-value.ts';
import type { SystemCatalog } from '../system-catalog/system-catalog.ts';
import { arrayOf, bool, float, int2, int4, int8, json, type SqlType, text, timestamptz } from '../types.ts';
import type { Compiled } from './catalog-scope.ts';
import { compileQuery } from './compile-query.ts';
import { elementOf, isArrayType, isVector, readValue, writeValue } from './value-conversion.ts';

/**
 * Queries of the catalog are answered while they are translated: the rows are known here, and so the store is
 * given the answer itself to write. It knows no `regclass`, and few of the correlated subqueries that clients
 * ask for in it.
 */

export interface AnsweredCatalogQuery {
  /** The answer as a query of constant rows; without rows, if it is not asked for. */
  readonly query: SelectIr;
  /** Of the columns, as clients know them. */
  readonly types: readonly PostgresType[];
  /** In the order in which the statement has asked for them. */
  readonly effects: readonly SessionEffect[];
  /** The same rows as the store would give them. */
  readonly knownRows: KnownRows;
  /** Types of parameters that are others for clients, by number. */
  readonly parameterTypes: ReadonlyMap<number, PostgresType>;
}

/**
 * @param forStore whether the answer is needed as a query
 * @throws AppError `sql_…`
 */
export function answerCatalogQuery(
  tree: Query,
  catalog: SystemCatalog,
  parameters: QueryParameters,
  forStore: boolean,
): AnsweredCatalogQuery {
  let kept = 0;
  const effects: SessionEffect[] = [];
  const objectIds = new Map<number, PostgresType>();
  const keep = (cells: number): void => {
    kept += cells;
    if (kept > limits.maxCatalogQueryCells)
      throw sqlError(
        'sql_too_large',
        `The query keeps rows with more than ${limits.maxCatalogQueryCells} cells of the catalog at the same time`,
      );
  };
  const shared = {
    catalog,
    rows: new CatalogRows(catalog, keep),
    keep,
    parameter: (number: number, type: string, at: number | undefined) =>
      parameterOf(parameters, catalog, objectIds, number, type, at),
    spend: (count: number): void => spend('catalogSteps', count),
    effect: (effect: SessionEffect): void => {
      if (effects.length >= limits.maxCatalogQueryEffects)
        throw sqlError(
          'sql_too_large',
          `The query changes settings or ends sessions more than ${limits.maxCatalogQueryEffects} times`,
        );
      effects.push(effect);
    },
  };
  const { columns, rows } = compileQuery(tree, shared, { parent: undefined, ctes: new Map() });
  const forms = columns.map(({ type }) => outputOf(type, catalog));
  const answer = rows(undefined);
  const made: Array<ReadonlyArray<string | number | null>> = [];
  const lines = answer.map((row, place) => {
    const cells = cellsOf(row, forms);
    if (forStore) {
      const withPlace = [place, ...cells];
      spendCatalogRows([withPlace]);
      made.push(withPlace);
    }
    const shown = cells.map((cell, index) => shownCell(cell, forms[index]));
    const length = shown.reduce((sum, cell) => sum + cell.length + 1, 0);
    spend('catalogAnswerLength', length);
    return shown;
  });
  const knownRows = tabSeparated(lines);
  const alias = 't1';
  const inner = [{ name: '', type: int4 }, ...forms.map(({ cell }) => ({ name: '', type: cell }))];
  const at = (index: number, type: SqlType): Expr => columnOf(alias, outputName(index), type, '');
  const query: SelectIr = {
    kind: 'select',
    columns: columns.map(({ name }, index) => ({ name, type: forms[index]?.type.sql ?? text })),
    distinct: false,
    distinctOn: [],
    items: forms.map(({ type, cell, render }, index) =>
      render === undefined
        ? at(index + 1, cell)
        : apply(`as ${type.label}`, type.sql, render, at(index + 1, cell)),
    ),
    from: { kind: 'rows', alias, columns: inner, rows: made },
    where: undefined,
    groupingSets: [],
    having: undefined,
    orderBy: made.length > 1 ? [{ expr: at(0, int4), descending: false, nullsFirst: false }] : [],
    limit: undefined,
    offset: undefined,
  };
  return { query, types: forms.map(({ type }) => type), effects, parameterTypes: objectIds, knownRows };
}

interface OutputForm {
  readonly type: PostgresType;
  /** As the rows hold it. */
  readonly cell: SqlType;
  readonly write: (value: Exclude<Value, null>) => string | number;
  /** From what the rows hold to a value of the type. */
  readonly render?: (cell: string) => string;
}

const cellsOf = (row: Row, forms: readonly OutputForm[]): ReadonlyArray<string | number | null> =>
  forms.map(({ write }, index) => {
    const value = row[index] ?? null;
    return value === null ? null : write(value);
  });

/** A cell as the store shows it. */
function shownCell(cell: string | number | null, form: OutputForm | undefined): string {
  if (cell === null) return nullCell;
  switch (form?.type.sql.name) {
    case 'bool':
      return cell === 'true' ? 't' : 'f';
    case 'float':
      return doubleCell(Number(cell));
    case 'timestamptz':
      return `${cell}000`;
    case 'array':
      return arrayCell(JSON.parse(String(cell)) as (string | number | boolean | null)[]);
    default:
      return textCell(String(cell));
  }
}

const cast = (type: string) => (cell: string) => `CAST(${cell}, 'Nullable(${type})')`;

/** Types whose values are other types' here, with their own object ids: all object ids fit 31 bits. */
const oidType: PostgresType = { sql: int4, oid: 26, label: 'oid' };
const oidArray: PostgresType = { sql: arrayOf(int4), oid: 1028, label: 'oid[]' };
const nameType: PostgresType = { sql: text, oid: 19, label: 'name' };
const charType: PostgresType = { sql: text, oid: 18, label: '"char"' };

function outputOf(type: string, catalog: SystemCatalog): OutputForm {
  if (isArrayType(type) && !isVector(type)) return arrayOutput(type, catalog);
  switch (type) {
    case 'bool':
      return { type: postgresType(bool), cell: text, write: String, render: cast('Bool') };
    case 'int2':
      return { type: postgresType(int2), cell: int4, write: Number, render: cast('Int16') };
    case 'int4':
      return { type: postgresType(int4), cell: int4, write: Number };
    case 'oid':
      return { type: oidType, cell: int4, write: Number };
    case 'int8':
    case 'xid':
    case 'xid8':
      return { type: postgresType(int8), cell: text, write: String, render: cast('Int64') };
    case 'numeric':
      throw unsupported('A decimal (not a double precision) as a result of a query of the catalog');
    case 'float8':
      return { type: postgresType(float), cell: text, write: String, render: cast('Float64') };
    case 'timestamptz':
    case 'timestamp':
      return {
        type: postgresType(timestamptz),
        cell: text,
        write: (value) => new Date(Number(value)).toISOString().slice(0, 23).replace('T', ' '),
        render: cast("DateTime64(6, \\'UTC\\')"),
      };
    case 'json':
      return { type: postgresType(json), cell: text, write: String };
    case 'name':
      return { type: nameType, cell: text, write: String };
    case 'char':
      return { type: charType, cell: text, write: String };
    default:
      return { type: postgresType(text), cell: text, write: (value) => writeValue(value, type, catalog) };
  }
}

const elementForms: ReadonlyMap<string, { readonly sql: SqlType; readonly store: string }> = new Map([
  ['bool', { sql: bool, store: 'Bool' }],
  ['int2', { sql: int2, store: 'Int16' }],
  ['int4', { sql: int4, store: 'Int32' }],
  ['int8', { sql: int8, store: 'Int64' }],
  ['oid', { sql: int4, store: 'Int32' }],
]);

/** Arrays of other types with their own object ids. */
const arrayOids: Readonly<Record<string, number>> = { oid: 1028, name: 1003, char: 1002 };

function arrayOutput(type: string, catalog: SystemCatalog): OutputForm {
  const element = elementOf(type);
  const { sql, store } = elementForms.get(element) ?? { sql: text, store: 'String' };
  const known = postgresType(arrayOf(sql));
  const oid = arrayOids[element];
  const write = (item: Value): Value =>
    item === null || sql.name !== 'text' ? item : writeValue(item, element, catalog);
  return {
    type: oid === undefined ? known : { ...known, oid, label: `${element}[]` },
    cell: text,
    write: (value) => JSON.stringify(Array.isArray(value) ? value.map(write) : [value]),
    render: (cell) =>
      `if(isNull(${cell}), [], [JSONExtract(assumeNotNull(${cell}), 'Array(Nullable(${store}))')])`,
  };
}

const parameterTypes: Readonly<Record<string, SqlType>> = {
  bool,
  int2,
  int4,
  int8,
  oid: int4,
  float8: float,
  numeric: float,
  timestamptz,
};

/** What takes the place of a name of an object in a query that is described and not run. */
const sampleNames: Readonly<Record<string, string>> = {
  regclass: 'pg_class',
  regtype: 'text',
  regproc: 'array_in',
  regnamespace: 'public',
  regrole: 'millrace',
};

const parameterType = (type: string): SqlType =>
  isArrayType(type) && !isVector(type)
    ? arrayOf(parameterTypes[elementOf(type)] ?? text)
    : (parameterTypes[type] ?? text);

/** A parameter, whose value the answer holds for; its type comes from where it stands. */
function parameterOf(
  parameters: QueryParameters,
  catalog: SystemCatalog,
  objectIds: Map<number, PostgresType>,
  number: number,
  type: string,
  at: number | undefined,
): Compiled {
  const reference = parameters.reference(number, at);
  const as = (wanted: string): Compiled => {
    const name = wanted === 'unknown' ? 'text' : wanted;
    const sample = sampleNames[name];
    const ownType = name === 'oid' ? oidType : name === '_oid' ? oidArray : undefined;
    if (ownType !== undefined && reference.type.name === 'unknown') objectIds.set(number, ownType);
    const { value } = reference.constant(parameterType(name), sample);
    const read = value === null ? null : readValue(String(value), name, catalog);
    return { type: name, run: () => read };
  };
  if (type !== 'unknown') return as(type);
  const given = givenTypes[reference.type.name];
  if (given !== undefined) return as(given);
  let settled: Compiled | undefined;
  return {
    type: 'unknown',
    as,
    run: (frame) => {
      settled ??= as('text');
      return settled.run(frame);
    },
  };
}

/** Of parameters to which the client gives a type. */
const givenTypes: Readonly<Record<string, string>> = {
  bool: 'bool',
  int2: 'int2',
  int4: 'int4',
  int8: 'int8',
  float: 'float8',
};
