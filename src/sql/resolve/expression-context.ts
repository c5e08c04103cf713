import type { Expression, Window } from '../ast.ts';
import type { Expr } from '../ir.ts';
import type { QueryContext } from './environment.ts';
import type { Scope } from './scope.ts';

/** Where an expression stands: what it may name and what it may contain. */
export interface ExpressionContext extends QueryContext {
  readonly scope: Scope;
  /** The clause, for messages. */
  readonly clause: string;
  readonly allowAggregates: boolean;
  readonly allowWindows: boolean;
  /** The WINDOW clause. */
  readonly windows: ReadonlyMap<string, Window>;
  resolve(expression: Expression, context: ExpressionContext): Expr;
}
