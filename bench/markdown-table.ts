/**
 * Rows of cells as a Markdown table that is aligned in its source, too.
 * @param columns `figures`: all columns but the first are right-aligned; `text`: none is
 */
export function markdownTable(
  head: readonly string[],
  rows: ReadonlyArray<readonly string[]>,
  columns: 'figures' | 'text' = 'figures',
): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  );
  const isRight = (column: number): boolean => columns === 'figures' && column > 0;
  const padded = (cell: string, column: number): string =>
    isRight(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  const line = (cells: readonly string[]): string => `| ${cells.map(padded).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    isRight(column) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}
