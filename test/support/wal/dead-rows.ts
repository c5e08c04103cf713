import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeadLetters } from '../../../src/drain/dead-letters/letters.ts';
import type { DeadNote } from '../../../src/drain/dead-letters/note.ts';
import { quoteString } from '../../../src/lib/quote.ts';
import type { TestStore } from '../clickhouse/test-store.ts';

/** The complete dead letters with their notes, in the order of their rows. */
export async function deadNotes(letters: DeadLetters): Promise<Array<DeadNote & { name: string }>> {
  const notes: Array<DeadNote & { name: string }> = [];
  for (const name of letters.names()) {
    const note = await letters.note(name);
    if (note !== undefined) notes.push({ ...note, name });
  }
  return notes.sort((a, b) => (a.ranges[0]?.from ?? 0) - (b.ranges[0]?.from ?? 0));
}

/** A column of the rows in all dead letters, read by the engine. */
export async function deadValues(letters: DeadLetters, test: TestStore, column: string): Promise<unknown[]> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-dead-'));
  try {
    const values: unknown[] = [];
    for (const { name } of await deadNotes(letters)) {
      const file = join(directory, `${name}.native`);
      writeFileSync(file, await letters.rows(name));
      const rows = await test.rows(`SELECT \`${column}\` AS value FROM file(${quoteString(file)}, 'Native')`);
      values.push(...rows.map(({ value }) => value));
    }
    return values;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
