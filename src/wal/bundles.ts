/**
 * Which tables take what several segments hold for them in one insert (`drain/quiet-tables.ts` says which and why).
 *
 * An insert must be made of the same parts whenever it is repeated, also by a later life of the process. So what goes
 * together is durable before the insert is sent: a note (`note-file.ts`) with the name `<20 digits of the last
 * segment>.bundle-<number>` and the content `{"segments":[…],"tables":{"<database>.<table>":<first segment>,…}}`.
 *
 * - For each of the tables, what the segments hold of it, from its first one on, makes one insert.
 * - The segments leave the log when the store has all of the bundle, and not before. So a bundle of which a segment is
 *   not there any more is done.
 * - A note about its last segment that the store has a table (`stored-notes.ts`) is about all that the bundle has of it.
 * - The file goes after the last of its segments.
 */
import type { WalFiles } from './files.ts';
import { readNoteAgain, writeNote } from './note-file.ts';

export interface Bundle {
  /** Grows with each bundle. */
  readonly number: number;
  readonly file: string;
  readonly segments: readonly number[];
  /** `<database>.<table>`, unquoted, and the first segment whose part of it is meant. */
  readonly tables: ReadonlyMap<string, number>;
}

/** Makes it durable that these tables take their parts of these segments together. */
export async function noteBundle(
  files: WalFiles,
  number: number,
  segments: readonly number[],
  tables: ReadonlyMap<string, number>,
): Promise<Bundle> {
  const file = bundleName(number, segments);
  await writeNote(files, file, { segments, tables: Object.fromEntries(tables) });
  return { number, file, segments, tables };
}

export const bundleName = (number: number, segments: readonly number[]): string =>
  `${String(segments.at(-1)).padStart(20, '0')}.bundle-${number}`;

/**
 * What an earlier life bundled, in the order in which it did. Files of segments that are all gone are removed.
 * @param segments numbers of those that are left
 */
export async function recoverBundles(files: WalFiles, segments: ReadonlySet<number>): Promise<Bundle[]> {
  const found: Bundle[] = [];
  for (const file of (await files.list()).filter((name) => fileName.test(name))) {
    // One that is not as it was written says nothing: no insert has relied on it.
    const value = (await readNoteAgain(files, file)) as Content | undefined;
    if (value === undefined || !value.segments.some((segment) => segments.has(segment))) {
      await files.remove(file);
      continue;
    }
    const number = Number(file.slice(file.lastIndexOf('-') + 1));
    found.push({ number, file, segments: value.segments, tables: new Map(Object.entries(value.tables)) });
  }
  if (found.length > 0) await files.syncDirectory();
  return found.sort((a, b) => a.number - b.number);
}

interface Content {
  readonly segments: number[];
  readonly tables: Record<string, number>;
}

const fileName = /^\d{20}\.bundle-\d+$/;
