import { groupBy } from '../../lib/group-by.ts';
import type { Expression, Query, Select, SelectItem, SetOperation } from '../ast.ts';
import { outputColumnName } from '../resolve/output-name.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { CatalogColumn, Row, Value } from '../system-catalog/catalog-value.ts';
import { compareKeys, spendSorting } from './catalog-aggregates.ts';
import { catalogError } from './catalog-error.ts';
import { converted } from './catalog-operators.ts';
import {
  type CompileContext,
  type Compiled,
  type CompiledCte,
  type CompiledQuery,
  cellAt,
  type Frame,
  type QueryScope,
  Scope,
} from './catalog-scope.ts';
import { compile, condition } from './compile-expression.ts';
import { compileFrom } from './compile-from.ts';
import { requireGrouped } from './require-grouped.ts';
import { castValue, commonTypeOf, keyOf, mismatch } from './value-conversion.ts';

type Shared = Omit<CompileContext, 'scope' | 'ctes' | 'query'>;

/** Makes a query ready to run. @throws AppError `sql_…` */
export function compileQuery(query: Query, shared: Shared, scope: QueryScope): CompiledQuery {
  const compiled = compileSide(query, shared, scope);
  return {
    ...compiled,
    columns: compiled.columns.map((column) =>
      column.type === 'unknown' ? { ...column, type: 'text' } : column,
    ),
  };
}

/** A query whose NULLs and texts without a type may get one from the other side of a set operation. */
function compileSide(query: Query, shared: Shared, { parent, ctes: around }: QueryScope): CompiledQuery {
  const ctes = new Map(around);
  const own = query.ctes.map((cte) => {
    const place: QueryScope = { parent, ctes: new Map(ctes) };
    const compiled = cte.recursive ? recursiveCte(cte, shared, place) : plainCte(cte, shared, place);
    ctes.set(cte.name, compiled);
    return compiled;
  });
  const { isCorrelated, columns, rows } = compileBody(query, shared, { parent, ctes });
  if (own.length === 0) return { isCorrelated, columns, rows };
  return {
    columns,
    isCorrelated: isCorrelated || own.some((cte) => cte.isCorrelated),
    rows: (outer) => {
      for (const cte of own) cte.begin(outer);
      return rows(outer);
    },
  };
}

function compileBody(query: Query, shared: Shared, scope: QueryScope): CompiledQuery {
  const { body } = query;
  if (body.kind === 'select') return compileSelect(body, query, shared, scope);
  const inner =
    body.kind === 'set' ? compileSet(body, shared, scope) : compileValues(body.rows, shared, scope);
  return sortedRows(inner, query, shared, scope);
}

/** A table of WITH: it is made once, or once for each row of the query around it that it names columns of. */
class OwnCte implements CompiledCte {
  readonly columns: readonly CatalogColumn[];
  readonly isCorrelated: boolean;
  readonly #make: (outer: Frame | undefined) => readonly Row[];
  #outer: Frame | undefined;
  #rows: readonly Row[] | undefined;

  constructor(
    columns: readonly CatalogColumn[],
    isCorrelated: boolean,
    make: (outer: Frame | undefined) => readonly Row[],
  ) {
    this.columns = columns;
    this.isCorrelated = isCorrelated;
    this.#make = make;
  }

  begin(outer: Frame | undefined): void {
    if (!this.isCorrelated) return;
    this.#outer = outer;
    this.#rows = undefined;
  }

  rows(): readonly Row[] {
    this.#rows ??= this.#make(this.#outer);
    return this.#rows;
  }
}

type CteOf = Query['ctes'][number];

const named = (columns: readonly CatalogColumn[], names: readonly string[]): readonly CatalogColumn[] =>
  columns.map(({ name, type }, index) => ({
    name: names[index] ?? name,
    type: type === 'unknown' ? 'text' : type,
  }));

function plainCte(cte: CteOf, shared: Shared, scope: QueryScope): OwnCte {
  const { columns, isCorrelated, rows } = compileQuery(cte.query, shared, scope);
  return new OwnCte(named(columns, cte.columns), isCorrelated, rows);
}

