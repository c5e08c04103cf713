import type { FromItem, Query } from './ast.ts';

type Table = Extract<FromItem, { kind: 'table' }>;

/** The relations that a query mentions, with their schemas: datasets, and common table expressions too. */
export function relationPaths(query: Query): readonly (readonly string[])[] {
  const paths: (readonly string[])[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isTable(value)) paths.push(value.path);
    const inner: Iterable<unknown> = value instanceof Map ? value.values() : Object.values(value);
    for (const each of inner) visit(each);
  };
  visit(query);
  return paths;
}

const isTable = (value: object): value is Table => 'kind' in value && value.kind === 'table';
