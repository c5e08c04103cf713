import type { WalFile, WalFiles } from '../../../src/wal/wal-files.ts';

/**
 * A directory in memory that models power failures: contents and names survive only if they were synced.
 * Operations can be made to fail.
 */
export class MemoryFiles implements WalFiles {
  readonly #files = new Map<string, { bytes: Buffer; synced: Buffer }>();
  #durable = new Map<string, { synced: Buffer }>();
  syncs = 0;
  /** Called before each write; throws to make it fail. */
  beforeWrite: (bytes: number) => void = () => {};
  beforeSync: () => void = () => {};
  beforeCreate: () => void = () => {};

  names(): string[] {
    return [...this.#files.keys()].sort();
  }

  contents(name: string): Buffer {
    return this.#file(name).bytes;
  }

  set(name: string, bytes: Buffer): void {
    const file = { bytes, synced: bytes };
    this.#files.set(name, file);
    this.#durable.set(name, file);
  }

  /** The directory after a power failure: only what was synced. */
  afterPowerCut(): MemoryFiles {
    const left = new MemoryFiles();
    for (const [name, { synced }] of this.#durable) left.set(name, Buffer.from(synced));
    return left;
  }

  async list(): Promise<string[]> {
    return [...this.#files.keys()];
  }

  async size(name: string): Promise<number> {
    return this.#file(name).bytes.length;
  }

  async create(name: string): Promise<WalFile> {
    this.beforeCreate();
    if (this.#files.has(name)) throw new Error(`EEXIST: ${name}`);
    this.#files.set(name, { bytes: Buffer.alloc(0), synced: Buffer.alloc(0) });
    return this.#handle(name);
  }

  async open(name: string): Promise<WalFile> {
    this.#file(name);
    return this.#handle(name);
  }

  async remove(name: string): Promise<void> {
    this.#files.delete(name);
  }

  async syncDirectory(): Promise<void> {
    this.#durable = new Map(this.#files);
  }

  #handle(name: string): WalFile {
    const file = this.#file(name);
    const handle: WalFile = {
      write: async (buffers, position) => {
        const added = Buffer.concat(buffers);
        this.beforeWrite(added.length);
        const grown = Buffer.alloc(Math.max(file.bytes.length, position + added.length));
        file.bytes.copy(grown);
        added.copy(grown, position);
        file.bytes = grown;
      },
      writeDurably: async (buffers, position) => {
        await handle.write(buffers, position);
        await handle.sync();
      },
      read: async (position, length) => Buffer.from(file.bytes.subarray(position, position + length)),
      truncate: async (length) => {
        file.bytes = file.bytes.subarray(0, length);
      },
      sync: async () => {
        this.beforeSync();
        this.syncs += 1;
        file.synced = Buffer.from(file.bytes);
      },
      close: async () => {},
    };
    return handle;
  }

  #file(name: string): { bytes: Buffer; synced: Buffer } {
    const file = this.#files.get(name);
    if (file === undefined) throw new Error(`ENOENT: ${name}`);
    return file;
  }
}
