/**
 * Generated names of relations (`t1`) and of common table expressions (`tw1`). In the outermost SELECT they
 * stand beside the names of output columns, which are the user's and are known only when all of the query is
 * resolved. Until then they begin with a NUL, which no query contains, in place of their prefix.
 */
const mark = '\0';

export const relationName = (number: number): string => `${mark}${number}`;
export const cteName = (number: number): string => `${mark}w${number}`;

/** A generated name in backticks. `quoteIdentifier` would escape what it begins with. */
export const quoteGenerated = (name: string): string => `\`${name}\``;

const generated = /\0(?=w?\d)/g;
/** What looks like a generated name with so many underscores. */
const lookalike = /^t(_*)w?\d/;

/** The statement with a prefix with which no name of an output column begins like a generated one. */
export function withGeneratedNames(sql: string, names: readonly string[]): string {
  const taken = new Set<number>();
  for (const name of names) {
    const underscores = lookalike.exec(name)?.[1];
    if (underscores !== undefined) taken.add(underscores.length);
  }
  let count = 0;
  while (taken.has(count)) count += 1;
  return sql.replace(generated, `t${'_'.repeat(count)}`);
}
