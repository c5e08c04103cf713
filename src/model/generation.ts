/**
 * Tenants and datasets have a name, which requests use, and an id, under which everything of theirs is
 * stored: tables, records in the log, cached requests and series.
 *
 * The id of the first tenant or dataset of a name is the name. The next one of the same name gets a number:
 * `acme`, then `acme.2`. What is left of the first one, on any node, is therefore never mistaken for the
 * second one's. No name contains a dot.
 */
export const generationId = (name: string, generation: number): string =>
  generation === 1 ? name : `${name}.${generation}`;

/** The inverse of `generationId`. */
export function parseGenerationId(id: string): { readonly name: string; readonly generation: number } {
  // No `split`: each request calls this several times.
  const dot = id.indexOf('.');
  return dot < 0
    ? { name: id, generation: 1 }
    : { name: id.slice(0, dot), generation: Number(id.slice(dot + 1)) };
}