/** What a row takes beside its cells. */
const keptWithRow = 8;

/** Rows are added until a round gives none that is new. */
function recursiveCte(cte: CteOf, shared: Shared, { parent, ctes }: QueryScope): OwnCte {
  const { body } = cte.query;
  if (body.kind !== 'set' || body.operator !== 'UNION' || !mentions(body.right, cte.name))
    return plainCte(cte, shared, { parent, ctes });
  const first = compileQuery(body.left, shared, { parent, ctes });
  const columns = named(first.columns, cte.columns);
  let working: readonly Row[] = [];
  const last: CompiledCte = { columns, rows: () => working };
  const next = compileQuery(body.right, shared, { parent, ctes: new Map([...ctes, [cte.name, last]]) });
  return new OwnCte(columns, first.isCorrelated || next.isCorrelated, (outer) => {
    const seen = new Set<string>();
    const isNew = (row: Row): boolean =>
      body.all || (!seen.has(keyOf(row)) && seen.add(keyOf(row)) !== undefined);
    const rows: Row[] = [];
    working = first.rows(outer).filter(isNew);
    while (working.length > 0) {
      shared.keep(working.length * (columns.length + keptWithRow));
      for (const row of working) rows.push(row);
      const added = next.rows(outer).map((row) => castRow(row, next.columns, columns, shared));
      working = added.filter(isNew);
    }
    return rows;
  });
}

function mentions(query: Query, name: string): boolean {
  return JSON.stringify(query).includes(`"path":[${JSON.stringify(name)}]`);
}

const castRow = (
  row: Row,
  from: readonly CatalogColumn[],
  to: readonly CatalogColumn[],
  { catalog }: Shared,
): Row =>
  row.map((value, index) =>
    castValue(value, from[index]?.type ?? 'text', to[index]?.type ?? 'text', catalog),
  );

function contextOf(shared: Shared, scope: Scope, ctes: ReadonlyMap<string, CompiledCte>): CompileContext {
  return { ...shared, scope, ctes, query: (query, context) => compileQuery(query, shared, context) };
}

function compileValues(
  rows: readonly (readonly Expression[])[],
  shared: Shared,
  { parent, ctes }: QueryScope,
): CompiledQuery {
  const scope = new Scope(parent);
  const context = contextOf(shared, scope, ctes);
  const compiled = rows.map((row) => row.map((each) => compile(each, context)));
  const columns = (compiled[0] ?? []).map((_, index) => ({
    name: `column${index + 1}`,
    type: commonTypeOf(compiled.map((row) => row[index]?.type ?? 'unknown')),
  }));
  const cells = compiled.map((row) =>
    row.map((cell, index) => converted(cell, columns[index]?.type ?? 'text', shared.catalog)),
  );
  return {
    columns,
    isCorrelated: scope.isCorrelated,
    rows: (outer) => cells.map((row) => row.map(({ run }) => run({ rows: [], computed: [], outer }))),
  };
}

function compileSet(body: SetOperation, shared: Shared, scope: QueryScope): CompiledQuery {
  const [left, right] = [body.left, body.right].map((side) => compileSide(side, shared, scope));
  if (left === undefined || right === undefined) throw new Error('BUG: a set operation has two sides');
  if (left.columns.length !== right.columns.length)
    throw sqlError('sql_syntax', `each ${body.operator} query must have the same number of columns`);
  const columns = left.columns.map(({ name, type }, index) => {
    const types = [type, right.columns[index]?.type ?? 'unknown'];
    const differing = mismatch(types);
    if (differing !== undefined)
      throw sqlError('sql_type', `${body.operator} types ${differing.join(' and ')} cannot be matched`);
    return { name, type: commonTypeOf(types) };
  });
  const of = (side: CompiledQuery, outer: Frame | undefined): readonly Row[] =>
    side.rows(outer).map((row) => castRow(row, side.columns, columns, shared));
  const { operator, all } = body;
  return {
    columns,
    isCorrelated: left.isCorrelated || right.isCorrelated,
    rows: (outer) => {
      const [first, second] = [of(left, outer), of(right, outer)];
      shared.keep((first.length + second.length) * (columns.length + keptWithRow));
      if (operator === 'UNION') return all ? [...first, ...second] : distinctRows([...first, ...second]);
      const counts = new Map<string, number>();
      for (const row of second) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
      /** Whether the right side has it, and with ALL, whether it has it once more. */
      const isTaken = (row: Row): boolean => {
        const left = counts.get(keyOf(row)) ?? 0;
        if (all) counts.set(keyOf(row), left - 1);
        return left > 0;
      };
      const kept = first.filter((row) => isTaken(row) === (operator === 'INTERSECT'));
      return all ? kept : distinctRows(kept);
    },
  };
}

