import type { Expression } from '../ast.ts';
import { unsupported } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';
import { operatorName } from './read-operator.ts';

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
    case 'ANY_SUBLINK': {
      if (node.has('operName') && operatorName(node, 'operName') !== '=') {
        throw unsupported(`${operatorName(node, 'operName')} ANY (subquery)`, at);
      }
      return { kind: 'in subquery', at, arg: context.expression(node.required('testexpr')), query };
    }
    default:
      throw unsupported(
        node.text('subLinkType') === 'ALL_SUBLINK' ? 'ALL (subquery)' : node.text('subLinkType'),
        at,
      );
  }
}
