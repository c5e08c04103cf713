/**
 * Valid JSON as PostgreSQL shows it as `jsonb`: the last value of each key, shorter keys before longer ones,
 * each length by its bytes; a space behind commas and colons.
 * @param numberText a number as a decimal shows it
 * @returns undefined for what `jsonb` has no text for: the character 0, half of a pair of surrogates
 */
export function binaryJson(text: string, numberText: (written: string) => string): string | undefined {
  const tokens = text.match(tokenPattern) ?? [];
  const stack: Level[] = [];
  let done = '';
  const put = (value: string): void => {
    const level = stack.at(-1);
    if (level === undefined) done = value;
    else if (level.members === undefined) level.items.push(value);
    else if (level.key === undefined) level.key = value;
    else {
      level.members.set(level.key, value);
      level.key = undefined;
    }
  };
  for (const token of tokens) {
    if (token === '{' || token === '[') {
      stack.push({ items: [], members: token === '{' ? new Map() : undefined, key: undefined });
    } else if (token === '}' || token === ']') {
      const level = stack.pop();
      put(level === undefined ? '' : written(level));
    } else if (token.startsWith('"')) {
      const value = String(JSON.parse(token));
      if (value.includes('\0') || /\p{Surrogate}/u.test(value)) return undefined;
      put(JSON.stringify(value));
    } else {
      put(/^[-\d]/.test(token) ? numberText(token) : token);
    }
  }
  return done;
}

interface Level {
  readonly items: string[];
  readonly members: Map<string, string> | undefined;
  /** Of the member whose value comes next. */
  key: string | undefined;
}

const tokenPattern = /"(?:[^"\\]|\\.)*"|[{}[\]]|[^\s,:"{}[\]]+/g;

function written({ items, members }: Level): string {
  if (members === undefined) return `[${items.join(', ')}]`;
  const pairs = [...members].sort(([a], [b]) => {
    const [left, right] = [Buffer.from(JSON.parse(a)), Buffer.from(JSON.parse(b))];
    return left.length - right.length || Buffer.compare(left, right);
  });
  return `{${pairs.map(([key, value]) => `${key}: ${value}`).join(', ')}}`;
}
