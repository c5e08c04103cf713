import { AppError } from '../errors.ts';
import type { Logger } from '../lib/log.ts';
import { characters } from './character-count.ts';
import type { ErrorFields } from './protocol/server-messages.ts';
import { WireError } from './protocol/wire-error.ts';

/**
 * What a client is told of anything that was thrown.
 * @param sql the statement, and `offset` where it begins in what the client sent: for the position
 */
export function errorFields(
  thrown: unknown,
  statement: { readonly sql: string; readonly offset: number } | undefined,
  log: Logger,
): ErrorFields {
  if (thrown instanceof WireError) {
    const { code, message, hint, position, fatal } = thrown;
    return { severity: fatal ? 'FATAL' : 'ERROR', code, message, hint, position: moved(position, statement) };
  }
  if (thrown instanceof AppError) {
    const place = placeOf(thrown);
    const { sqlState, hint } = thrown.details ?? {};
    return {
      severity: 'ERROR',
      code:
        typeof sqlState === 'string'
          ? sqlState
          : (thrown.definition.sqlState ?? sqlStates.get(thrown.code) ?? 'XX000'),
      ...(typeof hint === 'string' ? { hint } : {}),
      message: place === undefined ? thrown.message : withoutPlace(thrown.message, place),
      ...(place === undefined || statement === undefined
        ? {}
        : { position: moved(positionOf(statement.sql, place), statement) }),
    };
  }
  log.error({ err: thrown }, 'BUG: a statement of the wire protocol failed');
  return { severity: 'ERROR', code: 'XX000', message: 'internal error; the log of the service tells more' };
}

/** Of errors that only HTTP has seen so far. */
const sqlStates: ReadonlyMap<string, string> = new Map([
  ['bad_request', '22023'],
  ['tenant_not_found', '3D000'],
  ['tenant_not_supported', '3D000'],
  ['tenant_required', '3D000'],
  ['bad_tenant_name', '3D000'],
  ['queries_paused', '53400'],
]);

interface Place {
  readonly line: number;
  readonly column: number;
}

function placeOf({ details }: AppError): Place | undefined {
  const { line, column } = details ?? {};
  return typeof line === 'number' && typeof column === 'number' ? { line, column } : undefined;
}

/** The message without what `located` has added: clients show the place themselves. */
function withoutPlace(message: string, { line, column }: Place): string {
  const end = message.lastIndexOf(` (line ${line}, column ${column})\n`);
  return end < 0 ? message : message.slice(0, end);
}

/** In characters from 1. */
function positionOf(sql: string, { line, column }: Place): number {
  let start = 0;
  for (let at = 1; at < line; at++) start = sql.indexOf('\n', start) + 1;
  return characters(sql, start) + column;
}

const moved = (
  position: number | undefined,
  statement: { readonly offset: number } | undefined,
): number | undefined => position && position + (statement?.offset ?? 0);
