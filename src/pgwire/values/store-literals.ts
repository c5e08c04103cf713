/**
 * Arrays and maps as ClickHouse writes them in a cell: `['it\'s',NULL,3]`, `{'key':'value'}`. One pass, with
 * no recursion: no result has arrays of arrays.
 */

/** The elements, texts without their quotes; undefined if it is no array. */
export function readArray(text: string): ReadonlyArray<string | null> | undefined {
  if (!text.startsWith('[') || !text.endsWith(']')) return undefined;
  return [...items(text.slice(1, -1))].map(({ text: item, isQuoted }) =>
    !isQuoted && item === 'NULL' ? null : item,
  );
}

/** The keys and values in order; undefined if it is no map. */
export function readMap(text: string): ReadonlyArray<readonly [key: string, value: string]> | undefined {
  if (!text.startsWith('{') || !text.endsWith('}')) return undefined;
  const all = [...items(text.slice(1, -1))];
  return Array.from({ length: all.length / 2 }, (_, index) => [
    all[2 * index]?.text ?? '',
    all[2 * index + 1]?.text ?? '',
  ]);
}

/** What commas and colons separate, as they do outside of quotes. */
function* items(text: string): Generator<{ readonly text: string; readonly isQuoted: boolean }> {
  let at = 0;
  while (at < text.length) {
    if (text[at] === "'") {
      const pieces: string[] = [];
      let from = at + 1;
      let end = from;
      while (end < text.length && text[end] !== "'") {
        if (text[end] === '\\') {
          pieces.push(text.slice(from, end), letters.get(text[end + 1] ?? '') ?? text[end + 1] ?? '');
          end += 2;
          from = end;
        } else end += 1;
      }
      pieces.push(text.slice(from, end));
      yield { text: pieces.join(''), isQuoted: true };
      at = end + 2;
    } else {
      let end = at;
      while (end < text.length && text[end] !== ',' && text[end] !== ':') end += 1;
      yield { text: text.slice(at, end), isQuoted: false };
      at = end + 1;
    }
  }
}

const letters: ReadonlyMap<string, string> = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '0': '\0', a: '\x07', v: '\v', e: '\x1b' }),
);
