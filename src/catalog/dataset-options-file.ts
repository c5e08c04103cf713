import { readIfThere, replaceFile } from '../lib/files.ts';
import type { Logger } from '../lib/log.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { DatasetOptions } from '../model/dataset-options.ts';

/** The options with which a dataset was created. */
export interface DatasetWithOptions {
  readonly tenant: string;
  readonly id: string;
  readonly options: DatasetOptions;
}

/**
 * The options of datasets as this node last read them from the metadata log, in a file. If the store is away
 * at a start, the file is used until the store was read. It holds only datasets that have options. A write
 * that fails is repeated with the next change. A file that cannot be parsed is ignored.
 */
export class DatasetOptionsFile {
  readonly #file: string;
  readonly #log: Logger;
  /** By tenant and id, as an earlier process wrote them. */
  readonly #known: ReadonlyMap<string, DatasetWithOptions>;
  #written: string | undefined;
  readonly #turns = new Semaphore(1);

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
      log.error({ err: error, file }, 'could not read the file of dataset options; the store has them too');
      return new DatasetOptionsFile(file, log, []);
    }
  }

  /** The datasets that an earlier process wrote. */
  get datasets(): Iterable<DatasetWithOptions> {
    return this.#known.values();
  }

  /** The options that an earlier process wrote. */
  of(tenant: string, id: string): DatasetOptions | undefined {
    return this.#known.get(keyOf(tenant, id))?.options;
  }

  /** Writes the current options, unless the file has them already. Never rejects. */
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
      this.#log.warn({ err: error, file: this.#file }, 'could not write the file of dataset options');
    }
  }
}

const keyOf = (tenant: string, id: string): string => `${tenant}/${id}`;
