import { limits } from '../../limits/limits.ts';
import type { Expression } from '../ast.ts';
import { spend } from '../budget.ts';
import { sqlError, unsupported } from '../sql-error.ts';
import type { SyntaxNode } from './node.ts';
import type { ReadContext } from './read-context.ts';

type Sets = readonly (readonly Expression[])[];

/**
 * GROUP BY as the sets of keys that it stands for: `a, ROLLUP (b, c)` is `(a, b, c)`, `(a, b)` and `(a)`.
 * Items are combined with each other (PostgreSQL's manual, 7.2.4).
 */
export function readGroupingSets(items: readonly SyntaxNode[], context: ReadContext): Sets {
  if (items.length === 0) return [];
  return combined(items.map((item) => setsOf(item, context)));
}

/** Every set of the first with every set of the second, and so on. */
function combined(factors: readonly Sets[]): Sets {
  let sets: Expression[][] = [[]];
  for (const factor of factors) {
    const [only, second] = factor;
    if (only !== undefined && second === undefined) {
      spend('groupKeys', sets.length * only.length, only[0]?.at);
      for (const set of sets) for (const key of only) set.push(key);
      continue;
    }
    bounded({ length: sets.length * factor.length });
    sets = sets.flatMap((first) =>
      factor.map((keys) => {
        spend('groupKeys', first.length + keys.length, keys[0]?.at);
        return [...first, ...keys];
      }),
    );
  }
  return sets;
}

function bounded<Counted extends { readonly length: number }>(sets: Counted): Counted {
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
      bounded({ length: content.length + 1 });
      const keys = content.map((each) => keysOf(each, context));
      spend('groupKeys', content.length * keys.flat().length, item.at);
      return bounded([...keys.keys(), keys.length].reverse().map((count) => keys.slice(0, count).flat()));
    }
    case 'GROUPING_SET_CUBE':
      return combined(content.map((each): Sets => [keysOf(each, context), []]));
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
