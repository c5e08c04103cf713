import { publicSchema, type VisibleTable } from '../system-catalog/system-catalog.ts';
import type { Environment } from './environment.ts';
import { partsOf, relationsOf } from './relations.ts';

/** The relations of the datasets that a query may read; their columns are looked for when they are needed. */
export function visibleTables(env: Environment): readonly VisibleTable[] {
  return env.catalog.names().flatMap((dataset) => {
    const found = env.dataset(dataset);
    if (found === undefined) return [];
    let relations: ReturnType<typeof relationsOf> | undefined;
    const all = () => {
      relations ??= relationsOf(found);
      return relations;
    };
    return partsOf(found.kind).map((part, index): VisibleTable => {
      const columns = () => all()[index]?.columns ?? [];
      if (part === undefined) return { schema: publicSchema, name: dataset, kind: 'r', columns };
      return { schema: dataset, name: part, kind: 'v', columns };
    });
  });
}
