import type { FieldType } from '../model/column.ts';
import type { JoinType } from './ast.ts';
import type { MetricColumn, PointTable } from './metric-tables.ts';
import type { SqlType } from './types.ts';

/**
 * The typed form between resolving and printing: names are bound, types are known, every implicit conversion
 * is written out. Relations have generated aliases (`t1`), their columns generated names (`c1`, `o1`), unique
 * in the whole query, so no name of a user can capture or shadow anything in the store.
 */
export type Expr = Literal | Parameter | Column | Mixed | Apply | Aggregate | Subquery;

export interface Literal {
  readonly kind: 'literal';
  readonly type: SqlType;
  /** Numbers and strings as text, timestamps in microseconds since 1970, dates in days. */
  readonly value: LiteralValue;
}

export type LiteralValue = string | number | boolean | IntervalParts | null;

export interface IntervalParts {
  readonly months: number;
  readonly days: number;
  readonly micros: number;
}

/** A parameter of the query, whose value is put in when the statement runs. */
export interface Parameter {
  readonly kind: 'parameter';
  /** `unknown` until a context gives it one. */
  readonly type: SqlType;
  readonly number: number;
  /**
   * Gives a type to one that has none, for all places where it stands.
   * @returns a literal without a type instead, where the translation depends on the value of
   *   parameters of that type
   * @throws AppError `sql_parameter_type` if another context gave it another type; `sql_bad_value`
   */
  typed(type: SqlType): Parameter | Literal;
  /**
   * Its value, as a literal without a type; the translation then holds for this value alone.
   * @param type that it has if it had none
   * @param sample what takes the place of the value where there is none, since the query is
   *   described and not run
   */
  constant(type: SqlType, sample?: string): Literal;
}

export interface Column {
  readonly kind: 'column';
  readonly type: SqlType;
  readonly relation: string;
  readonly name: string;
  /** As the user wrote it, for messages. */
  readonly label: string;
  /** True in a correlated subquery, for a column of the query around it. */
  readonly outer: boolean;
  /** Of a query farther out than that, where it was named; `near-columns.ts` takes a nearer one instead. */
  readonly far?: { readonly at: number | undefined };
  /** True for doubles that are never an infinity or NaN. */
  readonly finite?: boolean;
  /** Of a field of events as it is stored: two of one type have the same type in the store. */
  readonly stored?: FieldType;
  /** True for the rows of an array: the store knows them by one name, without a relation. */
  readonly unnested?: boolean;
}

/** A field with several physical columns, not yet narrowed to the one that its context needs. */
export interface Mixed {
  readonly kind: 'mixed';
  readonly type: SqlType;
  readonly label: string;
  /** The types of the columns that hold all of its values together. */
  readonly has: readonly FieldType[];
  /**
   * True if any type of column can be asked for: the others hold those values that read like one of theirs.
   */
  readonly convertible: boolean;
  /** Asking for a column marks it as read. */
  readonly column: (type: FieldType) => Column;
}

/** Makes ClickHouse SQL of an operation from the SQL of its arguments, as many as the operation takes. */
export type Renderer = (...args: string[]) => string;

export interface Apply {
  readonly kind: 'apply';
  readonly type: SqlType;
  /** Names the operation; equal names with equal arguments print the same. */
  readonly name: string;
  readonly render: Renderer;
  readonly args: readonly Expr[];
  /** Of two doubles, to be checked together with those in its operands; the printer knows how. */
  readonly arithmetic?: DoubleOperator;
  /** True for an interval whose arguments are its months, its days and the microseconds of its clock. */
  readonly ofParts?: true;
  /**
   * True for a decimal whose one argument is an integer, which it divides by a power of ten: decimals are
   * equal where these integers are.
   */
  readonly ofInteger?: true;
  /** Of a condition: texts that its first argument contains wherever it is true, in upper or lower case. */
  readonly contains?: readonly string[];
  /** Of a row: the names of its values, which are the arguments. */
  readonly fields?: readonly string[];
}

export type DoubleOperator = '+' | '-' | '*' | '/';

