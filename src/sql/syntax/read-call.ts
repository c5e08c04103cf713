import type { Expression, SortKey } from '../ast.ts';
import { sqlError } from '../sql-error.ts';
import { readArguments } from './named-arguments.ts';
import type { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';
import { callOf } from './read-operator.ts';
import { readSortKey, readWindow } from './read-window.ts';

/** A call of a function or an aggregate by its name. */
export function readCall(node: SyntaxNode, context: ReadContext): Expression {
  node.allow(
    [
      'funcname',
      'args',
      'agg_star',
      'agg_distinct',
      'agg_filter',
      'agg_within_group',
      'agg_order',
      'over',
      'funcformat',
    ],
    { func_variadic: 'VARIADIC' },
  );
  const names = node.strings('funcname');
  if (names.length > 1 && names[0] !== 'pg_catalog' && names[0] !== 'information_schema') {
    throw sqlError('sql_unknown_function', `function ${names.join('.')} does not exist`, node.at);
  }
  const name = names.at(-1) ?? '';
  const order = node.list('agg_order');
  const filter = node.child('agg_filter');
  const over = node.part('over', 'WindowDef');
  const keys: readonly SortKey[] = order.map((key) => readSortKey(key, context));
  const isWithinGroup = node.flag('agg_within_group');
  return {
    ...callOf(name, readArguments(name, node.list('args'), context), node.at),
    star: node.flag('agg_star'),
    distinct: node.flag('agg_distinct'),
    filter: filter && context.expression(filter),
    withinGroup: isWithinGroup ? keys : [],
    orderBy: isWithinGroup ? [] : keys,
    over: over && readWindow(over, context),
  };
}
