import { readFileSync } from 'node:fs';

/** A query of a case file, with the comment lines directly above it. */
export interface SqlCase {
  readonly query: string;
  readonly comment: string;
  /** For messages: `everyday.sql:12`. */
  readonly place: string;
}

/** Queries of a file of this folder: each ends with a semicolon at the end of a line. */
export function readCases(file: string): readonly SqlCase[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  const cases: SqlCase[] = [];
  let comment: string[] = [];
  let query: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (query.length === 0 && (line.startsWith('--') || line.trim() === '')) {
      comment = line.startsWith('--') ? [...comment, line.replace(/^--\s*/, '')] : [];
      continue;
    }
    query.push(line);
    if (!line.endsWith(';')) continue;
    const place = `${file}:${index + 2 - query.length}`;
    cases.push({ query: query.join('\n').slice(0, -1), comment: comment.join('\n'), place });
    query = [];
    comment = [];
  }
  if (query.length > 0) throw new Error(`${file} ends within a query: ${query.join('\n')}`);
  return cases;
}
