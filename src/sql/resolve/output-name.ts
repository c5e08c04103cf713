import type { Expression, Query } from '../ast.ts';
import { similarName } from '../syntax/read-operator.ts';

/**
 * The name that PostgreSQL gives to an output column without alias (FigureColname in
 * src/backend/parser/parse_target.c): of the column, the function, the type of a cast; else `?column?`.
 */
export const outputColumnName = (expression: Expression, names: SubqueryNames = new WeakMap()): string =>
  nameOf(expression, names)?.name ?? '?column?';

/** The first columns of subqueries that have been resolved, for those that select a star. */
export type SubqueryNames = WeakMap<Query, string>;

interface Name {
  readonly name: string;
  /** A weak name gives way to the type of a cast around it. */
  readonly weak: boolean;
}

function nameOf(expression: Expression, names: SubqueryNames): Name | undefined {
  switch (expression.kind) {
    case 'column':
      return strong(expression.path.at(-1) ?? '?column?');
    case 'call':
      return expression.name === similarName ? undefined : strong(expression.name);
    case 'subscript':
    case 'slice':
      return nameOf(expression.arg, names);
    case 'field':
      return strong(expression.name);
    case 'array subquery':
      return strong('array');
    case 'row':
      return strong('row');
    case 'array':
    case 'grouping':
      return strong(expression.kind);
    case 'exists':
      return strong('exists');
    case 'scalar subquery':
      return nameOfQuery(expression.query, names);
    case 'case': {
      const name = expression.otherwise && nameOf(expression.otherwise, names);
      return name === undefined || name.weak ? { name: 'case', weak: true } : name;
    }
    case 'cast': {
      const name = nameOf(expression.arg, names);
      return name === undefined || name.weak ? { name: expression.type.name, weak: true } : name;
    }
    default:
      return undefined;
  }
}

const strong = (name: string): Name => ({ name, weak: false });

function nameOfQuery(query: Query, names: SubqueryNames): Name | undefined {
  const { body } = query;
  const resolved = names.get(query);
  if (resolved !== undefined) return strong(resolved);
  if (body.kind === 'set') return nameOfQuery(body.left, names);
  const item = body.kind === 'select' ? body.items[0] : undefined;
  return item && (item.alias === undefined ? nameOf(item.expression, names) : strong(item.alias));
}

/** Makes names unique, since an answer is made of objects: `count`, `count_1`, `count_2`. */
export function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set(names);
  const numbers = new Map<string, number>();
  return names.map((name) => {
    const last = numbers.get(name);
    numbers.set(name, last ?? 0);
    if (last === undefined) return name;
    let number = last + 1;
    while (taken.has(`${name}_${number}`)) number += 1;
    numbers.set(name, number);
    taken.add(`${name}_${number}`);
    return `${name}_${number}`;
  });
}
