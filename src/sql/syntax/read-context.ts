import type { Expression, Query } from '../ast.ts';
import type { SyntaxNode } from './node.ts';

/** How the readers of one kind of node reach the others; it counts the depth. */
export interface ReadContext {
  expression(node: SyntaxNode): Expression;
  query(node: SyntaxNode): Query;
  nested<T>(read: () => T, at: number | undefined): T;
}
