import { AppError } from '../errors.ts';
import { selectRow } from './select-rows.ts';
import type { Store } from './store.ts';

/**
 * The oldest ClickHouse that Millrace runs on: 25.11 is the first that marks an error in the middle of a result
 * so that no data can be taken for it, 26.2 the first with the setting that keeps a server's profile from
 * switching deduplication off, and 26.3 the long-term release after both.
 */
const oldest = [26, 3] as const;

/**
 * @throws AppError `store_unavailable` when the engine is too old
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

/** @param version as in `26.7.2.1` */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
}
