import type { Expression } from '../ast.ts';
import { sqlError } from '../sql-error.ts';
import { isAggregate } from './catalog-aggregates.ts';
import type { Scope, ScopeRelation } from './catalog-scope.ts';

/**
 * What a grouped query may show: expressions that it groups by, aggregates, and columns of a relation by
 * whose primary key it groups. All relations of the catalog with a column `oid` have it as their primary key.
 * @throws AppError `sql_grouping`
 */
export function requireGrouped(
  shown: readonly Expression[],
  keys: readonly Expression[],
  scope: Scope,
): void {
  const check = new GroupedCheck(keys, scope);
  for (const expression of shown) check.visit(expression);
}

class GroupedCheck {
  readonly #scope: Scope;
  readonly #keys: ReadonlySet<string>;
  /** Places of relations, and names of columns. */
  readonly #columns = new Set<string>();
  /** Those by whose primary key the query groups. */
  readonly #whole = new Set<ScopeRelation>();

  constructor(keys: readonly Expression[], scope: Scope) {
    this.#scope = scope;
    this.#keys = new Set(keys.map(textOf));
    for (const key of keys) {
      const relation = key.kind === 'column' ? scope.relationOf(key.path) : undefined;
      if (key.kind !== 'column' || relation === undefined) continue;
      const name = key.path.at(-1) ?? '';
      this.#columns.add(`${relation.slot} ${name}`);
      if (name === 'oid' && relation.oid !== undefined) this.#whole.add(relation);
    }
  }

  visit(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value) && isExpression(value)) this.#expression(value);
    else for (const each of Object.values(value)) this.visit(each);
  }

  #expression(expression: Expression): void {
    if (this.#keys.has(textOf(expression))) return;
    // A subquery may name columns of this query too, but those are not looked for here.
    if ('query' in expression) {
      if (expression.kind === 'quantified subquery') this.visit(expression.arg);
      return;
    }
    switch (expression.kind) {
      case 'column':
        this.#column(expression.path, expression.at);
        return;
      case 'star':
        this.#star(expression.relation, expression.at);
        return;
      case 'call':
        if (expression.over === undefined && isAggregate(expression.name)) return;
        break;
      default:
    }
    for (const each of Object.values(expression)) this.visit(each);
  }

  #star(named: string | undefined, at: number | undefined): void {
    for (const { name, columns } of this.#scope.relations) {
      if (named !== undefined && name !== named) continue;
      const prefix = name === undefined ? [] : [name];
      for (const column of columns) this.#column([...prefix, column.name], at);
    }
  }

  #column(path: readonly string[], at: number | undefined): void {
    const relation = this.#scope.relationOf(path);
    const name = path.at(-1) ?? '';
    if (relation === undefined || this.#whole.has(relation)) return;
    if (this.#columns.has(`${relation.slot} ${name}`)) return;
    const shown = relation.name === undefined ? name : `${relation.name}.${name}`;
    throw sqlError(
      'sql_grouping',
      `column "${shown}" must appear in the GROUP BY clause or be used in an aggregate function`,
      at,
    );
  }
}

const isExpression = (value: object): value is Expression => 'kind' in value && 'at' in value;

/** Without the places in the query. */
const textOf = (expression: Expression): string =>
  JSON.stringify(expression, (key, value: unknown) => (key === 'at' ? undefined : value));
