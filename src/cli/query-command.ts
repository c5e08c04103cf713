import type { IncomingMessage } from 'node:http';
import { errorText } from '../errors.ts';
import { hasErrorCode } from '../lib/files.ts';
import { limits } from '../limits/limits.ts';
import { CommandError, interruptedExitCode } from './command-error.ts';
import { parseCsv, renderTable } from './result-table.ts';
import { readProblem, readReply, ServiceClient, type ServiceOptions } from './service-client.ts';

export interface QueryOptions {
  readonly service: ServiceOptions;
  /** The text of the query, or `-` to read it from stdin. */
  readonly sql: string;
  /** `table`, or a format of the service. */
  readonly format: string;
}

/**
 * Runs a query and prints its result on stdout. SIGINT closes the connection, and the service then cancels
 * the query.
 * @throws CommandError
 */
export async function runQuery({ service, sql: given, format }: QueryOptions): Promise<void> {
  const isBinary = format === 'arrow' || format === 'parquet';
  if (isBinary && process.stdout.isTTY)
    throw new CommandError(`${format} is no text: send it to a file, such as > result.${format}`, 2);
  const sql = given === '-' ? await readStdin() : given;
  const client = await ServiceClient.find(service);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  // Errors are reported by each write.
  process.stdout.on('error', () => {});
  const path = `/api/v1/query?format=${format === 'table' ? 'csv' : format}`;
  try {
    const reply = await client.send('POST', path, { query: sql }, interrupted.signal);
    // For an error in the SQL, the detail shows the line and marks the position below it.
    if (reply.statusCode !== 200) throw new CommandError((await readProblem(reply)).detail);
    await (format === 'table' ? printTable(reply) : copyOut(reply));
  } catch (error) {
    if (error instanceof ReaderGone) return;
    if (interrupted.signal.aborted) throw new CommandError('the query was cancelled', interruptedExitCode);
    throw error;
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limits.maxQueryBodyBytes)
      throw new CommandError(`the query on stdin is larger than ${limits.maxQueryBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function printTable(reply: IncomingMessage): Promise<void> {
  const text = (await readReply(reply, limits.maxTableBytes)).toString('utf8');
  await write(Buffer.from(renderTable(parseCsv(text))));
}

async function copyOut(reply: IncomingMessage): Promise<void> {
  try {
    for await (const chunk of reply as AsyncIterable<Buffer>) await write(chunk);
  } catch (error) {
    if (error instanceof ReaderGone) throw error;
    throw new CommandError(`the result is not whole: ${errorText(error)}`);
  }
}

/** The reader of the output has closed it, for example `| head`. */
class ReaderGone extends Error {}

const write = (bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => {
      if (error == null) resolve();
      else reject(hasErrorCode(error, 'EPIPE') ? new ReaderGone() : error);
    });
  });
