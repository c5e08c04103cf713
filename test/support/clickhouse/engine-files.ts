import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '../service/service.ts';

/** The tables of a dataset of the default tenant, from the embedded engine's files. */
export const tablesOf = ({ dataDir }: Service, dataset: string): string[] =>
  readdirSync(join(dataDir, 'store/engine/metadata/t_default'))
    .map((name) => decodeURIComponent(name))
    .filter((name) => name.startsWith(`${dataset}.`))
    .sort();
