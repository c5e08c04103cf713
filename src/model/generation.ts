/**
 * Tenants and datasets have a name, which requests use, and an id, under which everything of theirs is
 * stored: tables, records in the log, cached requests and series.
 *
 * The id of the first tenant or dataset of a name is the name. The next one of the same name gets a number:
 * `acme`, then `acme.2`. What is left of the first one, on any node, is therefore never mistaken for the
 * second one's.
 *
 * Names of datasets may contain dots and begin with a digit. An id has `:` in the place of a dot, and before
 * such a digit, which no name contains: `acme.2` has the id `acme:2`, which is not that of the second `acme`,
 * and `2` has the id `:2`, so that behind the name of a tenant it is no number of a tenant's.
 */
export function generationId(name: string, generation: number): string {
  const dotless = name.includes('.') ? name.replaceAll('.', ':') : name;
  const first = beginsWithDigit(dotless) ? `:${dotless}` : dotless;
  return generation === 1 ? first : `${first}.${generation}`;
}

/** The inverse of `generationId`. */
export function parseGenerationId(id: string): { readonly name: string; readonly generation: number } {
  // No `split`: each request calls this several times.
  const dot = id.indexOf('.');
  return dot < 0
    ? { name: nameOf(id), generation: 1 }
    : { name: nameOf(id.slice(0, dot)), generation: Number(id.slice(dot + 1)) };
}

const nameOf = (first: string): string =>
  first.includes(':') ? first.slice(first.startsWith(':') ? 1 : 0).replaceAll(':', '.') : first;

/** By its code: each request asks several times. */
const beginsWithDigit = (text: string): boolean => text.charCodeAt(0) >= 0x30 && text.charCodeAt(0) <= 0x39;
