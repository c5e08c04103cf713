import { quoteIdentifier } from '../../lib/quote.ts';
import { apply } from '../build.ts';
import { unsupported } from '../errors.ts';
import {
  type CteIr,
  type Expr,
  type FromIr,
  outputName,
  type QueryIr,
  type SelectIr,
  type SetIr,
} from '../ir.ts';
import { bool, type SqlType } from '../types.ts';
import { printExpression, printSorts } from './expression.ts';
import { printRead } from './relation.ts';

/** A query whose output columns are `o1`, `o2`, …. */
function printQuery(query: QueryIr): string {
  switch (query.kind) {
    case 'select':
      return printSelect(
        query,
        query.items.map((item, index) => named(item, outputName(index))),
      );
    case 'values':
      return query.rows
        .map((row) => `SELECT ${row.map((item, index) => named(item, outputName(index))).join(', ')}`)
        .join(' UNION ALL ');
    case 'set':
      return printSet(query);
  }
}

const printSet = ({ operator, all, left, right }: SetIr): string =>
  `(${printQuery(left)}) ${operator} ${all ? 'ALL' : 'DISTINCT'} (${printQuery(right)})`;

const print = (expr: Expr): string => printExpression(expr, printQuery);
const named = (expr: Expr, name: string): string => `${print(expr)} AS ${quoteIdentifier(name)}`;

function printSelect(select: SelectIr, items: readonly string[]): string {
  const { from, where, groupBy, having, orderBy, limit, offset } = select;
  return [
    `SELECT ${select.distinct ? 'DISTINCT ' : ''}${items.length === 0 ? '1' : items.join(', ')}`,
    ...(from === undefined ? [] : [`FROM ${printFrom(from)}`]),
    ...(where === undefined ? [] : [`WHERE ${print(where)}`]),
    ...(groupBy.length === 0 ? [] : [`GROUP BY ${groupBy.map(print).join(', ')}`]),
    ...(having === undefined ? [] : [`HAVING ${print(having)}`]),
    ...(orderBy.length === 0 ? [] : [`ORDER BY ${printSorts(orderBy, printQuery)}`]),
    ...(limit === undefined ? [] : [`LIMIT ${limit}`]),
    ...(offset === undefined ? [] : [`OFFSET ${offset}`]),
  ].join(' ');
}

function printFrom(from: FromIr): string {
  switch (from.kind) {
    case 'dataset':
      return `(${printRead(from.read, from.alias, printQuery)}) AS ${quoteIdentifier(from.alias)}`;
    case 'derived':
      return `(${printQuery(from.query)}) AS ${quoteIdentifier(from.alias)}`;
    case 'cte':
      return `${quoteIdentifier(from.cte)} AS ${quoteIdentifier(from.alias)}`;
    case 'join': {
      const on = from.on === undefined ? '' : ` ON ${print(from.on)}`;
      return `${printFrom(from.left)} ${from.type} JOIN ${printFrom(from.right)}${on}`;
    }
  }
}

/**
 * The whole statement. Here alone the columns get the names of the user, each made unique before.
 * @param prefix of the generated names; no name of `names` may begin like one
 */
export function printStatement(
  query: QueryIr,
  names: readonly string[],
  ctes: readonly CteIr[],
  prefix: string,
): string {
  const outer = query.kind === 'select' ? query : selectFrom(query, `${prefix}0`);
  const items = outer.items.map((item, index) => named(shown(item), names[index] ?? outputName(index)));
  const definitions = ctes.map(
    ({ name, query: body }) => `${quoteIdentifier(name)} AS (${printQuery(body)})`,
  );
  const withClause = definitions.length === 0 ? '' : `WITH ${definitions.join(', ')} `;
  return `${withClause}${printSelect(outer, items)}`;
}

/** Every column of a query, as a SELECT of its own. */
function selectFrom(query: QueryIr, alias: string): SelectIr {
  const items = query.columns.map(
    ({ name, type }, index): Expr => ({
      kind: 'column',
      type,
      relation: alias,
      name: outputName(index),
      label: name,
      outer: false,
    }),
  );
  return {
    kind: 'select',
    columns: query.columns,
    distinct: false,
    items,
    from: { kind: 'derived', alias, query },
    where: undefined,
    groupBy: [],
    having: undefined,
    orderBy: [],
    limit: undefined,
    offset: undefined,
  };
}

/** What a column needs to be shown as its type: comparisons are integers in the store. */
function shown(expr: Expr): Expr {
  refuseHidden(expr.type);
  return expr.type.name === 'bool' ? apply('show bool', bool, (a) => `toBool(${a})`, expr) : expr;
}

function refuseHidden(type: SqlType): void {
  if (type.name === 'interval') throw unsupported('An interval as a result (use extract(epoch from …))');
}
