import type { BodyFormat, DecodedBody } from '../decode/task.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { TableBlock } from '../model/block.ts';
import type { ColumnSpec } from '../model/column.ts';
import type { RefusedPart } from '../model/counts.ts';
import type { DatasetKind } from '../model/dataset.ts';
import { type DatasetOptions, sameOptions } from '../model/dataset-options.ts';
import type { RequestIdentity } from '../model/replay.ts';
import type { TenantLimits } from '../model/tenant-limits.ts';
import type { Catalog } from '../store/catalog.ts';
import type { DiskGuard } from '../wal/disk-guard.ts';
import type { WalRecord } from '../wal/record.ts';
import type { Wal } from '../wal/writer.ts';
import type { Admission } from './admission.ts';
import type { DecodePool } from './decode-pool.ts';
import type { IngestRates } from './ingest-rates.ts';
import type { ReplayWindow } from './replay-window.ts';
import type { Acknowledgement, Ingest, IngestRequest, Reserve, SampleEvents } from './request.ts';
import type { RequestIdentifier } from './request-identity.ts';

const kindOfFormat = {
  json: 'events',
  ndjson: 'events',
  'remote-write-1': 'metrics',
  'remote-write-2': 'metrics',
  'otlp-logs-json': 'logs',
  'otlp-logs-protobuf': 'logs',
  'otlp-traces-json': 'traces',
  'otlp-traces-protobuf': 'traces',
  'otlp-metrics-json': 'metrics',
  'otlp-metrics-protobuf': 'metrics',
} as const satisfies Record<BodyFormat, DatasetKind>;

/** What has a counter; most requests hold one kind, and counting nothing costs as much as counting. */
const counted = ['events', 'logs', 'spans', 'samples', 'histograms', 'exemplars'] as const;

export interface IngestOptions {
  readonly admission: Admission;
  readonly rates: IngestRates;
  readonly catalog: Catalog;
  readonly decoders: Pick<DecodePool, 'decode' | 'overflow' | 'outcomes'>;
  readonly wal: Wal;
  readonly disk: Pick<DiskGuard, 'check'>;
  readonly identifier: RequestIdentifier;
  readonly replays: ReplayWindow;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly maxBodyBytes: number;
  readonly limitsOf: (tenant: string) => Pick<TenantLimits, 'maxEventBytes'>;
}

/** A request whose dataset is an id. */
interface PlacedRequest extends IngestRequest {
  /** Whether the id is presumed. */
  readonly presumed: true | undefined;
  /** How the dataset was made, as far as that is known. */
  readonly options: DatasetOptions | undefined;
}

/** The write path: decode, claim the dataset, append to the log, acknowledge. Nothing else is on it. */
export class IngestService implements Ingest {
  readonly #options: IngestOptions;

  constructor(options: IngestOptions) {
    this.#options = options;
  }

  admit(tenant: string, dataset: string): Reserve {
    const { rates, disk, wal, admission } = this.#options;
    rates.check(tenant, dataset);
    return (bytes) => {
      disk.check();
      wal.checkRoom();
      const reservation = admission.reserve(tenant, bytes);
      rates.take(tenant, dataset, bytes);
      return reservation;
    };
  }

