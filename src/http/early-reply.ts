import { AppError } from '../errors.ts';
import { jsonReply, problemReply, type Reply } from './reply.ts';

/**
 * What every request gets while the service reads what it has stored: the process lives, and takes nothing yet. Senders
 * try again, and who asks whether it is ready learns that it is not.
 */
export const earlyReply = (path: string): Reply =>
  path === '/api/v1/liveness'
    ? jsonReply({ status: 'alive' })
    : problemReply(new AppError('starting', 'the service is reading what it has stored'));
