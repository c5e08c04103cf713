import { limits } from '../../limits.ts';
import type { Expression } from '../ast.ts';
import { sqlError, unsupported } from '../errors.ts';
import type { ReadContext } from './context.ts';
import type { SyntaxNode } from './node.ts';

type Sets = readonly (readonly Expression[])[];

/**
 * GROUP BY as the sets of keys that it stands for: `a, ROLLUP (b, c)` is `(a, b, c)`, `(a, b)` and `(a)`. Items
 * are combined with each other (PostgreSQL's manual, 7.2.4).
 */
export function readGroupingSets(items: readonly SyntaxNode[], context: ReadContext): Sets {
  if (items.length === 0) return [];
  return items.map((item) => setsOf(item, context)).reduce(combine);
}

const combine = (left: Sets, right: Sets): Sets =>
  bounded(left.flatMap((first) => right.map((second) => [...first, ...second])));

function bounded(sets: Sets): Sets {
  if (sets.length <= limits.maxGroupingSets) return sets;
  throw sqlError('sql_too_large', `GROUP BY has more than ${limits.maxGroupingSets} grouping sets`);
}

function setsOf(item: SyntaxNode, context: ReadContext): Sets {
  if (item.type !== 'GroupingSet') return [keysOf(item, context)];
  item.allow(['kind', 'content']);
  const content = item.list('content');
  switch (item.text('kind')) {
    case 'GROUPING_SET_EMPTY':
      return [[]];
    case 'GROUPING_SET_ROLLUP': {
      const keys = content.map((each) => keysOf(each, context));
      return bounded([...keys.keys(), keys.length].reverse().map((count) => keys.slice(0, count).flat()));
    }
    case 'GROUPING_SET_CUBE':
      return content.map((each): Sets => [keysOf(each, context), []]).reduce(combine, [[]]);
    case 'GROUPING_SET_SETS':
      return bounded(content.flatMap((each) => setsOf(each, context)));
    default:
      throw unsupported(`GROUP BY ${item.text('kind')}`, item.at);
  }
}

/** One key, or several in parentheses. */
function keysOf(item: SyntaxNode, context: ReadContext): readonly Expression[] {
  if (item.type !== 'RowExpr') return [context.expression(item)];
  item.allow(['args', 'row_format', 'colnames']);
  return item.list('args').map((each) => context.expression(each));
}
