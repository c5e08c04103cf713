import type { Cte, Expression, Query, Select, Window } from '../ast.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';
import { readFromItem } from './read-from.ts';
import { readGroupingSets } from './read-grouping.ts';
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
    throw unsupported(
      otherStatements.get(node.type) ?? `${statementName(node.type)} (only SELECT is)`,
      node.at,
    );
  }
  const limit = node.child('limitCount');
  const offset = node.child('limitOffset');
  return {
    ctes: readCtes(node, context),
    body: readBody(node, context),
    orderBy: node.list('sortClause').map((key) => readSortKey(key, context)),
    limit: limit && context.expression(limit),
    offset: offset && context.expression(offset),
    withTies: node.text('limitOption') === 'LIMIT_OPTION_WITH_TIES',
  };
}

/** What sessions of the wire protocol have, and requests over HTTP have not. */
const otherStatements: ReadonlyMap<string, string> = new Map([
  [
    'VariableSetStmt',
    'SET over HTTP, where no session keeps it (write AT TIME ZONE into the query, or use an SQL client)',
  ],
]);

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
    ...readDistinct(node, context),
    items: node.list('targetList').map((target) => {
      target.allow(['name', 'val']);
      return {
        expression: context.expression(target.required('val')),
        alias: target.has('name') ? target.text('name') : undefined,
      };
    }),
    from: node.list('fromClause').map((item) => context.nested(() => readFromItem(item, context), item.at)),
    where: where && context.expression(where),
    groupingSets: readGroupingSets(node.list('groupClause'), context),
    having: having && context.expression(having),
    windows: readWindows(node, context),
  };
}

/** `DISTINCT` is a list with one empty node; `DISTINCT ON` has the expressions. */
function readDistinct(
  node: SyntaxNode,
  context: ReadContext,
): { readonly distinct: boolean; readonly distinctOn: readonly Expression[] } {
  const clause = node.rawList('distinctClause').filter((each) => Object.keys(each).length > 0);
  return {
    distinct: node.has('distinctClause') && clause.length === 0,
    distinctOn: clause.map((each) => context.expression(SyntaxNode.wrapped(each))),
  };
}

function readWindows(node: SyntaxNode, context: ReadContext): ReadonlyMap<string, Window> {
  const windows = new Map<string, Window>();
  for (const definition of node.list('windowClause')) {
    const { reference, ...window } = readWindow(definition, context);
    if (reference === undefined || windows.has(reference)) {
      throw sqlError('sql_window', `window "${reference ?? ''}" is already defined`, definition.at);
    }
    // One refines those before it, so no window refines itself.
    if (window.base !== undefined && !windows.has(window.base)) {
      throw sqlError('sql_syntax', `window "${window.base}" does not exist`, definition.at);
    }
    windows.set(reference, { ...window, reference: undefined });
  }
  return windows;
}

function readCtes(node: SyntaxNode, context: ReadContext): readonly Cte[] {
  const clause = node.part('withClause', 'WithClause');
  if (clause === undefined) return [];
  clause.allow(['ctes', 'recursive']);
  return clause.list('ctes').map((cte) => {
    cte.allow(['ctename', 'aliascolnames', 'ctematerialized', 'ctequery'], {
      search_clause: 'SEARCH in WITH',
      cycle_clause: 'CYCLE in WITH',
    });
    const query = cte.required('ctequery');
    if (query.type !== 'SelectStmt') {
      throw unsupported(`${statementName(query.type)} in WITH`, cte.at);
    }
    return {
      name: cte.text('ctename'),
      columns: cte.strings('aliascolnames'),
      query: context.query(query),
      recursive: clause.flag('recursive'),
      at: cte.at,
    };
  });
}
