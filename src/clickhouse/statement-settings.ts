import { quoteString } from '../lib/quote.ts';
import { limits } from '../limits/limits.ts';

/** The SETTINGS clause of a statement. */
export type StatementSettings = Readonly<Record<string, string | number>>;

export const renderSettings = (settings: StatementSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : quoteString(value)}`)
    .join(', ');

const rendered = new WeakMap<StatementSettings, string>();

/** The same, cached by object, for settings that many statements share. The object must not change. */
export function renderShared(settings: StatementSettings): string {
  const known = rendered.get(settings);
  if (known !== undefined) return known;
  const text = renderSettings(settings);
  rendered.set(settings, text);
  return text;
}

/** For statements that may exceed the default length limit of a server. */
export const statementSettings = { max_query_size: String(limits.maxStatementBytes) } as const;
