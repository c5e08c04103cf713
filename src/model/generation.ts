/**
 * Tenants and datasets have a name, by which requests call them, and an id, under which everything that belongs to
 * them is kept: tables, records in the log, what is remembered of requests and series.
 *
 * The id is the name, and for one that is made again under a name of before, the name and a number: `acme`, then
 * `acme.2`. So whatever is left of the first one, here or on another node, is never taken for the second one's. No name
 * holds a dot.
 */
export const generationId = (name: string, generation: number): string =>
  generation === 1 ? name : `${name}.${generation}`;

/** The opposite of `generationId`. */
export function parseGenerationId(id: string): { readonly name: string; readonly generation: number } {
  // Not by `split`: each request asks several times.
  const dot = id.indexOf('.');
  return dot < 0
    ? { name: id, generation: 1 }
    : { name: id.slice(0, dot), generation: Number(id.slice(dot + 1)) };
}
