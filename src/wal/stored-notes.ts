/**
 * Which tables of a segment the store has already, while others of it cannot move.
 *
 * Without a note nothing is known but the store's own memory of tokens, and that is short: it holds a number of
 * inserts, and a table that goes on past the segment would push the segment's insert out of it. So the note comes
 * first (`drain/drain.ts`). A start that finds the segment leaves these tables out.
 *
 * It is a note (`note-file.ts`) with the name `<20 digits of the segment>.stored-<count>` and the content
 * `{"segment":…,"tables":["<database>.<table>",…]}`.
 *
 * - Notes of a segment add up. One is never changed, and its name never used again, whatever a failure left.
 * - One that is damaged, incomplete or of another segment says nothing: nobody has relied on it.
 * - They go after their segment. What a crash leaves of them without it is removed at the next start.
 */
import type { WalFiles } from './files.ts';
import { readNoteAgain, writeNote } from './note-file.ts';

export interface StoredTables {
  /** `<database>.<table>`, unquoted. */
  readonly tables: Set<string>;
  /** The files that say so, and what failures left of others. */
  readonly files: string[];
}

export const noStoredTables = (): StoredTables => ({ tables: new Set(), files: [] });

/** Makes it durable that the store has these tables of a segment. Safe to repeat after a failure. */
export async function noteStored(
  files: WalFiles,
  segment: number,
  stored: StoredTables,
  tables: readonly string[],
): Promise<void> {
  const last = Math.max(-1, ...stored.files.map(countOf));
  const name = `${String(segment).padStart(20, '0')}.stored-${last + 1}`;
  stored.files.push(name);
  await writeNote(files, name, { segment, tables });
  for (const table of tables) stored.tables.add(table);
}

/**
 * What an earlier life noted, by segment. Notes of segments that are gone are removed.
 * @param segments numbers of those that are left
 */
export async function recoverStored(
  files: WalFiles,
  segments: ReadonlySet<number>,
): Promise<ReadonlyMap<number, StoredTables>> {
  const found = new Map<number, StoredTables>();
  const names = (await files.list()).filter((name) => fileName.test(name)).sort();
  for (const name of names) {
    const segment = Number.parseInt(name, 10);
    if (!segments.has(segment)) {
      await files.remove(name);
      continue;
    }
    const stored = found.get(segment) ?? noStoredTables();
    found.set(segment, stored);
    stored.files.push(name);
    const note = (await readNoteAgain(files, name)) as Content | undefined;
    if (note?.segment === segment) for (const table of note.tables) stored.tables.add(table);
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
