import type { Query } from '../ast.ts';
import { unsupported } from '../sql-error.ts';
import { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';

/**
 * Statements beside SELECT that give rows: `SHOW name` is read as `SELECT current_setting('name')`,
 * `SHOW ALL` as a query of `pg_settings`, and of `EXPLAIN SELECT …` the query is marked.
 */
export function readStatement(node: SyntaxNode, context: ReadContext): Query {
  if (node.type === 'VariableShowStmt') return context.query(showAsSelect(node.text('name')));
  if (node.type !== 'ExplainStmt') return context.query(node);
  node.allow(['query', 'options']);
  for (const option of node.list('options')) checkExplainOption(option);
  return { ...context.query(node.required('query')), isExplained: true };
}

function checkExplainOption(option: SyntaxNode): void {
  const name = option.text('defname').toLowerCase();
  const value = option.child('arg')?.text('sval').toLowerCase() ?? '';
  if (name === 'analyze') throw unsupported('EXPLAIN ANALYZE', option.at);
  if (name === 'format' && value !== 'text')
    throw unsupported(`EXPLAIN (FORMAT ${value.toUpperCase()})`, option.at);
}

/** Settings whose names are not written in lower case. */
const shownNames: ReadonlyMap<string, string> = new Map(
  ['TimeZone', 'DateStyle', 'IntervalStyle'].map((name) => [name.toLowerCase(), name]),
);

/** In the form of the parser. */
function showAsSelect(name: string): SyntaxNode {
  const select = { limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_NONE' };
  const target = (label: string, val: object): object => ({ ResTarget: { name: label, val } });
  const string = (sval: string): object => ({ String: { sval } });
  if (name === 'all') {
    const column = (of: string): object => ({ ColumnRef: { fields: [string(of)] } });
    const columns = [
      ['name', 'name'],
      ['setting', 'setting'],
      ['description', 'short_desc'],
    ] as const;
    return new SyntaxNode('SelectStmt', {
      ...select,
      targetList: columns.map(([label, of]) => target(label, column(of))),
      fromClause: [{ RangeVar: { schemaname: 'pg_catalog', relname: 'pg_settings', inh: true } }],
    });
  }
  const call = {
    FuncCall: {
      funcname: [string('current_setting')],
      args: [{ A_Const: { sval: { sval: name } } }],
      funcformat: 'COERCE_EXPLICIT_CALL',
    },
  };
  return new SyntaxNode('SelectStmt', {
    ...select,
    targetList: [target(shownNames.get(name.toLowerCase()) ?? name.toLowerCase(), call)],
  });
}
