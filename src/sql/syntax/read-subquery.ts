import type { Expression } from '../ast.ts';
import { unsupported } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';
import { operatorName } from './operator-name.ts';
import type { ReadContext } from './read-context.ts';

/** A query inside an expression. */
export function readSubquery(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(['subLinkType', 'testexpr', 'operName', 'subselect']);
  const { at } = node;
  const query = context.query(node.required('subselect'));
  switch (node.text('subLinkType')) {
    case 'EXISTS_SUBLINK':
      return { kind: 'exists', at, query };
    case 'EXPR_SUBLINK':
      return { kind: 'scalar subquery', at, query };
    case 'ARRAY_SUBLINK':
      return { kind: 'array subquery', at, query };
    case 'ANY_SUBLINK':
    case 'ALL_SUBLINK':
      return {
        kind: 'quantified subquery',
        at,
        quantifier: node.text('subLinkType') === 'ANY_SUBLINK' ? 'any' : 'all',
        // IN has no name of an operator.
        operator: node.has('operName') ? operatorName(node, 'operName') : '=',
        arg: context.expression(node.required('testexpr')),
        query,
      };
    default:
      throw unsupported(node.text('subLinkType'), at);
  }
}
