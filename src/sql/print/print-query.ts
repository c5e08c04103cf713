import { quoteIdentifier, quoteString } from '../../lib/quote.ts';
import { spend } from '../budget.ts';
import { apply, columnOf, integerOf, some } from '../build.ts';
import { castElements, convert } from '../coerce.ts';
import { exprKey } from '../expr-key.ts';
import { isSet } from '../functions/set-returning.ts';
import { quoteGenerated, relationName } from '../generated-names.ts';
import {
  type CteIr,
  type Expr,
  type FromIr,
  joinKey,
  outputName,
  type QueryIr,
  type RowCount,
  type SelectIr,
  type SetIr,
  unnestedName,
} from '../ir.ts';
import { withDefaultIntervals } from '../session-times.ts';
import { bool, type SqlType, storeType, text } from '../types.ts';
import { bounded, boundedList } from './bounded.ts';
import { printRows, printSeries } from './literal-rows.ts';
import { printExpression, printSorts } from './print-expression.ts';
import { printRead, wholeTable } from './relation.ts';

/** A query whose output columns are `o1`, `o2`, …. */
function printQuery(query: QueryIr): string {
  switch (query.kind) {
    case 'select':
      return printSelect(
        query,
        boundedList(query.items, (item, index) =>
          query.from === undefined ? computed(item, outputName(index)) : named(item, outputName(index)),
        ),
      );
    case 'values':
      return boundedList(query.rows, (row, place) => {
        const show = place === 0 ? computed : named;
        return `SELECT ${boundedList(row, (item, index) => show(item, outputName(index))).join(', ')}`;
      }).join(' UNION ALL ');
    case 'set':
      return printSet(query);
  }
}

const printSet = ({ operator, all, left, right }: SetIr): string =>
  bounded(`(${printQuery(left)}) ${operator} ${all ? 'ALL' : 'DISTINCT'} (${printQuery(right)})`);

const print = (expr: Expr): string => printExpression(expr, printQuery);
const printList = (exprs: readonly Expr[]): string => boundedList(exprs, print).join(', ');
const named = (expr: Expr, name: string): string => `${print(expr)} AS ${quoteIdentifier(name)}`;

/**
 * A column of rows that are written in the query. As a constant, the store would compute with it when it
 * plans: in branches that are never taken, too, and it would not find it again as a key of groups.
 */
function computed(expr: Expr, name: string): string {
  if (expr.type.name === 'array' || expr.type.name === 'map') return named(expr, name);
  if (expr.kind !== 'literal' || expr.value !== null)
    return `materialize(toNullable(${print(expr)})) AS ${quoteIdentifier(name)}`;
  // A NULL of no type would be a column of none, with which the store computes little.
  if (expr.type.name === 'unknown') return named(expr, name);
  const type = quoteString(`Nullable(${storeType(expr.type)})`);
  return `materialize(CAST(NULL, ${type})) AS ${quoteIdentifier(name)}`;
}

const allRows = '9223372036854775807';

function printSelect(select: SelectIr, items: readonly string[]): string {
  const { from, where, groupingSets, distinctOn, having, orderBy, limit, offset, limitBy } = select;
  // Behind and in LIMIT BY the store takes no OFFSET alone.
  const needsLimit = offset !== undefined && (distinctOn.length > 0 || limitBy !== undefined);
  const rows = limit === undefined ? (needsLimit ? allRows : undefined) : printRowCount(limit, 'rows');
  const distinctKeys = keysOfDistinct(select);
  return [
    `SELECT ${select.distinct && distinctKeys === undefined ? 'DISTINCT ' : ''}${items.length === 0 ? '1' : items.join(', ')}`,
    ...(from === undefined ? [] : [`FROM ${printOnlyRelation(from) ?? printFrom(from)}`]),
    ...(where === undefined ? [] : [`WHERE ${print(where)}`]),
    ...(groupingSets.length === 0 ? [] : [`GROUP BY ${printGroupBy(groupingSets)}`]),
    ...(distinctKeys === undefined ? [] : [`GROUP BY ${printList(distinctKeys)}`]),
    ...(having === undefined ? [] : [`HAVING ${print(having)}`]),
    ...(orderBy.length === 0 ? [] : [`ORDER BY ${printSorts(orderBy, printQuery)}`]),
    ...(distinctOn.length === 0 ? [] : [`LIMIT 1 BY ${printList(distinctOn)}`]),
    ...(rows === undefined ? [] : [`LIMIT ${rows}`]),
    ...(offset === undefined ? [] : [`OFFSET ${printRowCount(offset, 'before')}`]),
    ...(select.withTies === true ? ['WITH TIES'] : []),
    ...(limitBy === undefined ? [] : [`BY ${printList(limitBy)}`]),
  ].join(' ');
}

