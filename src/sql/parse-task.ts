import { AppError, type AppErrorOptions, type ErrorCode, errorText } from '../errors.ts';
import type { Query } from './ast.ts';
import { parseQuery } from './parse.ts';

/** To the parser's thread. */
export interface ParseTask {
  readonly text: string;
}

/** From the parser's thread: `ready` once, then one reply for each task. */
export type ParseReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'parsed'; readonly query: Query }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: AppErrorOptions['details'];
    }
  /** The parser itself failed, and must not be used again. */
  | { readonly kind: 'broken'; readonly message: string };

/** Parses; errors become data, since threads exchange nothing else. */
export async function replyTo({ text }: ParseTask): Promise<ParseReply> {
  try {
    return { kind: 'parsed', query: await parseQuery(text) };
  } catch (thrown) {
    if (!(thrown instanceof AppError)) return { kind: 'broken', message: errorText(thrown) };
    const { code, message, details } = thrown;
    return { kind: 'refused', code, message, details };
  }
}
