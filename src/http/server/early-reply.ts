import { AppError } from '../../errors.ts';
import { declaredLength, readHeaders } from './headers.ts';
import type { SendOptions, ServerRequest } from './listener.ts';
import { jsonReply, problemReply, type Reply } from './reply.ts';

/**
 * What every request gets while the service reads what it has stored: the process lives, and takes nothing
 * yet. Senders try again, and who asks whether it is ready learns that it is not. Behind chunks, or a request
 * that may end elsewhere, the connection does.
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
