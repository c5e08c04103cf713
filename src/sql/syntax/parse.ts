import { hasSqlDetails, parse } from 'libpg-query';
import { limits } from '../../limits/limits.ts';
import type { Query } from '../ast.ts';
import { TranslationBudget, withBudget } from '../budget.ts';
import { byteOffset, located, sqlError } from '../sql-error.ts';
import { quotingHint } from './quoting-hint.ts';
import { readTree } from './read.ts';

/**
 * Parses one SELECT with PostgreSQL's own grammar. Deep input can overflow the stack or break the parser's
 * instance, so this runs in a thread of its own (`workers/translate.ts`).
 * @throws AppError `sql_syntax`, `sql_unsupported`, `sql_too_large`; anything else means that the parser
 * itself failed and must not be used again
 */
export const parseQuery = (text: string): Promise<Query> => parseWithin(new TranslationBudget(), text);

/** `parseQuery`, with what it may spend. */
export async function parseWithin(budget: TranslationBudget, text: string): Promise<Query> {
  try {
    checkText(text);
    const tree = await parseTree(text);
    return withBudget(budget, () => readTree(tree));
  } catch (thrown) {
    throw located(thrown, text);
  }
}

function checkText(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.maxQueryTextBytes) {
    throw sqlError(
      'sql_too_large',
      `The query has ${bytes} bytes; at most ${limits.maxQueryTextBytes} are allowed`,
    );
  }
  if (hasMoreComments(text, limits.maxSqlComments)) {
    const message = `The query has "/*" more than ${limits.maxSqlComments} times, which is as often as is allowed`;
    throw sqlError('sql_too_large', message);
  }
  // The parser reads C strings: it would silently drop what follows.
  const nul = text.indexOf('\0');
  if (nul >= 0)
    throw sqlError('sql_syntax', 'The query contains a NUL character', Buffer.byteLength(text.slice(0, nul)));
  if (text.trim() === '') throw sqlError('sql_syntax', 'The query is empty');
}

/** Counts each opener, be it of a comment or in a string: the bound is far above what anybody writes. */
function hasMoreComments(text: string, bound: number): boolean {
  let count = 0;
  for (let at = text.indexOf('/*'); at >= 0; at = text.indexOf('/*', at + 2))
    if (++count > bound) return true;
  return false;
}

async function parseTree(text: string): Promise<unknown> {
  try {
    return await parse(text);
  } catch (thrown) {
    if (!hasSqlDetails(thrown)) throw thrown;
    // Its grammar's own stack: deep nesting, not a mistake in the text.
    if (thrown.message.startsWith('memory exhausted')) {
      throw sqlError('sql_too_large', 'The query is nested too deeply');
    }
    const position = thrown.sqlDetails?.cursorPosition ?? 0;
    const message = `${thrown.message}${quotingHint(text, position)}`;
    throw sqlError('sql_syntax', message, byteOffset(text, position));
  }
}