/** The store knows the columns of LIMIT and OFFSET all over the query: those of each have their own names. */
function printRowCount(count: RowCount, name: string): string {
  if (typeof count === 'number') return String(count);
  if (count.kind !== 'subquery' || count.query.kind !== 'select') throw new Error('BUG: no number of rows');
  return `(${printSelect(
    count.query,
    boundedList(count.query.items, (item) => named(item, name)),
  )})`;
}

/**
 * What `SELECT DISTINCT` may group by instead, for which the store uses all its threads: 1.7 times as fast
 * (5 million rows, two threads). Undefined where it can't, or where it may end with the first rows found.
 */
function keysOfDistinct(select: SelectIr): readonly Expr[] | undefined {
  const { distinct, items, from, groupingSets, having, orderBy, limit, limitBy } = select;
  if (!distinct || from === undefined || groupingSets.length > 0 || having !== undefined) return undefined;
  if (limitBy !== undefined || (limit !== undefined && orderBy.length === 0)) return undefined;
  if (!items.every(isPlainValue)) return undefined;
  const keys = new Map(
    items.filter(readsRow).map((item) => [exprKey(item), integerOf(item) ?? item] as const),
  );
  return keys.size === 0 ? undefined : [...keys.values()];
}

/** Computed from the row alone, and equal where the store's own value is. */
const isPlainValue = (expr: Expr): boolean =>
  !['interval', 'array', 'map'].includes(expr.type.name) &&
  !some(
    expr,
    (each) =>
      each.kind === 'aggregate' ||
      each.kind === 'subquery' ||
      (each.kind === 'column' && each.outer) ||
      isSet(each),
  );

const readsRow = (expr: Expr): boolean => some(expr, ({ kind }) => kind === 'column');

function printGroupBy(sets: readonly (readonly Expr[])[]): string {
  const printed = boundedList(sets, printList);
  const [only, second] = printed;
  if (only !== undefined && only !== '' && second === undefined) return only;
  return `GROUPING SETS (${printed.map((keys) => `(${keys})`).join(', ')})`;
}

/**
 * A dataset of which only the rows are counted, as its table itself: the store then knows their number
 * without reading them.
 */
function printOnlyRelation(from: FromIr): string | undefined {
  const name = from.kind === 'dataset' ? wholeTable(from.read) : undefined;
  return from.kind === 'dataset' && name !== undefined
    ? `${name} AS ${quoteGenerated(from.alias)}`
    : undefined;
}

function printFrom(from: FromIr): string {
  spend('steps');
  switch (from.kind) {
    case 'dataset':
      return printRelation(`(${printRead(from.read, from.alias, printQuery)})`, from);
    case 'derived':
      return printRelation(`(${printQuery(from.query)})`, from);
    case 'cte':
      return printRelation(quoteGenerated(from.cte), from);
    case 'rows':
      return printRelation(`(${printRows(from)})`, from);
    case 'series':
      return printRelation(`(${printSeries(from)})`, from);
    case 'unnest':
      return printUnnest(from);
    case 'join': {
      const on = from.on === undefined ? '' : ` ON ${print(from.on)}`;
      return bounded(`${printFrom(from.left)} ${from.type} JOIN ${printFrom(from.right)}${on}`);
    }
  }
}

