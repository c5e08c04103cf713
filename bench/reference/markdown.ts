/** A name or value in a cell of a table, where a bar would end the cell. */
export const code = (text: string): string =>
  text.includes('|') ? `<code>${text.replaceAll('|', '&#124;')}</code>` : `\`${text}\``;

/** A page of `docs/reference`. @param source file that an author edits in place of the page */
export function referencePage(title: string, source: string, parts: readonly string[]): string {
  const note = `<!-- Written by npm run docs from ${source}. Do not edit it here. -->`;
  return `${[`# ${title}`, note, ...parts].join('\n\n')}\n`;
}
