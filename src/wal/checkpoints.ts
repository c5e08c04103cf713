/**
 * The checkpoint of a segment: the tables that the store has already, while others of the segment cannot
 * move.
 *
 * Without a checkpoint, only the store's own memory of tokens would tell, and that is short: it holds a fixed
 * number of inserts, and a table that goes on after the segment would push the segment's insert out. So the
 * checkpoint is written first (`drain/drain.ts`). A start that finds the segment leaves these tables out.
 *
 * It is written as sidecar files (`sidecar-file.ts`) with the name `<20 digits of the
 * segment>.stored-<count>` and the content `{"segment":…,"tables":["<database>.<table>",…]}`.
 *
 * - The files of a segment add up. One is never changed, and its name never used again, whatever a failure
 *   left.
 * - A file that is damaged, incomplete or of another segment is ignored: nothing has relied on it.
 * - They are removed after their segment. What a crash leaves of them without it is removed at the next
 *   start.
 */
import { recoverSidecar, writeSidecar } from './sidecar-file.ts';
import type { WalFiles } from './wal-files.ts';

export interface Checkpoint {
  /** `<database>.<table>`, unquoted. */
  readonly tables: Set<string>;
  /** The files that say so, and what failures left of others. */
  readonly files: string[];
}

export const emptyCheckpoint = (): Checkpoint => ({ tables: new Set(), files: [] });

/** Makes it durable that the store has these tables of a segment. Safe to repeat after a failure. */
export async function extendCheckpoint(
  files: WalFiles,
  segment: number,
  checkpoint: Checkpoint,
  tables: readonly string[],
): Promise<void> {
  const last = Math.max(-1, ...checkpoint.files.map(countOf));
  const name = `${String(segment).padStart(20, '0')}.stored-${last + 1}`;
  checkpoint.files.push(name);
  await writeSidecar(files, name, { segment, tables });
  for (const table of tables) checkpoint.tables.add(table);
}

/**
 * The checkpoints that the log holds, by segment. Files of segments that are gone are removed.
 * @param segments numbers of those that are left
 */
export async function recoverCheckpoints(
  files: WalFiles,
  segments: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Checkpoint>> {
  const found = new Map<number, Checkpoint>();
  const names = (await files.list()).filter((name) => fileName.test(name)).sort();
  for (const name of names) {
    const segment = Number.parseInt(name, 10);
    if (!segments.has(segment)) {
      await files.remove(name);
      continue;
    }
    const checkpoint = found.get(segment) ?? emptyCheckpoint();
    found.set(segment, checkpoint);
    checkpoint.files.push(name);
    const content = (await recoverSidecar(files, name)) as Content | undefined;
    if (content?.segment === segment) for (const table of content.tables) checkpoint.tables.add(table);
  }
  if (found.size > 0) await files.syncDirectory();
  return found;
}

const fileName = /^\d{20}\.stored-\d+$/;
const countOf = (name: string): number => Number(name.slice(name.lastIndexOf('-') + 1));

interface Content {
  readonly segment: number;
  readonly tables: readonly string[];
}
