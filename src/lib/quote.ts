/**
 * Quoting for ClickHouse statements. ClickHouse reads backslash escapes, so the backslash is escaped too; and
 * a NUL, which stands for itself nowhere: in statements that are templates it begins a placeholder
 * (`sql/placeholders.ts`).
 */

/** A name in backticks. */
export const quoteIdentifier = (name: string): string => `\`${name.replace(/[\\`\0]/g, escaped)}\``;

/** A string literal. */
export const quoteString = (text: string): string => `'${text.replace(/[\\'\0]/g, escaped)}'`;

const escaped = (character: string): string => (character === '\0' ? '\\0' : `\\${character}`);
