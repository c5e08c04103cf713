import type { Catalog } from '../catalog/catalog.ts';
import type { BodyFormat } from '../decode/task.ts';
import { AppError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { quotedName } from '../lib/credential-shape.ts';
import type { Logger } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { TableBlock } from '../model/block.ts';
import type { ColumnSpec } from '../model/column.ts';
import type { DecodeCounts, RefusedPart } from '../model/counts.ts';
import type { DatasetKind } from '../model/dataset.ts';
import { type DatasetOptions, sameOptions } from '../model/dataset-options.ts';
import type { RequestIdentity, StoredRequest } from '../model/replay.ts';
import { type LimitsInForce, limitDetails } from '../model/tenant-limits.ts';
import type { DiskGuard } from '../wal/disk-guard.ts';
import type { WalRecord } from '../wal/record.ts';
import type { Wal } from '../wal/wal.ts';
import type { Admission } from './admission.ts';
import type { Decoded, DecodePool } from './decode-pool.ts';
import type { IngestRateLimiter } from './ingest-rate-limiter.ts';
import type { Acknowledgement, Ingest, IngestRequest, Reserve, SampleEvents } from './ingest-request.ts';
import type { ReplayWindow } from './replay-window.ts';
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

export interface IngestOptions {
  readonly admission: Admission;
  readonly rates: IngestRateLimiter;
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
}

/** The decoded body, and the number under which its outcome is reported. */
interface NumberedBody {
  readonly blocks: readonly TableBlock[];
  readonly counts: DecodeCounts;
  readonly refused: RefusedPart | undefined;
  readonly sequence: number;
  /** Called when the blocks are no longer needed. */
  readonly release: () => void;
}

/** A request whose dataset name has been resolved to an id. */
interface PlacedRequest extends IngestRequest {
  /** Whether the id is presumed: the store has not been read yet. */
  readonly presumed: true | undefined;
  /** The options of the dataset, as far as they are known. */
  readonly options: DatasetOptions | undefined;
  /** The limits that apply to the dataset. */
  readonly inForce: LimitsInForce;
}

/** The write path: decode, claim the dataset, append to the log, acknowledge. */
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
    const { identifier, replays, clock } = this.#options;
    const request = this.#place(asked);
    const identity = identifier.identify(request);
    if (identity === undefined) return this.#store(request, undefined);
    const { tenant, dataset } = request;
    const done = await replays.once(tenant, dataset, identity, () => this.#store(request, identity));
    if (!done.replayed || done.counts.problems === 0) return done;
    // Refused parts can be long, so they are not remembered. The same body yields the same problems again.
    const { refused, release } = await this.#decode(request, clock.nowMicros());
    release();
    return { counts: done.counts, refused, replayed: true };
  }

  /** @throws AppError `kind_conflict`, `dataset_not_found` */
  #place(asked: IngestRequest): PlacedRequest {
    const { catalog } = this.#options;
    const {
      tenant,
      dataset: name,
      format,
      encoding,
      body,
      mustExist,
      idempotencyKey,
      labels,
      origin,
    } = asked;
    // The name is resolved once, so that cached series, memory and the record all use the same id.
    const dataset = catalog.idOf(tenant, name);
    const options = catalog.optionsOf(tenant, dataset);
    const inForce = catalog.limitsOf(tenant, name);
    const presumed = catalog.loaded ? undefined : true;
    catalog.checkKind(tenant, dataset, kindOfFormat[format]);
    if (mustExist && catalog.get(tenant, name) === undefined) {
      throw new AppError(
        'dataset_not_found',
        `there is no dataset ${quotedName(name)}; POST /api/v1/ingest with its name in the header X-P-Stream creates it`,
      );
    }
    // Members are listed by name, here and below: a spread costs V8 microseconds.
    return {
      tenant,
      dataset,
      format,
      encoding,
      body,
      mustExist,
      idempotencyKey,
      labels,
      origin,
      presumed,
      options,
      inForce,
    };
  }

  async columnsOf(events: SampleEvents): Promise<readonly ColumnSpec[]> {
    const { catalog, clock } = this.#options;
    const inForce = catalog.limitsOf(events.tenant, '');
    const placed = { dataset: '', mustExist: false, presumed: undefined, options: undefined, inForce };
    const { blocks, release } = await this.#decode({ ...events, ...placed }, clock.nowMicros());
    release();
    return columnsOf(blocks);
  }

  async #store(request: PlacedRequest, identity: RequestIdentity | undefined): Promise<Acknowledgement> {
    const { decoders, clock } = this.#options;
    const { tenant, dataset, options, presumed, format } = request;
    const receivedMicros = clock.nowMicros();
    // Read before the body moves to a worker.
    const received = { micros: receivedMicros, bytes: request.body.byteLength };
    const decoded = this.#decode(request, receivedMicros);
    // If the body was decoded in this thread, it goes to the log in the same turn of the event loop.
    const { blocks, counts, refused, sequence, release } =
      decoded instanceof Promise ? await decoded : decoded;
    try {
      if (blocks.length > 0) {
        const stored = identity === undefined ? undefined : storedRequest(identity, receivedMicros, counts);
        const kind = kindOfFormat[format];
        const record = { tenant, dataset, kind, presumed, request: stored, received, blocks };
        await this.#commit(record, options);
        decoders.outcomes.commit(sequence);
      }
    } finally {
      release();
    }
    count(this.#options.metrics, counts);
    return { counts, refused, replayed: false };
  }

  /** @throws AppError if nothing of the body can be stored */
  #decode(request: PlacedRequest, receivedMicros: number): NumberedBody | Promise<NumberedBody> {
    const { decoders, maxBodyBytes } = this.#options;
    const { tenant, dataset, format, encoding, body, options, inForce, labels, origin } = request;
    const decoded = decoders.decode({
      tenant,
      dataset,
      format,
      encoding,
      body,
      receivedMicros,
      maxDecodedBytes: maxBodyBytes,
      maxEventBytes: inForce.maxEventBytes,
      events: options === undefined && labels === undefined ? undefined : { ...options, labels },
      origin,
    });
    return decoded instanceof Promise
      ? decoded.then((each) => this.#requireBody(request, each))
      : this.#requireBody(request, decoded);
  }

  #requireBody(
    { tenant, dataset, format, inForce }: PlacedRequest,
    { result, sequence, release }: Decoded,
  ): NumberedBody {
    if (!result.ok) {
      if (result.stack !== undefined) {
        this.#options.log.error({ tenant, dataset, format, stack: result.stack }, 'a decoder failed');
      }
      const met = result.code === 'event_too_large' ? limitDetails('maxEventBytes', inForce) : {};
      throw new AppError(result.code, result.message, { details: met });
    }
    const { blocks, counts, refused } = result;
    return { blocks, counts, refused, sequence, release };
  }

  /** @param options of the dataset, with which the record was decoded */
  async #commit(decoded: WalRecord, options: DatasetOptions | undefined): Promise<void> {
    const { catalog, decoders, wal, replays } = this.#options;
    const { tenant, dataset, kind, request } = decoded;
    let record = decoded;
    let moved = noColumns;
    // While columns are moved, other requests may use up the room for further columns.
    for (let excess = this.#excess(decoded); !sameNames(excess, moved); excess = this.#excess(decoded)) {
      moved = excess;
      record = { ...decoded, blocks: await decoders.overflow(tenant, decoded.blocks, excess) };
    }
    if (!sameOptions(options, catalog.optionsOf(tenant, dataset))) {
      throw new AppError('dataset_changed', 'the dataset was created while this request was in progress');
    }
    const claim = catalog.claim(tenant, dataset, kind, columnsOf(record.blocks));
    try {
      await wal.append(record);
    } catch (error) {
      claim.release();
      throw error;
    }
    claim.confirm();
    if (request !== undefined) replays.remember(tenant, dataset, request);
  }

  /** The columns for which the dataset has no room right now. */
  #excess({ tenant, dataset, kind, blocks }: WalRecord): ReadonlySet<string> {
    if (kind !== 'events') return noColumns;
    return this.#options.catalog.excess(tenant, dataset, columnsOf(blocks));
  }
}

const storedRequest = (
  { name, body }: RequestIdentity,
  receivedMicros: number,
  counts: DecodeCounts,
): StoredRequest =>
  body === undefined ? { receivedMicros, counts, name } : { receivedMicros, counts, name, body };

/** Adds to the counters of acknowledged rows. */
function count(metrics: Metrics, counts: DecodeCounts): void {
  metrics.events.inc(counts.events);
  metrics.logs.inc(counts.logs);
  metrics.spans.inc(counts.spans);
  metrics.samples.inc(counts.samples);
  metrics.histograms.inc(counts.histograms);
  metrics.exemplars.inc(counts.exemplars);
}

const noColumns: ReadonlySet<string> = new Set();

const sameNames = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one === other || (one.size === other.size && [...one].every((name) => other.has(name)));

const columnsOf = (blocks: readonly TableBlock[]): readonly ColumnSpec[] => {
  const [only] = blocks;
  return only !== undefined && blocks.length === 1 ? only.columns : blocks.flatMap((block) => block.columns);
};
