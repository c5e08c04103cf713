/**
 * How large a regular expression of RE2 becomes when its counted repetitions are written out: `(ab){3}` is
 * `ababab`. Compiling takes that much time, and each character that is matched up to as much. Pure, linear.
 *
 * It is read from the text, before anything is compiled, and is never too small for an expression that is
 * valid: brackets are followed as RE2 does, an unnamed bound of a repetition counts as its named one, and a
 * class counts as all its characters.
 */
export function expressionSize(source: string): number {
  const open: number[] = [];
  let size = 0;
  /** The size of what a repetition behind it would repeat. */
  let last = 0;
  const add = (some: number): void => {
    size += some;
    last = some;
  };
  for (let at = 0; at < source.length; ) {
    const char = source[at];
    if (char === '\\') {
      const end = endOfEscape(source, at);
      add(isUnicodeClass(source, at) ? unicodeClassSize : end - at);
      at = end;
    } else if (char === '[') {
      const end = endOfClass(source, at);
      add(end - at + unicodeClassSize * countUnicodeClasses(source.slice(at, end)));
      at = end;
    } else if (char === '(') {
      open.push(size);
      size = 0;
      last = 0;
      at += 1;
    } else if (char === ')') {
      const inner = size + 1;
      size = open.pop() ?? 0;
      add(inner);
      at += 1;
    } else if (char === '*' || char === '+' || char === '?') {
      size += 1;
      last += 1;
      at += 1;
    } else {
      const { times, length } = repetitionAt(source, at);
      if (times === undefined) add(1);
      else {
        size += last * (times - 1);
        last *= times;
      }
      at += length;
    }
  }
  // Groups that are never closed: RE2 refuses them.
  return open.reduce((sum, each) => sum + each, size);
}

/** How often `{3}` or `{2,5}` repeats what is before it; `times` is undefined if there is none here. */
function repetitionAt(
  source: string,
  at: number,
): { readonly times: number | undefined; readonly length: number } {
  const found = source[at] === '{' ? /^\{(\d{1,9})(?:,(\d{0,9}))?\}/.exec(source.slice(at, at + 24)) : null;
  if (found === null) return { times: undefined, length: 1 };
  return { times: Math.max(Number(found[1]), Number(found[2] ?? 0), 1), length: found[0].length };
}

/** Classes such as `\pL` have hundreds of ranges; negated or without case they take RE2 0.2 ms each. */
const unicodeClassSize = 20;

const isUnicodeClass = (source: string, at: number): boolean => /^\\[pPWDS]/.test(source.slice(at, at + 2));

const countUnicodeClasses = (text: string): number => text.match(/\\[pPWDS]/g)?.length ?? 0;

/** Behind an escape; a quotation (`\Q…\E`) is one. */
function endOfEscape(source: string, at: number): number {
  if (source[at + 1] === 'Q') {
    const end = source.indexOf('\\E', at + 2);
    return end === -1 ? source.length : end + 2;
  }
  const long = /^\\(?:[pPx]\{[^}]{0,40}\}|[pP].)/.exec(source.slice(at, at + 44));
  return Math.min(source.length, at + (long?.[0].length ?? 2));
}

/** Behind a class, whose first character may be `]`. */
function endOfClass(source: string, at: number): number {
  let end = at + 1;
  if (source[end] === '^') end += 1;
  if (source[end] === ']') end += 1;
  while (end < source.length && source[end] !== ']') {
    const named = source.startsWith('[:', end) ? source.indexOf(':]', end + 2) : -1;
    if (named !== -1) end = named + 2;
    else end += source[end] === '\\' ? 2 : 1;
  }
  return Math.min(source.length, end + 1);
}
