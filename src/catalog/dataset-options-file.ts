import { readIfThere, replaceFile } from '../lib/files.ts';
import type { Logger } from '../lib/log.ts';
import { Slots } from '../lib/slots.ts';
import type { DatasetOptions } from '../model/dataset-options.ts';

/** How a dataset was made. */
export interface DatasetWithOptions {
  readonly tenant: string;
  readonly id: string;
  readonly options: DatasetOptions;
}

/**
 * How datasets were made, as this node read it last from the metadata log, in a file of its own: a start while the store
 * is away goes by it until the store was read. Only datasets with options are in it. A file that cannot be written
 * is tried again with the next change that is read; one that cannot be understood is like none.
 */
export class DatasetOptionsFile {
  readonly #file: string;
  readonly #log: Logger;
  /** By tenant and id; of an earlier life. */
  readonly #known: ReadonlyMap<string, DatasetWithOptions>;
  #written: string | undefined;
  readonly #turns = new Slots(1);

  private constructor(file: string, log: Logger, known: readonly DatasetWithOptions[]) {
    this.#file = file;
    this.#log = log;
    this.#known = new Map(known.map((dataset) => [keyOf(dataset.tenant, dataset.id), dataset]));
  }

  static async open(file: string, log: Logger): Promise<DatasetOptionsFile> {
    const text = await readIfThere(file);
    try {
      const { datasets } = JSON.parse(text ?? '{"datasets":[]}') as {
        datasets: readonly DatasetWithOptions[];
      };
      return new DatasetOptionsFile(file, log, datasets);
    } catch (error) {
      log.error({ err: error, file }, 'how datasets were made cannot be read; the store knows it');
      return new DatasetOptionsFile(file, log, []);
    }
  }

  /** What an earlier life has left. */
  get datasets(): Iterable<DatasetWithOptions> {
    return this.#known.values();
  }

  /** As an earlier life has left it. */
  of(tenant: string, id: string): DatasetOptions | undefined {
    return this.#known.get(keyOf(tenant, id))?.options;
  }

  /** Writes what is true now, unless the file says so. Never rejects. */
  async keep(datasets: readonly DatasetWithOptions[]): Promise<void> {
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
