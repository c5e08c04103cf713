import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from './service.ts';

/** The tables that the embedded engine has of a dataset of the default tenant, as its own files say. */
export const tablesOf = ({ dataDir }: Service, dataset: string): string[] =>
  readdirSync(join(dataDir, 'store/engine/metadata/t_default'))
    .map((name) => decodeURIComponent(name))
    .filter((name) => name.startsWith(`${dataset}.`))
    .sort();
