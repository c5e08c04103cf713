import { quoteString } from '../lib/quote.ts';
import { limits } from '../limits/limits.ts';

/** Settings of a statement, for its SETTINGS clause. */
export type StatementSettings = Readonly<Record<string, string | number>>;

export const renderSettings = (settings: StatementSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : quoteString(value)}`)
    .join(', ');

const rendered = new WeakMap<StatementSettings, string>();

/** The same for settings that many statements share; they must not change. */
export function renderShared(settings: StatementSettings): string {
  const known = rendered.get(settings);
  if (known !== undefined) return known;
  const text = renderSettings(settings);
  rendered.set(settings, text);
  return text;
}

/** Settings of statements that may be longer than a server expects by default. */
export const statementSettings = { max_query_size: String(limits.maxStatementBytes) } as const;
