import { readdir, readFile, readlink } from 'node:fs/promises';

/** A process that listens on a port. */
export interface PortOwner {
  readonly pid: number;
  /** Its name, such as `nginx`. */
  readonly name: string;
}

/**
 * The process that listens on a TCP port, by `/proc`: the tables of sockets have the inode of each, and a
 * process has its sockets among its open files.
 * @returns undefined where that cannot be known: without `/proc`, or if the process belongs to another user
 */
export async function portOwner(port: number): Promise<PortOwner | undefined> {
  const sockets = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6'])
    for (const inode of listening(await textOf(table), port)) sockets.add(`socket:[${inode}]`);
  if (sockets.size === 0) return undefined;
  for (const pid of await namesIn('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    for (const file of await namesIn(`/proc/${pid}/fd`)) {
      if (sockets.has(await targetOf(`/proc/${pid}/fd/${file}`)))
        return { pid: Number(pid), name: (await textOf(`/proc/${pid}/comm`)).trim() };
    }
  }
  return undefined;
}

/** The inodes of listening sockets: column 2 is `address:port` in hexadecimal, column 4 the state. */
function listening(table: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(wanted) && state === listenState)
    .flatMap((columns) => columns[9] ?? []);
}

/** `TCP_LISTEN` of the kernel. */
const listenState = '0A';

// Processes end while they are looked at, and most belong to others: what cannot be read says nothing.
const textOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
const targetOf = (link: string): Promise<string> => readlink(link).catch(() => '');