function printRelation(rows: string, { alias, keyed }: { alias: string; keyed?: boolean }): string {
  const source = keyed === true ? `(SELECT *, 0 AS ${quoteIdentifier(joinKey)} FROM ${rows})` : rows;
  return `${source} AS ${quoteGenerated(alias)}`;
}

/** The store knows the elements by names without a relation. */
function printUnnest({
  alias,
  input,
  arrays,
  ordinality,
  outer,
}: Extract<FromIr, { kind: 'unnest' }>): string {
  const elements = boundedList(arrays, (array) => `${print(array)}[1]`);
  const numbered = ordinality ? [`arrayEnumerate(${elements[0]})`] : [];
  // A row without elements gets NULLs, not the defaults of their types.
  const columns = [...elements, ...numbered].map((each, index) => {
    const values = outer ? `arrayMap(x -> toNullable(x), ${each})` : each;
    return `${values} AS ${quoteGenerated(unnestedName(alias, outputName(index)))}`;
  });
  const source = input === undefined ? `(SELECT 1) AS ${quoteGenerated(alias)}` : printFrom(input);
  return `${source} ${outer ? 'LEFT ' : ''}ARRAY JOIN ${columns.join(', ')}`;
}

/**
 * The whole statement. Here alone the columns get the names of the user, each made unique before.
 */
export function printStatement(query: QueryIr, names: readonly string[], ctes: readonly CteIr[]): string {
  const outer = query.kind === 'select' ? query : selectFrom(query, relationName(0));
  const items = boundedList(outer.items, (item, index) =>
    named(shown(item, outer.distinct), names[index] ?? outputName(index)),
  );
  const definitions = boundedList(
    ctes,
    ({ name, query: body }) => `${quoteGenerated(name)} AS (${printQuery(body)})`,
  );
  const recursive = ctes.some((cte) => cte.recursive) ? 'RECURSIVE ' : '';
  const withClause = definitions.length === 0 ? '' : `WITH ${recursive}${definitions.join(', ')} `;
  return `${withClause}${printSelect(outer, items)}`;
}

/** Every column of a query, as a SELECT of its own. */
function selectFrom(query: QueryIr, alias: string): SelectIr {
  const items = query.columns.map(
    ({ name, type }, index): Expr => columnOf(alias, outputName(index), type, name),
  );
  return {
    kind: 'select',
    columns: query.columns,
    distinct: false,
    distinctOn: [],
    items,
    from: { kind: 'derived', alias, query },
    where: undefined,
    groupingSets: [],
    having: undefined,
    orderBy: [],
    limit: undefined,
    offset: undefined,
  };
}

/**
 * What a column needs to be shown as its type: comparisons are integers in the store.
 * @param distinct true where equal rows are shown once: intervals are equal that have other parts
 */
function shown(expr: Expr, distinct: boolean): Expr {
  const { type } = expr;
  if (type.name === 'bool') return apply('show bool', bool, (a) => `toBool(${a})`, expr);
  if (type.name === 'time' || type.name === 'bytea') return convert(expr, text, undefined);
  if (type.name === 'interval') {
    const value = distinct && expr.kind === 'apply' ? apply('length', type, (a) => a, expr) : expr;
    return withDefaultIntervals(() => convert(value, text, undefined));
  }
  if (type.name !== 'array') return expr;
  return shownAsText.has(type.element.name)
    ? shownArray(
        withDefaultIntervals(() => castElements(expr, text, undefined)),
        text,
      )
    : shownArray(expr, type.element);
}

/** Whose elements are shown by their text. */
const shownAsText: ReadonlySet<string> = new Set(['interval', 'time', 'bytea']);

/** The inner array, or NULL, which the store has for a variant of a type only. */
function shownArray(array: Expr, element: SqlType): Expr {
  const variant = quoteString(`Variant(Array(Nullable(${storeType(element)})))`);
  const plain = quoteString(`Array(Nullable(${storeType(element)}))`);
  const shown = (a: string): string =>
    `if(empty(${a}), CAST(NULL, ${variant}), CAST(CAST(${a}[1], ${plain}), ${variant}))`;
  return apply('show array', array.type, shown, array);
}
