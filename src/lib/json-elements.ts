/** Parts of JSON text that is known to be valid, as they are written: no digit of a number is lost. */

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** The elements of an array, or the members of an object (`"name": value`), as text. */
export function jsonElements(source: string): readonly string[] {
  const elements: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === quote) at = stringEnd(source, at);
    else if (opening.has(code)) {
      depth += 1;
      if (depth === 1) start = at + 1;
    } else if (closing.has(code)) {
      depth -= 1;
      if (depth === 0) {
        const last = source.slice(start, at).trim();
        if (last !== '') elements.push(last);
      }
    } else if (code === comma && depth === 1) {
      elements.push(source.slice(start, at).trim());
      start = at + 1;
    }
  }
  return elements;
}

/** The value of a member of an object, as text: of the last one of that name, as `JSON.parse` has it. */
export function jsonMember(source: string, name: string): string | undefined {
  for (const member of [...jsonElements(source)].reverse()) {
    const end = stringEnd(member, 0) + 1;
    if (JSON.parse(member.slice(0, end)) === name) return member.slice(member.indexOf(':', end) + 1).trim();
  }
  return undefined;
}

/** The place of the quote that ends a string, which begins at `start`. */
function stringEnd(source: string, start: number): number {
  let at = start + 1;
  while (source.charCodeAt(at) !== quote) at += source.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}
