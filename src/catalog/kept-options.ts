import { readIfThere, replaceFile } from '../lib/files.ts';
import type { Logger } from '../lib/log.ts';
import { Slots } from '../lib/slots.ts';
import type { DatasetOptions } from '../model/dataset-options.ts';

/** How a dataset was made. */
export interface KeptDataset {
  readonly tenant: string;
  readonly id: string;
  readonly options: DatasetOptions;
}

/**
 * How datasets were made, as this node read it last from the metadata log, in a file of its own: a start while the store
 * is away goes by it until the store was read. Only datasets with options are in it. A file that cannot be written
 * is tried again with the next change that is read; one that cannot be understood is like none.
 */
export class KeptOptions {
  readonly #file: string;
  readonly #log: Logger;
  /** By tenant and id; of an earlier life. */
  readonly #known: ReadonlyMap<string, KeptDataset>;
  #written: string | undefined;
  readonly #turns = new Slots(1);

  private constructor(file: string, log: Logger, known: readonly KeptDataset[]) {
    this.#file = file;
    this.#log = log;
    this.#known = new Map(known.map((dataset) => [keyOf(dataset.tenant, dataset.id), dataset]));
  }

  static async open(file: string, log: Logger): Promise<KeptOptions> {
    const text = await readIfThere(file);
    try {
      const { datasets } = JSON.parse(text ?? '{"datasets":[]}') as { datasets: readonly KeptDataset[] };
      return new KeptOptions(file, log, datasets);
    } catch (error) {
      log.error({ err: error, file }, 'how datasets were made cannot be read; the store knows it');
      return new KeptOptions(file, log, []);
    }
  }

  /** What an earlier life has left. */
  get datasets(): Iterable<KeptDataset> {
    return this.#known.values();
  }

  /** As an earlier life has left it. */
  of(tenant: string, id: string): DatasetOptions | undefined {
    return this.#known.get(keyOf(tenant, id))?.options;
  }

  /** Writes what is true now, unless the file says so. Never rejects. */
  async keep(datasets: readonly KeptDataset[]): Promise<void> {
    const text = `${JSON.stringify({ datasets })}\n`;
    await this.#turns.run(() => this.#write(text));
  }

  async #write(text: string): Promise<void> {
    if (text === this.#written) return;
    try {
      await replaceFile(this.#file, text, 0o600);
      this.#written = text;
    } catch (error) {
      this.#log.warn({ err: error, file: this.#file }, 'how datasets were made could not be written down');
    }
  }
}

const keyOf = (tenant: string, id: string): string => `${tenant}/${id}`;