/** An aggregate, or with `over` a window function. */
export interface Aggregate {
  readonly kind: 'aggregate';
  readonly type: SqlType;
  readonly name: string;
  readonly render: Renderer;
  readonly args: readonly Expr[];
  readonly distinct: boolean;
  readonly filter: Expr | undefined;
  readonly over: WindowSpec | undefined;
  /** Applied to the finished call, behind FILTER and OVER. */
  readonly finish: Renderer | undefined;
}

export interface WindowSpec {
  readonly partitionBy: readonly Expr[];
  readonly orderBy: readonly Sort[];
  readonly frame: WindowFrame | undefined;
}

export interface WindowFrame {
  readonly mode: 'ROWS' | 'RANGE';
  readonly start: string;
  readonly end: string;
}

export interface Subquery {
  readonly kind: 'subquery';
  readonly type: SqlType;
  readonly form: 'scalar' | 'exists' | 'in';
  /** Tells it apart from every other one. */
  readonly id: string;
  readonly query: QueryIr;
  /** The left side of IN. */
  readonly arg: Expr | undefined;
  /** A correlated `count`: 0 for no row, where the store would give NULL. */
  readonly zeroWhenEmpty: boolean;
  /** False where NULL and false mean the same (a condition of WHERE), which is cheaper. */
  readonly threeValued: boolean;
  /** True if it names columns of the query around it. */
  readonly correlated: boolean;
  /** Those of them whose NULLs it must see (`correlation.ts`). */
  readonly nullable: readonly Column[];
}

