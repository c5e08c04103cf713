import { readFileSync } from 'node:fs';

/** A query and the ClickHouse SQL that it becomes. */
export interface GoldenCase {
  readonly query: string;
  readonly expected: string;
}

/** Cases of `golden.txt`: the query, `=>`, the translation; an empty line between cases. */
export function readGolden(): readonly GoldenCase[] {
  const text = readFileSync(new URL('golden.txt', import.meta.url), 'utf8');
  return text
    .split('\n\n')
    .map((block) => block.replace(/^#.*\n/gm, '').trim())
    .filter((block) => block !== '' && !block.startsWith('#'))
    .map((block) => {
      const [query = '', expected = ''] = block.split('\n=> ');
      return { query, expected };
    });
}
