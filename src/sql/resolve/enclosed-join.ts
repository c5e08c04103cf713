import type { Expr } from '../ir.ts';
import { unsupported } from '../sql-error.ts';
import type { Environment } from './environment.ts';
import type { ResolvedFrom } from './resolved-from.ts';
import { RowsInFrom } from './rows-in-from.ts';
import type { ScopeColumn } from './scope-columns.ts';
import { type ScopeRelation, ScopeRelations } from './scope-relations.ts';
import { plainSelect } from './subquery.ts';

/**
 * A join in parentheses as one relation: the store takes joins from left to right only. Its names mean the
 * same as before; what they stand for becomes a column of the relation when it is asked for.
 */
export function enclosed({ ir, scope, conditions = [] }: ResolvedFrom, env: Environment): ResolvedFrom {
  if (conditions.length > 0) {
    throw unsupported('A condition of a join in parentheses with a subquery that names its columns');
  }
  const rows = new RowsInFrom(env.alias());
  const outside = (expr: Expr): Expr =>
    expr.kind === 'mixed' ? { ...expr, column: (type) => rows.place(expr.column(type)) } : rows.place(expr);
  const relationOutside = (relation: ScopeRelation): ScopeRelation => {
    const { columns, otherColumn, value } = relation;
    return {
      name: relation.name,
      columns: { names: columns.names, expr: (place) => outside(columns.expr(place)) },
      otherColumn: otherColumn && ((name) => outside(otherColumn(name))),
      ...(value === undefined ? {} : { value: () => outside(value()) }),
    };
  };
  const query = { ...plainSelect(rows.items), columns: rows.columns, from: ir };
  return {
    ir: { kind: 'derived', alias: rows.alias, query, isJoin: true },
    scope: {
      relations: ScopeRelations.of([...scope.relations].map(relationOutside)),
      merged: new Map(
        [...scope.merged].map(([name, column]) => [name, { ...column, expr: outside(column.expr) }]),
      ),
      star: scope.star.map((columns) => () => columnsOutside(columns(), outside)),
    },
  };
}

function* columnsOutside(
  columns: Iterable<ScopeColumn>,
  outside: (expr: Expr) => Expr,
): Generator<ScopeColumn> {
  for (const { name, expr } of columns) yield { name, expr: () => outside(expr()) };
}