  async write(asked: IngestRequest): Promise<Acknowledgement> {
    const { catalog, identifier, replays } = this.#options;
    const { tenant, dataset: name } = asked;
    // Once, so that what it becomes under way belongs together: series that are stored already, memory, record.
    const dataset = catalog.idOf(tenant, name);
    const options = catalog.optionsOf(tenant, dataset);
    const presumed = catalog.loaded ? undefined : true;
    // No new field behind the copy, here and below: V8 takes two microseconds for it.
    const request = { options, presumed, ...asked, dataset } as const;
    catalog.checkKind(tenant, dataset, kindOfFormat[request.format]);
    if (request.mustExist && catalog.get(tenant, name) === undefined) {
      throw new AppError(
        'dataset_not_found',
        `there is no dataset ${name}; POST /api/v1/ingest with the header X-P-Stream: ${name} makes it`,
      );
    }
    const identity = identifier.identify(request);
    if (identity === undefined) return { replayed: false, ...(await this.#store(request, undefined)) };
    let refused: RefusedPart | undefined;
    const { counts, replayed } = await replays.once(tenant, dataset, identity, async () => {
      const stored = await this.#store(request, identity);
      refused = stored.refused;
      return stored.counts;
    });
    // What was refused is not remembered, since it may be long; the same body has the same problems.
    if (replayed && counts.problems > 0) {
      refused = (await this.#decode(request, this.#options.clock.nowMicros())).refused;
    }
    return { counts, refused, replayed };
  }

  async columnsOf(events: SampleEvents): Promise<readonly ColumnSpec[]> {
    const request = { ...events, dataset: '', mustExist: false, presumed: undefined, options: undefined };
    const { blocks } = await this.#decode(request, this.#options.clock.nowMicros());
    return columnsOf(blocks);
  }

  async #store(
    request: PlacedRequest,
    identity: RequestIdentity | undefined,
  ): Promise<Omit<Acknowledgement, 'replayed'>> {
    const { decoders, clock, metrics } = this.#options;
    const { tenant, dataset, options, presumed, format } = request;
    const receivedMicros = clock.nowMicros();
    // Before the body moves to a worker.
    const received = { micros: receivedMicros, bytes: request.body.byteLength };
    const { blocks, counts, refused, sequence } = await this.#decode(request, receivedMicros);
    if (blocks.length > 0) {
      const stored = identity === undefined ? undefined : { receivedMicros, counts, ...identity };
      const kind = kindOfFormat[format];
      const record = { tenant, dataset, kind, presumed, request: stored, received, blocks };
      await this.#commit(record, options);
      decoders.outcomes.commit(sequence);
    }
    for (const kind of counted) if (counts[kind] > 0) metrics[kind].inc(counts[kind]);
    return { counts, refused };
  }

  /** @throws AppError when nothing of the body can be stored */
  async #decode(
    request: PlacedRequest,
    receivedMicros: number,
  ): Promise<DecodedBody & { readonly sequence: number }> {
    const { decoders, maxBodyBytes, limitsOf, log } = this.#options;
    const { tenant, dataset, format, encoding, body, options, labels } = request;
    const { result, sequence } = await decoders.decode({
      tenant,
      dataset,
      format,
      encoding,
      body,
      receivedMicros,
      maxDecodedBytes: maxBodyBytes,
      maxEventBytes: limitsOf(tenant).maxEventBytes,
      events: options === undefined && labels === undefined ? undefined : { ...options, labels },
    });
    if (!result.ok) {
      if (result.stack !== undefined)
        log.error({ tenant, dataset, format, stack: result.stack }, 'a decoder failed');
      throw new AppError(result.code, result.message);
    }
    return { sequence, ...result };
  }

  /** @param options of the dataset, by which the record was decoded */
  async #commit(decoded: WalRecord, options: DatasetOptions | undefined): Promise<void> {
    const { catalog, decoders, wal, replays } = this.#options;
    const { tenant, dataset, kind, request } = decoded;
    let { blocks } = decoded;
    let moved = noColumns;
    // Other requests may take room while columns are moved.
    for (let excess = this.#excess(decoded); !sameNames(excess, moved); excess = this.#excess(decoded)) {
      moved = excess;
      blocks = await decoders.overflow(decoded.blocks, excess);
    }
    if (!sameOptions(options, catalog.optionsOf(tenant, dataset))) {
      throw new AppError('dataset_changed', 'the dataset was made while this request was under way');
    }
    const claim = catalog.claim(tenant, dataset, kind, columnsOf(blocks));
    try {
      await wal.append({ ...decoded, blocks });
    } catch (error) {
      claim.release();
      throw error;
    }
    claim.confirm();
    if (request !== undefined) replays.remember(tenant, dataset, request);
  }

  /** The columns for which the dataset has no room at this moment. */
  #excess({ tenant, dataset, kind, blocks }: WalRecord): ReadonlySet<string> {
    if (kind !== 'events') return noColumns;
    return this.#options.catalog.excess(tenant, dataset, columnsOf(blocks));
  }
}

const noColumns: ReadonlySet<string> = new Set();

const sameNames = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((name) => other.has(name));

const columnsOf = (blocks: readonly TableBlock[]): readonly ColumnSpec[] => {
  const [only] = blocks;
  return only !== undefined && blocks.length === 1 ? only.columns : blocks.flatMap((block) => block.columns);
};
