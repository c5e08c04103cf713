/** A token of SQL with the white space before it. */
const token =
  /\s*(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+(?:\.\d+)?|\.\d+|::|<=|>=|<>|\|\||->>|#>>|->|#>|!~\*|!~|~\*|[\s\S])/g;

/** How many smaller statements are tried. Each is one query to both servers. */
const maxTries = 400;

/**
 * A smaller statement of which the same is true, by leaving out pieces of it and putting arguments in the
 * place of calls, as long as that helps (delta debugging over tokens).
 */
export async function shrinkStatement(
  statement: string,
  holds: (smaller: string) => Promise<boolean>,
): Promise<string> {
  let best: readonly string[] = statement.match(token) ?? [];
  let tries = 0;
  const takes = async (candidate: readonly string[]): Promise<boolean> => {
    tries += 1;
    if (!(await holds(candidate.join('').trim()))) return false;
    best = [...candidate];
    return true;
  };
  for (let size = Math.ceil(best.length / 2); size >= 1 && tries < maxTries; ) {
    let found = false;
    for (let start = 0; start + size <= best.length && tries < maxTries; ) {
      if (await takes(best.toSpliced(start, size))) found = true;
      else start += Math.max(1, Math.floor(size / 2));
    }
    if (!found) {
      found = await simplerGroup(best, takes);
      if (found) size = Math.ceil(best.length / 2);
      else size = Math.floor(size / 2);
    }
  }
  return best.join('').trim();
}

/** Leaves out a call and its other arguments: `f(a, b)` becomes `a`, `b` or `(a)`. */
async function simplerGroup(
  tokens: readonly string[],
  takes: (candidate: readonly string[]) => Promise<boolean>,
): Promise<boolean> {
  for (const [open, text] of tokens.entries()) {
    if (text.trim() !== '(') continue;
    const close = closeOf(tokens, open);
    if (close === undefined) continue;
    const name = /^\s*\w+$/.test(tokens[open - 1] ?? '') ? open - 1 : open;
    for (const [from, to] of argumentsOf(tokens, open, close)) {
      const inner = tokens.slice(from, to);
      if (inner.length === 0) continue;
      if (await takes([...tokens.slice(0, name), ' ', ...inner, ...tokens.slice(close + 1)])) return true;
    }
  }
  return false;
}

function closeOf(tokens: readonly string[], open: number): number | undefined {
  let depth = 0;
  for (let index = open; index < tokens.length; index += 1) {
    const text = tokens[index]?.trim();
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth === 0) return index;
  }
  return undefined;
}

function argumentsOf(
  tokens: readonly string[],
  open: number,
  close: number,
): readonly (readonly [number, number])[] {
  const commas = [open];
  let depth = 0;
  for (let index = open + 1; index < close; index += 1) {
    const text = tokens[index]?.trim();
    if (text === '(' || text === '[') depth += 1;
    if (text === ')' || text === ']') depth -= 1;
    if (text === ',' && depth === 0) commas.push(index);
  }
  return [...commas.entries()].map(([place, comma]) => [comma + 1, commas[place + 1] ?? close]);
}
