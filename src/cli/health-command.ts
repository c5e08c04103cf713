import { limits } from '../limits/limits.ts';
import { CommandError } from './command-error.ts';
import { readProblem, readReply, ServiceClient, type ServiceOptions } from './service-client.ts';

/**
 * Asks whether the service takes requests, in bounded time.
 * @returns what to print
 * @throws CommandError if it does not
 */
export async function askHealth(options: ServiceOptions): Promise<string> {
  const client = await ServiceClient.findOpen(options);
  const late = AbortSignal.timeout(limits.healthTimeoutMs);
  try {
    const reply = await client.send('GET', '/api/v1/readiness', undefined, late);
    if (reply.statusCode === 200) {
      await readReply(reply, maxReplyBytes);
      return `${client.url} is ready`;
    }
    const { status, code, detail } = await readProblem(reply);
    throw new CommandError(`${client.url} is not ready: ${detail} (${code ?? status})`);
  } catch (error) {
    if (late.aborted)
      throw new CommandError(`${client.url} did not answer within ${limits.healthTimeoutMs} ms`);
    throw error;
  }
}

const maxReplyBytes = 1 << 16;
