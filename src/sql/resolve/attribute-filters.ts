import { isConstant } from '../build.ts';
import type { Expr, RecordsRead } from '../ir.ts';
import { printConstant } from '../print/literal.ts';
import { attributeMaps, hasValue } from '../record-tables.ts';

/**
 * What follows from the conditions of WHERE for the attributes of a record: where one is equal to a
 * text, that text is among the values of its map, and indexes on these tell which rows need not be read
 * at all. In the store's SQL.
 *
 * None for those who may not see all rows: how long a query takes would tell them what is in the others.
 */
export function attributeFilters(
  read: RecordsRead,
  alias: string,
  where: readonly Expr[],
): readonly string[] {
  if (read.allowed !== 'all') return [];
  return where.flatMap((condition) => {
    if (condition.kind !== 'apply' || condition.name !== 'compare =') return [];
    const [left, right] = condition.args;
    if (left === undefined || right === undefined) return [];
    const [attribute, value] = isConstant(left) ? [right, left] : [left, right];
    if (!isConstant(value) || value.type.name !== 'text') return [];
    if (value.kind === 'literal' && value.value === null) return [];
    const maps = mapsOf(attribute, read, alias);
    return maps.length === 0 ? [] : [hasValue(maps, printConstant(value))];
  });
}

/** The maps of which one holds the value of an expression, if it is an attribute of this relation. */
function mapsOf(expr: Expr, read: RecordsRead, alias: string): readonly string[] {
  if (expr.kind === 'apply' && expr.name === 'label') {
    const [labels] = expr.args;
    const sql = labels && sqlOf(labels, read, alias);
    return attributeMaps.filter((map) => sql === map);
  }
  const sql = sqlOf(expr, read, alias);
  return sql !== undefined && read.attributes.has(sql) ? attributeMaps : [];
}

const sqlOf = (expr: Expr, { columns }: RecordsRead, alias: string): string | undefined =>
  expr.kind === 'column' && expr.relation === alias && !expr.outer ? columns.get(expr.name) : undefined;
