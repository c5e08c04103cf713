import { AppError } from '../../errors.ts';
import { declaredLength, readHeaders } from './headers.ts';
import type { SendOptions, ServerRequest } from './listener.ts';
import { jsonReply, problemReply, type Reply } from './reply.ts';

/**
 * The reply to every request while the service still reads its stored data. Liveness succeeds; all other
 * requests get `starting`, so senders retry and the service counts as not ready. The connection is closed
 * after a chunked body, and after a request whose end is uncertain.
 */
export function earlyReply(request: ServerRequest): {
  readonly reply: Reply;
  readonly connection: SendOptions['connection'];
} {
  const { path } = request;
  try {
    const headers = readHeaders(request);
    const connection = declaredLength(headers) === undefined ? 'cut' : 'keep';
    return { reply: path === '/api/v1/liveness' ? alive : starting, connection };
  } catch (error) {
    if (error instanceof AppError) return { reply: problemReply(error), connection: 'cut' };
    throw error;
  }
}

const alive = jsonReply({ status: 'alive' });
const starting = problemReply(new AppError('starting', 'the service is reading what it has stored'));
