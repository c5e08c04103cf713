import { limits } from '../../limits/limits.ts';
import type { Query } from '../ast.ts';
import { spend } from '../budget.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';
import { readExpression } from './read-expression.ts';
import { readQuery } from './read-query.ts';
import { readStatement } from './read-statement.ts';

/**
 * Reads the parser's tree of one SELECT into the translator's own form.
 * @throws AppError `sql_unsupported` for everything that isn't on the lists, `sql_too_large` for deep nesting
 */
export function readTree(tree: unknown): Query {
  let depth = 0;
  const context: ReadContext = {
    expression: (node) => context.nested(() => readExpression(node, context), node.at),
    query: (node) => context.nested(() => readQuery(node, context), node.at),
    nested(read, at) {
      spend('syntaxNodes', 1, at);
      depth += 1;
      if (depth > limits.maxSqlDepth) {
        throw sqlError('sql_too_large', `The query is nested deeper than ${limits.maxSqlDepth} levels`, at);
      }
      const result = read();
      depth -= 1;
      return result;
    },
  };
  const statements = new SyntaxNode('ParseResult', Object(tree)).rawList('stmts');
  const [first] = statements;
  if (first === undefined) throw sqlError('sql_syntax', 'The query is empty');
  if (statements.length > 1) throw unsupported('More than one statement');
  return readStatement(new SyntaxNode('RawStmt', { ...first }).required('stmt'), context);
}
