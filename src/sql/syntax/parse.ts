import { hasSqlDetails, parse } from 'libpg-query';
import { AppError } from '../../errors.ts';
import { limits } from '../../limits/limits.ts';
import type { Expression, Query } from '../ast.ts';
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

/**
 * Parses a condition, as it may stand behind WHERE. It is read as the one value of a SELECT, in parentheses,
 * so that it cannot go on with a clause of its own.
 * @throws AppError as `parseQuery`
 */
export async function parseCondition(text: string): Promise<Expression> {
  try {
    checkText(text);
    const tree = await parseTree(`${beforeCondition}${text}\n)`);
    return withBudget(new TranslationBudget(), () => onlyValue(readTree(tree)));
  } catch (thrown) {
    throw located(inCondition(thrown), text);
  }
}

const beforeCondition = 'SELECT (';

function onlyValue({ body, ctes, orderBy, limit, offset }: Query): Expression {
  const [item, second] = body.kind === 'select' ? body.items : [];
  const isAlone =
    body.kind === 'select' &&
    second === undefined &&
    item?.alias === undefined &&
    !body.distinct &&
    body.distinctOn.length + body.from.length + body.groupingSets.length + body.windows.size === 0 &&
    (body.where ?? body.having ?? limit ?? offset) === undefined &&
    ctes.length + orderBy.length === 0;
  if (item === undefined || !isAlone) throw sqlError('sql_syntax', 'A condition is one expression');
  return item.expression;
}

/** An error with its place in the condition, where it has that in what the parser was given. */
export function inCondition(thrown: unknown): unknown {
  const offset = thrown instanceof AppError ? thrown.details?.['offset'] : undefined;
  if (!(thrown instanceof AppError) || typeof offset !== 'number') return thrown;
  const at = Math.max(0, offset - beforeCondition.length);
  return new AppError(thrown.code, thrown.message, {
    details: { ...thrown.details, offset: at },
    cause: thrown,
  });
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
