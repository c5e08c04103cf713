import type { FromItem, Query } from './ast.ts';

type Table = Extract<FromItem, { kind: 'table' }>;

/** The schema in which the datasets stand; what belongs to a dataset stands in a schema of its name. */
export const publicSchema = 'public';
export const catalogName = 'millrace';

/** A name with its schema, if it has one: `millrace.public.app` is `public.app`. */
export const withoutCatalog = (path: readonly string[]): readonly string[] =>
  path.length === 3 && path[0] === catalogName ? path.slice(1) : path;

/** The datasets that a path may mean: `public.series` is `series`, or a part of one named `public`. */
export function datasetsMeant(path: readonly string[]): readonly string[] {
  const [first = '', second] = withoutCatalog(path);
  return first === publicSchema && second !== undefined ? [second, first] : [first];
}

/** The relations that a query mentions, with their schemas: datasets, and common table expressions too. */
export function relationPaths(query: Query | FromItem): readonly (readonly string[])[] {
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
