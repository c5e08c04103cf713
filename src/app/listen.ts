import { createServer } from 'node:net';
import { errorText } from '../errors.ts';
import type { Address } from '../lib/option-values.ts';
import { portOwner } from '../lib/port-owner.ts';
import { StartError } from '../lib/start-error.ts';

/** How an operator chooses an address. */
interface AddressOption {
  readonly flag: string;
  readonly env: string;
}

/** What can be told to listen; it tells the port that it has. */
interface Listening {
  listen(host: string, port: number): Promise<Address>;
}

/**
 * Lets a server listen.
 * @throws StartError that says why it cannot, and what to do
 */
export async function listenOrExplain(
  server: Listening,
  { host, port }: Address,
  { flag, env }: AddressOption,
): Promise<Address> {
  try {
    return await server.listen(host, port);
  } catch (error) {
    const reason = (await reasonOf(host, port)) ?? errorText(error);
    throw new StartError(`cannot listen on ${host}:${port}: ${reason}; ${flag} or ${env} sets the address`);
  }
}

/** Servers do not all say why they failed, so the system is asked again. */
async function reasonOf(host: string, port: number): Promise<string | undefined> {
  const code = await new Promise<string | undefined>((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)));
  });
  if (code !== 'EADDRINUSE') return code === undefined ? undefined : (reasons[code] ?? code);
  const owner = await portOwner(port);
  return owner === undefined
    ? 'another process listens there; stop it, or use another port'
    : `the process ${owner.pid} (${owner.name}) listens there; stop it, or use another port`;
}

const reasons: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine does not have that address; use one of its own, or 0.0.0.0 for all',
  EACCES: 'this user may not use that port; use one above 1023',
  ENOTFOUND: 'that host name is unknown; use an address of this machine, or 0.0.0.0 for all',
  EAI_AGAIN: 'that host name cannot be looked up now; use an address of this machine, or 0.0.0.0 for all',
  EAFNOSUPPORT: 'this machine does not have that kind of address; use one of its own',
};
