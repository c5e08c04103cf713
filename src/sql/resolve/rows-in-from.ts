import { columnOf } from '../build.ts';
import { exprKey } from '../expr-key.ts';
import { type Column, type Expr, type OutputColumn, outputName, type SelectIr } from '../ir.ts';
import { replaceIn, replaceInSelect } from './replace-columns.ts';

/** The columns of a query in FROM, which another one takes them from. */
export class RowsInFrom {
  readonly alias: string;
  readonly items: Expr[] = [];
  readonly columns: OutputColumn[] = [];
  readonly #places = new Map<string, Column>();

  constructor(alias: string) {
    this.alias = alias;
  }

  /** An expression of the query in FROM, as the query around sees it. */
  place(expr: Expr): Column {
    const key = exprKey(expr);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const label = expr.kind === 'column' ? expr.label : '';
    const name = outputName(this.items.push(expr) - 1);
    this.columns.push({ name, type: expr.type });
    const column = {
      ...columnOf(this.alias, name, expr.type, label),
      ...(expr.kind === 'column' && expr.finite === true ? { finite: true } : {}),
    };
    this.#places.set(key, column);
    return column;
  }

  /** The query with these columns in place of those that it has. */
  over(
    select: SelectIr,
    own: (expr: Expr) => Expr | undefined,
    outer = (column: Column): Expr => ({ ...this.place({ ...column, outer: false }), outer: true }),
  ): SelectIr {
    const replaced = (expr: Expr): Expr | undefined =>
      own(expr) ?? (expr.kind === 'column' && !expr.outer ? this.place(expr) : undefined);
    return replaceInSelect(
      select,
      (expr) => replaceIn(expr, { own: replaced, outer }),
      (from) => from,
    );
  }
}
