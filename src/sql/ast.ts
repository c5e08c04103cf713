/**
 * The part of PostgreSQL's syntax tree that the translator takes, in a small form of its own. What
 * has no place here was refused while it was read (`syntax/`). `at` is the byte offset of a node
 * in the query's text.
 */

export interface Query {
  readonly ctes: readonly Cte[];
  readonly body: Select | SetOperation | Values;
  readonly orderBy: readonly SortKey[];
  /** Undefined, and `LIMIT ALL` and `LIMIT NULL`, mean all rows. */
  readonly limit: Expression | undefined;
  readonly offset: Expression | undefined;
  /** `FETCH FIRST n ROWS WITH TIES`: what is sorted like the last of them, too. */
  readonly withTies: boolean;
  /** `EXPLAIN SELECT …`: it is translated, and not run. */
  readonly isExplained?: boolean;
}

export interface Cte {
  readonly name: string;
  readonly columns: readonly string[];
  readonly query: Query;
  /** `WITH RECURSIVE`: the query may read its own rows. */
  readonly recursive: boolean;
  readonly at: number | undefined;
}

export interface Select {
  readonly kind: 'select';
  readonly distinct: boolean;
  /** `DISTINCT ON (…)`; empty without. */
  readonly distinctOn: readonly Expression[];
  readonly items: readonly SelectItem[];
  /** Comma-separated relations; they are cross-joined. */
  readonly from: readonly FromItem[];
  readonly where: Expression | undefined;
  /** Each is grouped by on its own; `GROUP BY a, b` is one, `ROLLUP (a, b)` three. None: no GROUP BY. */
  readonly groupingSets: readonly (readonly Expression[])[];
  readonly having: Expression | undefined;
  readonly windows: ReadonlyMap<string, Window>;
}

export interface SelectItem {
  readonly expression: Expression;
  readonly alias: string | undefined;
}

export interface SetOperation {
  readonly kind: 'set';
  readonly operator: 'UNION' | 'INTERSECT' | 'EXCEPT';
  readonly all: boolean;
  readonly left: Query;
  readonly right: Query;
}

export interface Values {
  readonly kind: 'values';
  readonly rows: readonly (readonly Expression[])[];
}

export interface SortKey {
  readonly expression: Expression;
  readonly descending: boolean;
  /** PostgreSQL's default: last when ascending, first when descending. */
  readonly nullsFirst: boolean;
}

export type JoinType = 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'CROSS';

export type FromItem =
  | {
      readonly kind: 'table';
      readonly path: readonly string[];
      readonly alias: Alias | undefined;
      readonly at: number | undefined;
    }
  | {
      readonly kind: 'derived';
      readonly query: Query;
      readonly alias: Alias | undefined;
      /** It sees the relations to its left. */
      readonly lateral: boolean;
    }
  | {
      /** A function whose rows are a relation. It sees the relations to its left. */
      readonly kind: 'function';
      readonly call: Call;
      readonly ordinality: boolean;
      /** `AS t (a int, b text)`; none for most. */
      readonly definitions: readonly ColumnDefinition[];
      readonly alias: Alias | undefined;
      readonly at: number | undefined;
    }
  | {
      readonly kind: 'join';
      readonly type: JoinType;
      readonly left: FromItem;
      readonly right: FromItem;
      readonly on: Expression | undefined;
      readonly using: readonly string[];
      readonly natural: boolean;
      /** `(a JOIN b …) AS x`, which hides the names of both. */
      readonly alias: Alias | undefined;
      /** `USING (…) AS x`, a relation of the merged columns. */
      readonly usingAlias: string | undefined;
      readonly at: number | undefined;
    };

/** A column that the query gives to the rows of a function. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: TypeName;
}

export interface Alias {
  readonly name: string;
  readonly columns: readonly string[];
}

export interface Window {
  /** A window of the WINDOW clause that is used as it stands. */
  readonly reference: string | undefined;
  /** One that this window refines: `(w ORDER BY …)`. */
  readonly base: string | undefined;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
  /** Undefined: the default frame. */
  readonly frame: Frame | undefined;
  readonly at: number | undefined;
}

export interface Frame {
  readonly mode: 'ROWS' | 'RANGE' | 'GROUPS';
  readonly start: FrameBound;
  readonly end: FrameBound;
  /** Rows that are left out of it. */
  readonly exclude: FrameExclusion | undefined;
  readonly at: number | undefined;
}

