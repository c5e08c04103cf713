/**
 * The manifest of a batched insert job: which tables take what several segments hold for them in one insert
 * (`drain/low-volume-tables.ts` says which and why).
 *
 * An insert must be made of the same rows whenever it is repeated, also by a later run of the process. So
 * what goes together is durable before the insert is sent: a sidecar file (`sidecar-file.ts`) with the name
 * `<20 digits of the last segment>.bundle-<number>` and the content
 * `{"segments":[…],"tables":{"<database>.<table>":<first segment>,…}}`.
 *
 * - For each of the tables, what the segments hold of it, from its first one on, makes one insert.
 * - The segments leave the log when the store has all of the job, and not before. So a job of which a segment
 *   is not there any more is done.
 * - If the checkpoint of its last segment (`checkpoints.ts`) names a table, the store has all rows of the job
 *   for that table.
 * - The file is removed after the last of its segments.
 */
import { recoverSidecar, writeSidecar } from './sidecar-file.ts';
import type { WalFiles } from './wal-files.ts';

export interface BatchManifest {
  /** Grows with each manifest. */
  readonly number: number;
  readonly file: string;
  readonly segments: readonly number[];
  /** `<database>.<table>`, unquoted, and the first segment whose rows of it are meant. */
  readonly tables: ReadonlyMap<string, number>;
}

/** Makes it durable that these tables take their rows of these segments together. */
export async function writeManifest(
  files: WalFiles,
  number: number,
  segments: readonly number[],
  tables: ReadonlyMap<string, number>,
): Promise<BatchManifest> {
  const file = manifestName(number, segments);
  await writeSidecar(files, file, { segments, tables: Object.fromEntries(tables) });
  return { number, file, segments, tables };
}

export const manifestName = (number: number, segments: readonly number[]): string =>
  `${String(segments.at(-1)).padStart(20, '0')}.bundle-${number}`;

/**
 * The manifests that the log holds, in the order in which they were written. Files of segments that are all
 * gone are removed.
 * @param segments numbers of those that are left
 */
export async function recoverManifests(
  files: WalFiles,
  segments: ReadonlySet<number>,
): Promise<BatchManifest[]> {
  const found: BatchManifest[] = [];
  for (const file of (await files.list()).filter((name) => fileName.test(name))) {
    // A damaged one is ignored: no insert has relied on it.
    const content = (await recoverSidecar(files, file)) as Content | undefined;
    if (content === undefined || !content.segments.some((segment) => segments.has(segment))) {
      await files.remove(file);
      continue;
    }
    const number = Number(file.slice(file.lastIndexOf('-') + 1));
    found.push({ number, file, segments: content.segments, tables: new Map(Object.entries(content.tables)) });
  }
  if (found.length > 0) await files.syncDirectory();
  return found.sort((a, b) => a.number - b.number);
}

interface Content {
  readonly segments: number[];
  readonly tables: Record<string, number>;
}

const fileName = /^\d{20}\.bundle-\d+$/;