export interface Sort {
  readonly expr: Expr;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** An output column: the user's name for it. In the store it is `o<position>`. */
export interface OutputColumn {
  readonly name: string;
  readonly type: SqlType;
}

export type QueryIr = SelectIr | SetIr | ValuesIr;

export interface SelectIr {
  readonly kind: 'select';
  readonly columns: readonly OutputColumn[];
  readonly distinct: boolean;
  /** One row for each value of these, the first in the order asked for. */
  readonly distinctOn: readonly Expr[];
  readonly items: readonly Expr[];
  readonly from: FromIr | undefined;
  readonly where: Expr | undefined;
  /** None: not grouped. */
  readonly groupingSets: readonly (readonly Expr[])[];
  readonly having: Expr | undefined;
  readonly orderBy: readonly Sort[];
  readonly limit: RowCount | undefined;
  readonly offset: RowCount | undefined;
  /** LIMIT keeps what is sorted like the last row, too. */
  readonly withTies?: boolean;
  /** LIMIT and OFFSET count the rows with equal values of these apart. */
  readonly limitBy?: readonly Expr[];
}

/** A number of rows, or a subquery that gives it when the query runs. */
export type RowCount = number | Expr;

export interface SetIr {
  readonly kind: 'set';
  readonly columns: readonly OutputColumn[];
  readonly operator: 'UNION' | 'INTERSECT' | 'EXCEPT';
  readonly all: boolean;
  readonly left: QueryIr;
  readonly right: QueryIr;
}

export interface ValuesIr {
  readonly kind: 'values';
  readonly columns: readonly OutputColumn[];
  readonly rows: readonly (readonly Expr[])[];
}

interface Relation {
  readonly alias: string;
  /** True if it has the column `joinKey`, the same in all rows. */
  readonly keyed?: boolean;
}

export type FromIr =
  | (Relation & { readonly kind: 'dataset'; readonly read: DatasetRead })
  | (Relation & {
      readonly kind: 'derived';
      readonly query: QueryIr;
      /** True for a join in parentheses: its output columns are those that are asked for. */
      readonly isJoin?: boolean;
    })
  | (Relation & { readonly kind: 'cte'; readonly cte: string })
  | (Relation & {
      /** Rows that are known already: of the catalog. */
      readonly kind: 'rows';
      readonly columns: readonly OutputColumn[];
      readonly rows: readonly (readonly (string | number | null)[])[];
    })
  | (Relation & {
      /** Whole numbers that the store counts, row by row. */
      readonly kind: 'series';
      readonly series: CountedSeries;
      /** With the position of each, from 1. */
      readonly ordinality: boolean;
    })
  | {
      /** A row for each element of arrays, beside the row of `input` that it belongs to. */
      readonly kind: 'unnest';
      readonly alias: string;
      readonly input: FromIr | undefined;
      /** One for each column, all of the same length. */
      readonly arrays: readonly Expr[];
      /** With the position of the element, from 1. */
      readonly ordinality: boolean;
      /** Rows of `input` without elements are kept. */
      readonly outer: boolean;
    }
  | {
      readonly kind: 'join';
      readonly type: JoinType;
      readonly left: FromIr;
      readonly right: FromIr;
      readonly on: Expr | undefined;
    };

/** `first`, `first + step`, …: each fits 64 bits with its sign. */
export interface CountedSeries {
  readonly first: bigint;
  readonly step: bigint;
  readonly count: bigint;
}

export interface CteIr {
  readonly name: string;
  readonly query: QueryIr;
  /** It reads its own rows. */
  readonly recursive: boolean;
}

/** Which ends the time range of the query has. What they are is not part of its translation. */
export interface RangeShape {
  readonly start: boolean;
  readonly end: boolean;
  /** Whether it is about the rows of a range of inserts (`arrival-query.ts`); false unless given. */
  readonly arrival?: boolean;
}

/**
 * The part of a dataset that a query reads: only the columns it names. Keys are generated names, values what
 * they stand for.
 */
export type DatasetRead = EventsRead | RecordsRead | PointsRead | SeriesRead | MetadataRead;

interface Read<Kind extends string, Target> {
  readonly kind: Kind;
  readonly database: string;
  readonly dataset: string;
  readonly range: RangeShape;
  /** What the reader's privileges let through, whatever else the query asks for. */
  readonly allowed: AllowedRows<Target>;
}

/** All rows, or those of which one of these columns has this value; so none, if there are no such columns. */
export type AllowedRows<Target> =
  | 'all'
  | readonly { readonly column: Target; readonly value: string | number | boolean }[];

/** Columns, and what privileges look at, in the store's SQL. */
export interface EventsRead extends Read<'events', string> {
  readonly columns: ReadonlyMap<string, string>;
  /** Those of the columns that have an index for texts in them. */
  readonly searched: ReadonlySet<string>;
  /** Conditions that all rows meet for which the query asks, in the store's SQL: indexes know them. */
  readonly filters: readonly string[];
}

/** Logs or spans; columns, and what privileges look at, in the store's SQL. */
export interface RecordsRead extends Read<'records', string> {
  readonly table: 'logs' | 'spans';
  readonly columns: ReadonlyMap<string, string>;
  /** Those of the columns that are an attribute as text. */
  readonly attributes: ReadonlySet<string>;
  /** Conditions that all rows meet for which the query asks, in the store's SQL: indexes know them. */
  readonly filters: readonly string[];
}

/** Samples, exemplars or histograms. */
export interface PointsRead extends Read<'points', SeriesColumn> {
  readonly table: PointTable;
  readonly columns: ReadonlyMap<string, MetricColumn>;
  /** Columns that come from the series of a point. */
  readonly series: ReadonlyMap<string, SeriesColumn>;
  /** How often each of them was named. */
  readonly seriesUses: ReadonlyMap<string, number>;
  /** Conditions of WHERE on columns of `series` alone; they choose the series to read. */
  readonly seriesConditions: readonly Expr[];
  /** The columns of `series` that are used outside of these conditions, and so must be joined. */
  readonly joined: ReadonlySet<string>;
}

export interface SeriesRead extends Read<'series', SeriesColumn> {
  readonly series: ReadonlyMap<string, SeriesColumn>;
}

export interface MetadataRead extends Read<'metadata', SeriesColumn> {
  readonly columns: ReadonlyMap<string, MetricColumn>;
}

export type SeriesColumn =
  | { readonly kind: 'metric_name' | 'labels' }
  | { readonly kind: 'label'; readonly label: string }
  /** Another column of the series table, in the store's SQL. */
  | { readonly kind: 'detail'; readonly sql: string };

/** The name in the store of an output column, counted from 0. */
export const outputName = (index: number): string => `o${index + 1}`;

/** The name in the store of what outer joins without an equality join by. */
export const joinKey = 'k';

/** The name in the store of an element of an unnested array. */
export const unnestedName = (relation: string, column: string): string => `${relation}_${column}`;