export type FrameExclusion = 'current row' | 'group' | 'ties';

export type FrameBound =
  | { readonly kind: 'unbounded preceding' | 'current row' | 'unbounded following' }
  | { readonly kind: 'preceding' | 'following'; readonly offset: Expression };

export interface TypeName {
  readonly name: string;
  readonly modifiers: readonly number[];
  readonly array: boolean;
  readonly at: number | undefined;
}

interface Node<Kind extends string> {
  readonly kind: Kind;
  readonly at: number | undefined;
}

export interface ColumnReference extends Node<'column'> {
  /** `a`, `t.a`; a star is a node of its own. */
  readonly path: readonly string[];
}

export interface Star extends Node<'star'> {
  readonly relation: string | undefined;
}

export interface Constant extends Node<'constant'> {
  /** Numbers are kept as they were written. A string has no type yet: its context gives it one. */
  readonly type: 'integer' | 'decimal' | 'string' | 'boolean' | 'null';
  readonly text: string;
}

/** `$1` */
export interface ParameterReference extends Node<'parameter'> {
  readonly number: number;
}

export interface Call extends Node<'call'> {
  readonly name: string;
  readonly args: readonly Expression[];
  /** `count(*)`. */
  readonly star: boolean;
  readonly distinct: boolean;
  readonly filter: Expression | undefined;
  /** `WITHIN GROUP (ORDER BY …)`. */
  readonly withinGroup: readonly SortKey[];
  /** `array_agg(x ORDER BY …)`. */
  readonly orderBy: readonly SortKey[];
  readonly over: Window | undefined;
}

export interface Case extends Node<'case'> {
  readonly operand: Expression | undefined;
  readonly branches: readonly { readonly when: Expression; readonly result: Expression }[];
  readonly otherwise: Expression | undefined;
}

export type Expression =
  | ColumnReference
  | Star
  | Constant
  | ParameterReference
  | Call
  | Case
  | (Node<'operator'> & { readonly name: string; readonly args: readonly Expression[] })
  | (Node<'and' | 'or'> & { readonly args: readonly Expression[] })
  | (Node<'not'> & { readonly arg: Expression })
  | (Node<'is null'> & { readonly arg: Expression; readonly negated: boolean })
  | (Node<'is truth'> & {
      readonly arg: Expression;
      readonly value: 'true' | 'false' | 'unknown';
      readonly negated: boolean;
    })
  | (Node<'is distinct'> & {
      readonly left: Expression;
      readonly right: Expression;
      readonly negated: boolean;
    })
  | (Node<'in list'> & {
      readonly arg: Expression;
      readonly items: readonly Expression[];
      readonly negated: boolean;
    })
  | (Node<'between'> & {
      readonly arg: Expression;
      readonly low: Expression;
      readonly high: Expression;
      readonly negated: boolean;
      readonly symmetric: boolean;
    })
  | (Node<'cast'> & { readonly arg: Expression; readonly type: TypeName })
  | (Node<'subscript'> & { readonly arg: Expression; readonly index: Expression })
  /** `a[1:2]`; a bound that is left out is that of the array. */
  | (Node<'slice'> & {
      readonly arg: Expression;
      readonly from: Expression | undefined;
      readonly to: Expression | undefined;
    })
  | (Node<'array'> & { readonly items: readonly Expression[] })
  /** `x = ANY (array)`, `x <> ALL (array)`. */
  | (Node<'any' | 'all'> & {
      readonly operator: string;
      readonly arg: Expression;
      readonly array: Expression;
    })
  | (Node<'grouping'> & { readonly args: readonly Expression[] })
  | (Node<'scalar subquery' | 'exists' | 'array subquery'> & { readonly query: Query })
  /** `(f(x)).name`, of a value that has fields. */
  | (Node<'field'> & { readonly arg: Expression; readonly name: string })
  /** `(a, b)`, beside another row or a subquery. */
  | (Node<'row'> & { readonly items: readonly Expression[] })
  /** `x = ANY (SELECT …)`, which `x IN (SELECT …)` is, and `x <> ALL (SELECT …)`. */
  | (Node<'quantified subquery'> & {
      readonly quantifier: 'any' | 'all';
      readonly operator: string;
      readonly arg: Expression;
      readonly query: Query;
    });
