import type { Catalog } from '../catalog/catalog.ts';
import type { Backlog } from '../wal/backlog.ts';
import type { RecordHeader } from '../wal/record-header.ts';
import type { Recovery } from '../wal/recovery.ts';
import type { Drain } from './drain.ts';

export interface Resumed {
  readonly catalog: Pick<Catalog, 'recover'>;
  readonly backlog: Pick<Backlog, 'add'>;
  readonly drain: Pick<Drain, 'recover'>;
  /** Told of each record that the log holds. */
  readonly onRecord?: (header: RecordHeader) => void;
}

/**
 * Hands over what an earlier run of the process left in the log: the catalog learns its datasets, and the
 * drain gets its segments. Call it before the log is opened for writing.
 */
export function resume({ segments }: Recovery, { catalog, backlog, drain, onRecord }: Resumed): void {
  for (const segment of segments) {
    for (const { header } of segment.records) {
      const { tenant, dataset, kind, presumed, blocks } = header;
      const columns = blocks.flatMap((block) => block.columns);
      catalog.recover(tenant, dataset, kind, presumed, columns);
      onRecord?.(header);
    }
    backlog.add(segment);
    drain.recover(segment);
  }
}
