import type { Alias, ColumnDefinition, FromItem, JoinType } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';
import { readType } from './read-type.ts';

function readAlias(node: SyntaxNode): Alias | undefined {
  const alias = node.part('alias', 'Alias');
  return alias && { name: alias.text('aliasname'), columns: alias.strings('colnames') };
}

/** A relation of FROM, or a join of them. */
export function readFromItem(node: SyntaxNode, context: ReadContext): FromItem {
  switch (node.type) {
    case 'RangeVar': {
      node.allow(['catalogname', 'schemaname', 'relname', 'inh', 'relpersistence', 'alias']);
      if (!node.flag('inh')) throw unsupported('ONLY', node.at);
      const path = ['catalogname', 'schemaname', 'relname']
        .filter((part) => node.has(part))
        .map((part) => node.text(part));
      return { kind: 'table', path, alias: readAlias(node), at: node.at };
    }
    case 'RangeSubselect':
      node.allow(['subquery', 'alias', 'lateral']);
      return {
        kind: 'derived',
        query: context.query(node.required('subquery')),
        alias: readAlias(node),
        lateral: node.flag('lateral'),
      };
    case 'JoinExpr':
      return readJoin(node, context);
    case 'RangeFunction':
      return readFunction(node, context);
    case 'RangeTableSample':
      throw unsupported('TABLESAMPLE', node.at);
    default:
      throw unsupported(`${node.type} in FROM`, node.at);
  }
}

/** `generate_series(…) WITH ORDINALITY AS s(n)`; LATERAL is understood without being said. */
function readFunction(node: SyntaxNode, context: ReadContext): FromItem {
  node.allow(['lateral', 'functions', 'alias', 'ordinality', 'coldeflist'], { is_rowsfrom: 'ROWS FROM' });
  const [entry, second] = node.list('functions');
  // Behind the call stands its list of column definitions, an empty node.
  const [first] = entry?.rawList('items') ?? [];
  if (first === undefined || second !== undefined) throw unsupported('This function in FROM', node.at);
  const call = SyntaxNode.wrapped(first);
  const expression = context.expression(call);
  if (expression.kind !== 'call') throw unsupported('This function in FROM', call.at);
  const ordinality = node.flag('ordinality');
  const definitions = node.list('coldeflist').map((column): ColumnDefinition => {
    const type = column.part('typeName', 'TypeName');
    if (type === undefined) throw sqlError('sql_syntax', 'A column definition needs a type', node.at);
    return { name: column.text('colname'), type: readType(type) };
  });
  return { kind: 'function', call: expression, ordinality, definitions, alias: readAlias(node), at: call.at };
}

function readJoin(node: SyntaxNode, context: ReadContext): FromItem {
  node.allow([
    'jointype',
    'larg',
    'rarg',
    'usingClause',
    'quals',
    'isNatural',
    'rtindex',
    'alias',
    'join_using_alias',
  ]);
  const quals = node.child('quals');
  const using = node.strings('usingClause');
  const natural = node.flag('isNatural');
  const [left, right] = [node.required('larg'), node.required('rarg')].map((side) =>
    context.nested(() => readFromItem(side, context), side.at),
  );
  if (left === undefined || right === undefined)
    throw sqlError('sql_syntax', 'A join needs two sides', node.at);
  return {
    kind: 'join',
    type: joinType(node, quals !== undefined || using.length > 0 || natural),
    left,
    right,
    on: quals && context.expression(quals),
    using,
    natural,
    alias: readAlias(node),
    usingAlias: node.part('join_using_alias', 'Alias')?.text('aliasname'),
    at: quals?.at ?? node.at,
  };
}

function joinType(node: SyntaxNode, conditional: boolean): JoinType {
  switch (node.text('jointype')) {
    case 'JOIN_INNER':
      return conditional ? 'INNER' : 'CROSS';
    case 'JOIN_LEFT':
      return 'LEFT';
    case 'JOIN_RIGHT':
      return 'RIGHT';
    case 'JOIN_FULL':
      return 'FULL';
    default:
      throw unsupported(node.text('jointype'), node.at);
  }
}
