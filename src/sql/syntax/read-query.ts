import type { Alias, Cte, FromItem, JoinType, Query, Select, Window } from '../ast.ts';
import { sqlError, unsupported } from '../errors.ts';
import type { ReadContext } from './context.ts';
import type { SyntaxNode } from './node.ts';
import { readSortKey, readWindow } from './read-window.ts';

const queryFields = ['op', 'withClause', 'sortClause', 'limitCount', 'limitOffset', 'limitOption'];
const selectFields = [
  'targetList',
  'fromClause',
  'whereClause',
  'groupClause',
  'havingClause',
  'windowClause',
  'distinctClause',
];

const refusedFields = {
  intoClause: 'SELECT INTO',
  lockingClause: 'FOR UPDATE and its kind',
  groupDistinct: 'GROUP BY DISTINCT',
};

/** A SelectStmt, which is a SELECT, a set operation or VALUES. */
export function readQuery(node: SyntaxNode, context: ReadContext): Query {
  if (node.type !== 'SelectStmt') {
    throw unsupported(`${statementName(node.type)} (only SELECT is)`, node.at);
  }
  if (node.text('limitOption') === 'LIMIT_OPTION_WITH_TIES') throw unsupported('WITH TIES', node.at);
  const limit = node.child('limitCount');
  const offset = node.child('limitOffset');
  return {
    ctes: readCtes(node, context),
    body: readBody(node, context),
    orderBy: node.list('sortClause').map((key) => readSortKey(key, context)),
    limit: limit && context.expression(limit),
    offset: offset && context.expression(offset),
  };
}

/** `InsertStmt` → `INSERT`, for messages. */
const statementName = (type: string): string =>
  type
    .replace(/Stmt$/, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toUpperCase();

function readBody(node: SyntaxNode, context: ReadContext): Query['body'] {
  const operator = node.text('op').replace('SETOP_', '');
  if (operator === 'UNION' || operator === 'INTERSECT' || operator === 'EXCEPT') {
    node.allow([...queryFields, 'all', 'larg', 'rarg'], refusedFields);
    const side = (field: string): Query => {
      const branch = node.part(field, 'SelectStmt');
      if (branch === undefined) throw sqlError('sql_syntax', `${operator} needs two queries`, node.at);
      return context.query(branch);
    };
    return { kind: 'set', operator, all: node.flag('all'), left: side('larg'), right: side('rarg') };
  }
  if (node.has('valuesLists')) {
    node.allow([...queryFields, 'valuesLists'], refusedFields);
    const rows = node
      .list('valuesLists')
      .map((row) => row.list('items').map((item) => context.expression(item)));
    return { kind: 'values', rows };
  }
  node.allow([...queryFields, ...selectFields], refusedFields);
  return readSelect(node, context);
}

function readSelect(node: SyntaxNode, context: ReadContext): Select {
  const where = node.child('whereClause');
  const having = node.child('havingClause');
  return {
    kind: 'select',
    distinct: readDistinct(node),
    items: node.list('targetList').map((target) => {
      target.allow(['name', 'val']);
      return {
        expression: context.expression(target.required('val')),
        alias: target.has('name') ? target.text('name') : undefined,
      };
    }),
    from: node.list('fromClause').map((item) => readFromItem(item, context)),
    where: where && context.expression(where),
    groupBy: node.list('groupClause').map((key) => {
      if (key.type === 'GroupingSet') throw unsupported('GROUPING SETS, ROLLUP and CUBE', key.at);
      return context.expression(key);
    }),
    having: having && context.expression(having),
    windows: readWindows(node, context),
  };
}

/** `DISTINCT` is a list with one empty node; `DISTINCT ON` has the expressions. */
function readDistinct(node: SyntaxNode): boolean {
  if (!node.has('distinctClause')) return false;
  const [first] = node.rawList('distinctClause');
  if (first !== undefined && Object.keys(first).length > 0) throw unsupported('DISTINCT ON', node.at);
  return true;
}

function readWindows(node: SyntaxNode, context: ReadContext): ReadonlyMap<string, Window> {
  const windows = new Map<string, Window>();
  for (const definition of node.list('windowClause')) {
    const { reference, ...window } = readWindow(definition, context);
    if (reference === undefined || windows.has(reference)) {
      throw sqlError('sql_syntax', `window "${reference ?? ''}" is already defined`, definition.at);
    }
    windows.set(reference, { ...window, reference: undefined });
  }
  return windows;
}

function readCtes(node: SyntaxNode, context: ReadContext): readonly Cte[] {
  const clause = node.part('withClause', 'WithClause');
  if (clause === undefined) return [];
  clause.allow(['ctes'], { recursive: 'WITH RECURSIVE' });
  return clause.list('ctes').map((cte) => {
    cte.allow(['ctename', 'aliascolnames', 'ctematerialized', 'ctequery'], {
      search_clause: 'SEARCH in WITH',
      cycle_clause: 'CYCLE in WITH',
    });
    return {
      name: cte.text('ctename'),
      columns: cte.strings('aliascolnames'),
      query: context.query(cte.required('ctequery')),
      at: cte.at,
    };
  });
}

function readAlias(node: SyntaxNode): Alias | undefined {
  const alias = node.part('alias', 'Alias');
  return alias && { name: alias.text('aliasname'), columns: alias.strings('colnames') };
}

function readFromItem(node: SyntaxNode, context: ReadContext): FromItem {
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
      node.allow(['subquery', 'alias'], { lateral: 'LATERAL' });
      return { kind: 'derived', query: context.query(node.required('subquery')), alias: readAlias(node) };
    case 'JoinExpr':
      return readJoin(node, context);
    case 'RangeFunction':
      throw unsupported('A function in FROM', node.at);
    case 'RangeTableSample':
      throw unsupported('TABLESAMPLE', node.at);
    default:
      throw unsupported(`${node.type} in FROM`, node.at);
  }
}

function readJoin(node: SyntaxNode, context: ReadContext): FromItem {
  node.allow(['jointype', 'larg', 'rarg', 'usingClause', 'quals'], {
    isNatural: 'NATURAL JOIN',
    alias: 'An alias for a join',
    join_using_alias: 'An alias for USING',
  });
  const quals = node.child('quals');
  const using = node.strings('usingClause');
  const [left, right] = [node.required('larg'), node.required('rarg')].map((side) =>
    context.nested(() => readFromItem(side, context), side.at),
  );
  if (left === undefined || right === undefined)
    throw sqlError('sql_syntax', 'A join needs two sides', node.at);
  return {
    kind: 'join',
    type: joinType(node, quals !== undefined || using.length > 0),
    left,
    right,
    on: quals && context.expression(quals),
    using,
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
