/** A table of Markdown with its columns aligned. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** A name or value in a cell of a table, where a bar would end the cell. */
export const code = (text: string): string =>
  text.includes('|') ? `<code>${text.replaceAll('|', '&#124;')}</code>` : `\`${text}\``;

/** A page of `docs/reference`. @param source file that an author edits in place of the page */
export function referencePage(title: string, source: string, parts: readonly string[]): string {
  const note = `<!-- Written by npm run docs from ${source}. Do not edit it here. -->`;
  return `${[`# ${title}`, note, ...parts].join('\n\n')}\n`;
}
