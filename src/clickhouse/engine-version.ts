import { AppError } from '../errors.ts';
import { selectRow } from './select-rows.ts';
import type { Store } from './store.ts';

/**
 * The oldest supported ClickHouse: 25.11 is the first one that marks an error within a result unambiguously,
 * 26.2 the first one with the setting that keeps a server's profile from disabling deduplication, and 26.3
 * the LTS release after both.
 */
const oldest = [26, 3] as const;

/**
 * @throws AppError `store_unavailable` if the engine is too old
 * @throws StoreError
 */
export async function checkEngineVersion(store: Store): Promise<void> {
  const [version] = await selectRow<[string]>(store, 'SELECT version()');
  if (isTooOld(version)) {
    throw new AppError(
      'store_unavailable',
      `the store is ClickHouse ${version}; Millrace needs ${oldest.join('.')} or newer`,
    );
  }
}

/** @param version such as `26.7.2.1` */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
}