const distinctRows = (rows: readonly Row[]): readonly Row[] => [
  ...new Map(rows.map((row) => [keyOf(row), row])).values(),
];

/** ORDER BY, LIMIT and OFFSET of a set operation: by names and numbers of its columns. */
function sortedRows(inner: CompiledQuery, query: Query, shared: Shared, scope: QueryScope): CompiledQuery {
  const names = new Scope(scope.parent);
  const { cell } = names.add(undefined, inner.columns);
  const context = contextOf(shared, names, scope.ctes);
  const keys = query.orderBy.map((key) => {
    const index = positionOf(key.expression, inner.columns.length);
    if (index === undefined) return { ...key, run: compile(key.expression, context).run };
    const read = cell(index);
    return { ...key, run: (frame: Frame): Value => cellAt(frame, 0, read) };
  });
  const bounds = boundsOf(query, context);
  return {
    ...inner,
    rows: (outer) => {
      const rows = inner.rows(outer);
      if (keys.length > 0) spendSorting(shared, rows.length);
      const sorted =
        keys.length === 0
          ? rows
          : rows
              .map((row) => ({
                row,
                values: keys.map(({ run }) => run({ rows: [row], computed: [], outer })),
              }))
              .toSorted((a, b) => compareKeys(a.values, b.values, keys))
              .map(({ row }) => row);
      return bounds(sorted, outer);
    },
  };
}

type Bounds = <Item>(items: readonly Item[], outer: Frame | undefined) => readonly Item[];

function boundsOf({ limit, offset, withTies }: Query, context: CompileContext): Bounds {
  if (withTies) throw unsupported('WITH TIES in a query of the catalog', limit?.at);
  if (limit === undefined && offset === undefined) return (items) => items;
  const [count, first] = [limit, offset].map(
    (each) => each && converted(compile(each, context), 'int8', context.catalog),
  );
  return (items, outer) => {
    const frame: Frame = { rows: [], computed: [], outer };
    const start = Number(first?.run(frame) ?? 0);
    const rows = count?.run(frame) ?? null;
    if (Number(rows) < 0)
      throw catalogError('invalid_row_count_in_limit_clause', 'LIMIT must not be negative');
    if (start < 0)
      throw catalogError('invalid_row_count_in_result_offset_clause', 'OFFSET must not be negative');
    return items.slice(start, rows === null ? undefined : start + Number(rows));
  };
}

/** `ORDER BY 2` */
function positionOf(expression: Expression, count: number): number | undefined {
  if (expression.kind !== 'constant' || expression.type !== 'integer') return undefined;
  const index = Number(expression.text) - 1;
  if (index >= 0 && index < count) return index;
  throw sqlError(
    'sql_bad_reference',
    `ORDER BY position ${expression.text} is not in select list`,
    expression.at,
  );
}

interface OutputItem {
  readonly name: string;
  readonly compiled: Compiled;
}

