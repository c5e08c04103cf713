import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../limits/limits.ts';
import { CommandError, interruptedExitCode } from './command-error.ts';
import { readProblem, readReply, ServiceClient, type ServiceOptions } from './service-client.ts';

interface Status {
  readonly name: string;
  readonly path: string;
  readonly state: string;
  readonly step?: string;
  readonly storeBytes?: number;
  readonly error?: string;
}

/**
 * Asks the service for a backup and waits until it is complete. Steps are written to stderr.
 * @param name the current time if undefined
 * @returns what to print
 * @throws CommandError
 */
export async function runBackup(options: ServiceOptions, name: string = nameOfNow()): Promise<string> {
  const client = await ServiceClient.find(options);
  process.once('SIGINT', () => {
    process.stderr.write('the backup goes on in the service\n');
    process.exit(interruptedExitCode);
  });
  const path = `/api/v1/backups/${encodeURIComponent(name)}`;
  let status = await ask(client, 'PUT', path);
  for (let step = ''; status.state === 'running'; status = await ask(client, 'GET', path)) {
    if (status.step !== undefined && status.step !== step) {
      step = status.step;
      process.stderr.write(`${step}\n`);
    }
    await sleep(limits.backupPollMs);
  }
  if (status.state !== 'complete')
    throw new CommandError(`the backup failed: ${status.error ?? status.state}`);
  return `${status.path} is complete: ${status.storeBytes ?? 0} bytes of the store, and the log`;
}

async function ask(client: ServiceClient, method: string, path: string): Promise<Status> {
  const reply = await client.send(method, path);
  if (reply.statusCode !== 200 && reply.statusCode !== 202)
    throw new CommandError((await readProblem(reply)).detail);
  return JSON.parse((await readReply(reply, maxReplyBytes)).toString('utf8')) as Status;
}

const maxReplyBytes = 1 << 16;

/** `2026-11-22T23-41-05Z` */
const nameOfNow = (): string => `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
