import type { WalFile, WalFiles } from '../../src/wal/wal-files.ts';
import type { Faults } from './faults.ts';
import { Inode } from './inode.ts';
import type { SimProcess } from './scheduler.ts';

type NameChange =
  | { readonly kind: 'create'; readonly name: string; readonly inode: Inode }
  | { readonly kind: 'remove'; readonly name: string };

/** Contents of deleted files that a new file may show after a power cut. */
const maxStaleFiles = 8;

/**
 * A directory on a disk that fails as disks do. It outlives the processes that use it.
 *
 * Names, like contents, are durable only after a sync (of the directory): a power cut keeps any subset of the
 * changes since then, only those of one name in their order. A killed process loses nothing of either.
 */
export class SimDisk {
  readonly #faults: Faults;
  readonly #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #changes: NameChange[] = [];
  readonly #stale: Buffer[] = [];
  /** Things that a correct program never does to its files. */
  readonly violations: string[] = [];
  openFiles = 0;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  names(): string[] {
    return [...this.#names.keys()].sort();
  }

  /** Whether a power cut could change the contents of a file. */
  get hasDirtyContents(): boolean {
    return [...this.#names.values()].some((inode) => inode.isDirty);
  }

  /** Whether a power cut could change anything. */
  get isDirty(): boolean {
    return this.#changes.length > 0 || this.hasDirtyContents;
  }

  /** Whether a file would be there after a power cut, just as it is. */
  isDurable(name: string): boolean {
    const inode = this.#names.get(name);
    return inode?.isDurable === true && this.#durableNames.get(name) === inode;
  }

  size(name: string): number {
    return this.#inode(name).size;
  }

  /** The process is gone, and its open files with it. */
  kill(): void {
    this.openFiles = 0;
  }

  cutPower(): void {
    this.kill();
    const { random } = this.#faults;
    const broken = new Set<string>();
    for (const change of this.#changes) {
      // The changes of one name happen in order: none after the first that did not happen.
      if (broken.has(change.name)) continue;
      if (random.chance(0.5)) apply(this.#durableNames, change);
      else broken.add(change.name);
    }
    this.#changes = [];
    this.#names.clear();
    for (const [name, inode] of this.#durableNames) {
      const stale = this.#stale.filter(({ length }) => length > inode.size);
      inode.cutPower(random, stale[random.integer(0, stale.length - 1)]);
      this.#names.set(name, inode);
    }
  }

  /** The file system as one process sees it. */
  mount(process: SimProcess): WalFiles {
    const operation = async <Result>(
      kind: 'directory' | 'read',
      effect: () => Result,
      failed?: () => void,
    ): Promise<Result> => {
      await process.delay();
      const error = this.#faults.disk(kind);
      if (error !== undefined) {
        failed?.();
        throw error;
      }
      const result = effect();
      if (this.#faults.random.chance(0.3)) await process.delay();
      return result;
    };
    return {
      list: () => operation('read', () => [...this.#names.keys()]),
      size: (name) => operation('read', () => this.size(name)),
      create: (name) => operation('directory', () => this.#create(name, process)),
      open: (name) => operation('read', () => this.#handle(this.#inode(name), process)),
      remove: (name) =>
        operation(
          'directory',
          () => this.#remove(name),
          // An error does not tell whether it happened.
          () => this.#faults.chance(0.5) && this.#remove(name),
        ),
      syncDirectory: () => operation('directory', () => this.#syncDirectory()),
    };
  }

  #inode(name: string): Inode {
    const inode = this.#names.get(name);
    if (inode === undefined) throw Object.assign(new Error(`ENOENT: ${name}`), { code: 'ENOENT' });
    return inode;
  }

  #create(name: string, process: SimProcess): WalFile {
    if (this.#names.has(name)) {
      this.violations.push(`the file ${name} was made a second time`);
      throw Object.assign(new Error(`EEXIST: ${name}`), { code: 'EEXIST' });
    }
    const inode = new Inode();
    this.#change({ kind: 'create', name, inode });
    return this.#handle(inode, process);
  }

  #remove(name: string): void {
    const inode = this.#names.get(name);
    if (inode === undefined) return;
    this.#stale.unshift(Buffer.from(inode.contents));
    if (this.#stale.length > maxStaleFiles) this.#stale.pop();
    this.#change({ kind: 'remove', name });
  }

  #change(change: NameChange): void {
    apply(this.#names, change);
    this.#changes.push(change);
  }

  #syncDirectory(): void {
    this.#durableNames = new Map(this.#names);
    this.#changes = [];
  }

  #handle(inode: Inode, process: SimProcess): WalFile {
    const faults = this.#faults;
    let open = true;
    this.openFiles += 1;
    const begin = async (what: string): Promise<void> => {
      await process.delay();
      if (open) return;
      this.violations.push(`${what} of a closed file`);
      throw Object.assign(new Error(`EBADF: ${what}`), { code: 'EBADF' });
    };
    const file: WalFile = {
      write: async (buffers, position) => {
        await begin('write');
        const bytes = Buffer.concat(buffers);
        const error = faults.disk('write');
        // In two parts, so that the process can end between them; or only the first one, if it fails.
        const first = faults.random.integer(0, bytes.length);
        inode.write(bytes.subarray(0, first), position);
        if (error !== undefined) throw error;
        if (faults.random.chance(0.5)) await process.delay();
        inode.write(bytes.subarray(first), position + first);
      },
      writeDurably: async (buffers, position) => {
        await file.write(buffers, position);
        await file.sync();
      },
      read: async (position, length) => {
        await begin('read');
        const error = faults.disk('read');
        if (error !== undefined) throw error;
        return inode.read(position, length);
      },
      truncate: async (length) => {
        await begin('truncate');
        const error = faults.disk('write');
        if (error === undefined || faults.chance(0.5)) inode.truncate(length);
        if (error !== undefined) throw error;
      },
      sync: async () => {
        await begin('sync');
        const error = faults.disk('sync');
        if (error !== undefined) {
          inode.failSync(faults.random);
          throw error;
        }
        inode.sync();
        if (faults.random.chance(0.3)) await process.delay();
      },
      close: async () => {
        await begin('close');
        open = false;
        this.openFiles -= 1;
        const error = faults.chance(0.1) ? faults.disk('write') : undefined;
        if (error !== undefined) throw error;
      },
    };
    return file;
  }
}

function apply(names: Map<string, Inode>, change: NameChange): void {
  if (change.kind === 'create') names.set(change.name, change.inode);
  else names.delete(change.name);
}