function compileSelect(
  select: Select,
  query: Query,
  shared: Shared,
  { parent, ctes }: QueryScope,
): CompiledQuery {
  const scope = new Scope(parent);
  const context = contextOf(shared, scope, ctes);
  const from = compileFrom(select.from, select.where, context);
  if (scope.hasAggregates)
    throw sqlError('sql_grouping', 'aggregate functions are not allowed in FROM or WHERE');
  const items = select.items.flatMap((item) => outputsOf(item, context));
  const [grouping, second] = select.groupingSets;
  if (second !== undefined) throw unsupported('GROUPING SETS in a query of the catalog');
  const byName = (expression: Expression): Compiled =>
    namedItem(expression, items) ?? compile(expression, context);
  const groupKeys = (grouping ?? []).map((key) => {
    const position = positionOf(key, items.length);
    return position === undefined
      ? groupKey(key, items, context)
      : (items[position]?.compiled ?? compile(key, context));
  });
  const having = select.having && condition(compile(select.having, context), context, select.having.at);
  const orderBy = query.orderBy.map((key) => {
    const position = positionOf(key.expression, items.length);
    const compiled = position === undefined ? byName(key.expression) : items[position]?.compiled;
    return { ...key, run: compiled?.run ?? (() => null) };
  });
  const distinctOn = select.distinctOn.map((key) => {
    const position = positionOf(key, items.length);
    return (position === undefined ? byName(key) : items[position]?.compiled)?.run ?? (() => null);
  });
  const isGrouped =
    groupKeys.length > 0 || having !== undefined || scope.hasAggregates || select.groupingSets.length > 0;
  if (isGrouped) {
    const keys = (grouping ?? []).map((key) => {
      const position = positionOf(key, items.length);
      return position === undefined
        ? outputMeant(key, select.items)
        : (select.items[position]?.expression ?? key);
    });
    const sortKeys = query.orderBy
      .map((key) => key.expression)
      .filter((key) => positionOf(key, items.length) === undefined)
      .map((key) => outputMeant(key, select.items));
    const shown = [...select.items.map((item) => item.expression), ...sortKeys];
    requireGrouped([...shown, ...(select.having === undefined ? [] : [select.having])], keys, scope);
  }
  const bounds = boundsOf(query, context);
  const columns = items.map(({ name, compiled }) => ({ name, type: compiled.type }));
  const made = (frame: Frame): MadeRow => {
    shared.keep(items.length + keptWithRow);
    return {
      row: items.map(({ compiled }) => compiled.run(frame)),
      keys: orderBy.length === 0 ? noKeys : orderBy.map(({ run }) => run(frame)),
      on: distinctOn.length === 0 ? '' : keyOf(distinctOn.map((run) => run(frame))),
    };
  };
  const isPlain = !isGrouped && scope.computations.length === 0;
  const all = (outer: Frame | undefined): readonly MadeRow[] => {
    // Where nothing is computed over several rows, each is made while FROM is at it.
    if (isPlain) {
      const rows: MadeRow[] = [];
      const frame: Frame = { rows: [], computed: [], outer };
      from(frame, () => {
        shared.spend(items.length);
        rows.push(made(frame));
      });
      return rows;
    }
    let frames = framesOf(from, outer, shared, scope.relations.length);
    shared.spend(frames.length * (items.length + groupKeys.length));
    if (isGrouped) frames = groupsOf(frames, groupKeys, scope, outer);
    if (having !== undefined) frames = frames.filter((frame) => having.run(frame) === true);
    computeWindows(frames, scope);
    return frames.flatMap((frame) => expanded(frame, scope, shared)).map(made);
  };
  const rows = (outer: Frame | undefined): readonly Row[] => {
    const found = all(outer);
    const unique = select.distinct
      ? [...new Map(found.map((each) => [keyOf(each.row), each])).values()]
      : found;
    if (orderBy.length > 0) spendSorting(shared, unique.length);
    const sorted =
      orderBy.length === 0 ? unique : unique.toSorted((a, b) => compareKeys(a.keys, b.keys, orderBy));
    const first = distinctOn.length === 0 ? sorted : firstOfEach(sorted);
    return bounds(
      first.map(({ row }) => row),
      outer,
    );
  };
  return { columns, isCorrelated: scope.isCorrelated, rows };
}

interface MadeRow {
  readonly row: Row;
  readonly keys: readonly Value[];
  /** Of DISTINCT ON. */
  readonly on: string;
}

const noKeys: readonly Value[] = [];

function firstOfEach<Each extends { readonly on: string }>(rows: readonly Each[]): readonly Each[] {
  const seen = new Set<string>();
  return rows.filter(({ on }) => !seen.has(on) && seen.add(on));
}

