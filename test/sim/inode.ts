import type { Random } from '../support/lib/random.ts';

/** The unit that a disk writes whole or not at all. */
const sectorBytes = 512;

/**
 * A file's contents, twice: as the process reads them (the page cache), and as they are on the disk.
 *
 * - A written sector is dirty until a sync. Until then a power cut may keep it or not, each by itself.
 * - A failed sync may leave a sector clean that never reached the disk; no later sync writes it (as Linux
 *   does). Others it may have written.
 */
export class Inode {
  #cache: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #durable: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  readonly #dirty = new Set<number>();

  get contents(): Buffer {
    return this.#cache;
  }

  get size(): number {
    return this.#cache.length;
  }

  /** Whether a power cut could take something away. */
  get isDirty(): boolean {
    return this.#dirty.size > 0 || this.#cache.length !== this.#durable.length;
  }

  /** Whether the disk has what a reader sees, which after a failed sync is more than not being dirty. */
  get isDurable(): boolean {
    return this.#cache.equals(this.#durable);
  }

  read(position: number, length: number): Buffer {
    return Buffer.from(this.#cache.subarray(position, position + length));
  }

  write(bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return;
    this.#cache = resized(this.#cache, Math.max(this.#cache.length, position + bytes.length));
    this.#cache.set(bytes, position);
    const last = Math.floor((position + bytes.length - 1) / sectorBytes);
    for (let sector = Math.floor(position / sectorBytes); sector <= last; sector += 1)
      this.#dirty.add(sector);
  }

  truncate(length: number): void {
    this.#cache = resized(this.#cache, length);
    const first = Math.ceil(length / sectorBytes);
    for (const sector of this.#dirty) if (sector >= first) this.#dirty.delete(sector);
    // The kernel zeroes the rest of the sector in which the file ends now.
    if (length % sectorBytes !== 0) this.#dirty.add(first - 1);
  }

  sync(): void {
    this.#durable = resized(this.#durable, this.#cache.length);
    for (const sector of this.#dirty) copySector(this.#cache, this.#durable, sector);
    this.#dirty.clear();
  }

  /**
   * Of what was to be written, some or all is forgotten, some may be on the disk; the page cache looks as
   * before.
   */
  failSync(random: Random): void {
    const all = random.chance(0.5);
    for (const sector of this.#dirty) {
      const forgotten = all || random.chance(0.5);
      if (!forgotten && random.chance(0.5)) continue;
      this.#dirty.delete(sector);
      if (!forgotten) this.#writeBack(sector);
    }
  }

  #writeBack(sector: number): void {
    const end = Math.min(this.#cache.length, (sector + 1) * sectorBytes);
    if (end > this.#durable.length) this.#durable = resized(this.#durable, end);
    copySector(this.#cache, this.#durable, sector);
  }

  /**
   * Only what the disk has is left: all that was synced, and of the rest whatever got there by then. Behind
   * the durable end the file may hold zeros or what `stale` had in those places: blocks of deleted files.
   */
  cutPower(random: Random, stale: Buffer | undefined): void {
    const old = this.#durable;
    const image = resized(old, this.#sizeAfterCut(random));
    const keepChance = [0, 0.2, 0.5, 0.9][random.integer(0, 3)] ?? 0;
    const showsStale = random.chance(0.5);
    for (let sector = 0; sector * sectorBytes < image.length; sector += 1) {
      if (this.#dirty.has(sector) && random.chance(keepChance)) copySector(this.#cache, image, sector);
      else if (showsStale && stale !== undefined && sector * sectorBytes >= old.length) {
        copySector(stale, image, sector);
      }
    }
    this.#cache = image;
    this.#durable = Buffer.from(image);
    this.#dirty.clear();
  }

  /** The length is written apart from the contents. */
  #sizeAfterCut(random: Random): number {
    const [low, high] = [this.#durable.length, this.#cache.length].sort((a, b) => a - b);
    const sizes = [low, random.integer(low ?? 0, high ?? 0), high, high];
    return sizes[random.integer(0, 3)] ?? 0;
  }
}

/** A copy, cut or filled with zeros. */
function resized(bytes: Buffer, length: number): Buffer {
  const copy = Buffer.alloc(length);
  bytes.copy(copy, 0, 0, length);
  return copy;
}

function copySector(from: Buffer, to: Buffer, sector: number): void {
  const start = sector * sectorBytes;
  to.set(from.subarray(start, Math.min(start + sectorBytes, to.length)), start);
}
