import type { BodyFormat } from '../decode/task.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { TableBlock } from '../model/block.ts';
import type { ColumnSpec } from '../model/column.ts';
import type { DatasetKind } from '../model/dataset.ts';
import type { Catalog } from '../store/catalog.ts';
import type { Wal } from '../wal/writer.ts';
import type { Admission } from './admission.ts';
import type { DecodePool } from './decode-pool.ts';
import type { Acknowledgement, Ingest, IngestRequest, Reservation } from './request.ts';

const kindOfFormat = {
  json: 'events',
  ndjson: 'events',
  'remote-write-1': 'metrics',
  'remote-write-2': 'metrics',
} as const satisfies Record<BodyFormat, DatasetKind>;

export interface IngestOptions {
  readonly admission: Admission;
  readonly catalog: Catalog;
  readonly decoders: DecodePool;
  readonly wal: Wal;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly maxBodyBytes: number;
}

/** The write path: decode, claim the dataset, append to the log, acknowledge. Nothing else is on it. */
export class IngestService implements Ingest {
  readonly #options: IngestOptions;

  constructor(options: IngestOptions) {
    this.#options = options;
  }

  reserve(bodyBytes: number): Reservation {
    this.#options.wal.checkRoom();
    return this.#options.admission.reserve(bodyBytes);
  }

  async write(request: IngestRequest): Promise<Acknowledgement> {
    const { catalog, decoders, clock, maxBodyBytes, metrics, log } = this.#options;
    const { tenant, dataset, format, encoding, body } = request;
    const kind = kindOfFormat[format];
    catalog.checkKind(tenant, dataset, kind);
    if (request.mustExist && catalog.get(tenant, dataset) === undefined) {
      throw new AppError(
        'dataset_not_found',
        `there is no dataset ${dataset}; POST /api/v1/ingest with the header X-P-Stream: ${dataset} makes it`,
      );
    }
    const { result, sequence } = await decoders.decode({
      tenant,
      dataset,
      format,
      encoding,
      body,
      receivedMicros: clock.nowMicros(),
      maxDecodedBytes: maxBodyBytes,
    });
    if (!result.ok) {
      if (result.stack !== undefined) log.error({ dataset, format, stack: result.stack }, 'a decoder failed');
      throw new AppError(result.code, result.message);
    }
    if (result.blocks.length > 0) {
      await this.#commit(tenant, dataset, kind, result.blocks);
      decoders.outcomes.commit(sequence);
    }
    const { counts, refused } = result;
    metrics.events.inc(counts.events);
    metrics.samples.inc(counts.samples);
    metrics.histograms.inc(counts.histograms);
    metrics.exemplars.inc(counts.exemplars);
    return { counts, refused };
  }

  async #commit(
    tenant: string,
    dataset: string,
    kind: DatasetKind,
    blocks: readonly TableBlock[],
  ): Promise<void> {
    const claim = this.#options.catalog.claim(tenant, dataset, kind, columnsOf(blocks));
    try {
      await this.#options.wal.append({ tenant, dataset, kind, blocks });
    } catch (error) {
      claim.release();
      throw error;
    }
    claim.confirm();
  }
}

const columnsOf = (blocks: readonly TableBlock[]): readonly ColumnSpec[] => {
  const [only] = blocks;
  return only !== undefined && blocks.length === 1 ? only.columns : blocks.flatMap((block) => block.columns);
};