function outputsOf({ expression, alias }: SelectItem, context: CompileContext): readonly OutputItem[] {
  if (expression.kind !== 'star') {
    return [{ name: alias ?? outputColumnName(expression), compiled: compile(expression, context) }];
  }
  const { scope } = context;
  const relations = scope.relations.filter(
    ({ name }) => expression.relation === undefined || name === expression.relation,
  );
  if (relations.length === 0)
    throw sqlError(
      'sql_unknown_relation',
      `missing FROM-clause entry for table "${expression.relation ?? ''}"`,
      expression.at,
    );
  return relations.flatMap(({ slot, columns, cell, merged }) =>
    columns.flatMap(({ name, type }, index) => {
      if (expression.relation === undefined && merged.has(name)) return [];
      scope.used.add(slot);
      const read = cell(index);
      const run = (frame: Frame): Value => cellAt(frame, slot, read);
      return [{ name, compiled: { type, run } }];
    }),
  );
}

/** The expression of an item of the output that a name means, or itself. */
function outputMeant(expression: Expression, items: readonly SelectItem[]): Expression {
  if (expression.kind !== 'column' || expression.path.length !== 1) return expression;
  return (
    items.find(({ alias }) => alias !== undefined && alias === expression.path[0])?.expression ?? expression
  );
}

/** ORDER BY means a column of the output first. */
function namedItem(expression: Expression, items: readonly OutputItem[]): Compiled | undefined {
  if (expression.kind !== 'column' || expression.path.length !== 1) return undefined;
  return items.find(({ name }) => name === expression.path[0])?.compiled;
}

/** GROUP BY means a column of a relation first. */
function groupKey(expression: Expression, items: readonly OutputItem[], context: CompileContext): Compiled {
  try {
    return compile(expression, context);
  } catch (thrown) {
    const item = namedItem(expression, items);
    if (item === undefined) throw thrown;
    return item;
  }
}

function framesOf(
  from: (frame: Frame, emit: () => void) => void,
  outer: Frame | undefined,
  { keep }: Shared,
  relations: number,
): Frame[] {
  const frames: Frame[] = [];
  const frame: Frame = { rows: [], computed: [], outer };
  from(frame, () => {
    keep(relations + keptWithRow);
    frames.push({ rows: frame.rows.slice(), computed: [], outer });
  });
  return frames;
}

/** One frame for each group: of its first row, with the aggregates of all. */
function groupsOf(
  frames: readonly Frame[],
  keys: readonly Compiled[],
  scope: Scope,
  outer: Frame | undefined,
): Frame[] {
  const groups = groupBy(frames, (frame) => keyOf(keys.map(({ run }) => run(frame))));
  if (groups.size === 0 && keys.length === 0) groups.set('', []);
  return [...groups.values()].map((group) => {
    const first: Frame = group[0] ?? { rows: [], computed: [], outer };
    for (const [place, computation] of scope.computations.entries())
      if (computation.kind === 'aggregate') first.computed[place] = computation.compute(group);
    return first;
  });
}

function computeWindows(frames: readonly Frame[], scope: Scope): void {
  for (const [place, computation] of scope.computations.entries()) {
    if (computation.kind !== 'window') continue;
    const values = computation.compute(frames);
    for (const [index, frame] of frames.entries()) frame.computed[place] = values[index] ?? null;
  }
}

/** A row for each that the functions in SELECT give, as many as the longest. */
function expanded(frame: Frame, scope: Scope, { keep }: Shared): readonly Frame[] {
  const lists = scope.computations.flatMap((computation, place) =>
    computation.kind === 'rows' ? [{ place, values: computation.compute(frame) }] : [],
  );
  if (lists.length === 0) return [frame];
  const length = lists.reduce((most, { values }) => Math.max(most, values.length), 0);
  keep(length * keptWithRow);
  return Array.from({ length }, (_, index) => {
    const computed = frame.computed.slice();
    for (const { place, values } of lists) computed[place] = values[index] ?? null;
    return { ...frame, computed };
  });
}
