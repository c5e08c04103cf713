import { AppError } from '../../src/errors.ts';
import { type ColumnSpec, eventTimeColumn } from '../../src/model/column.ts';
import { databaseOf, defaultTenant, physicalTable, type TableName } from '../../src/model/dataset.ts';
import { encodeRecord, placeRecord, type WalRecord } from '../../src/wal/record.ts';
import type { Random } from '../support/lib/random.ts';
import type { SentRequest } from './ledger.ts';
import type { Life } from './life.ts';
import { encodeRows, type Row } from './simulated-rows.ts';
import type { World } from './world.ts';

const tenant = defaultTenant;
/** A row of a record that was never sent; only bytes inside another record say so. */
const forgedId = 4_000_000_000;

/** One sender: sends, waits for the answer, sends the next. Ends after `requests` answers. */
export async function runClient(world: World, life: Life, client: number, requests: number): Promise<void> {
  const { random } = world.scheduler;
  for (let count = 0; count < requests; count += 1) {
    await life.process.wait(random.integer(0, life.pauseMs));
    if (random.chance(0.02)) await endDataset(world, life);
    const { name, ...record } = randomRecord(world, life);
    const { dataset, presumed = false } = record;
    const rows = rowsOf(record.blocks, dataset);
    const request = world.ledger.sent({ client, dataset: name, presumed, rows });
    world.trace(() => `client ${client} sends ${describe(request)} to ${record.dataset} (${record.kind})`);
    try {
      await commit(life, record);
    } catch (error) {
      // Anything but a coded refusal is a bug, and ends the run.
      if (!(error instanceof AppError)) throw error;
      request.outcome = 'refused';
      world.trace(() => `client ${client} is refused ${describe(request)}: ${error.code}`);
      await life.process.wait(random.integer(0, 2000));
      continue;
    }
    request.outcome = 'acknowledged';
    world.trace(() => `client ${client} has ${describe(request)} acknowledged`);
    if (random.chance(0.2)) await readBack(world, life, request);
  }
}

/** As `IngestService` does it once a request is decoded. */
async function commit({ catalog, wal }: Life, record: WalRecord): Promise<void> {
  const columns = record.blocks.flatMap((block) => block.columns);
  const claim = catalog.claim(tenant, record.dataset, record.kind, columns);
  try {
    await wal.append(record);
  } catch (error) {
    claim.release();
    throw error;
  }
  claim.confirm();
}

/** Somebody deletes a dataset, if there is one of that name. What was sent to it until then may go. */
async function endDataset(world: World, life: Life): Promise<void> {
  const name = randomName(world.scheduler.random);
  world.trace(() => `${name} is to be deleted`);
  const ending = world.ledger.ending(name);
  try {
    await life.catalog.end(tenant, name);
    world.trace(() => `${name} was deleted`);
    world.ledger.ended(ending);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    world.trace(() => `${name} may not have been deleted: ${error.code}`);
    // Without an answer of the store it may still show, to this life of the service, that it was.
    if (error.code === 'dataset_not_found') world.ledger.over(ending);
  }
}

/** A reader that waits for what was acknowledged must find it. */
async function readBack(world: World, life: Life, request: SentRequest): Promise<void> {
  const { wal, drain } = life;
  await life.process.delay();
  const newest = wal.newestPending;
  if (newest !== undefined) await drain.drained(newest);
  for (const id of [...request.rows.values()].flat()) {
    if (!request.mayBeGone && !world.store.isStored(id))
      world.violate(`row ${id} was called stored and is not in the store`);
  }
}

/** A varying number of tables, in the order in which the drain inserts them. */
const tablesUsed = { events: ['events'], metrics: ['series', 'samples'] } as const;

interface RandomBlock {
  readonly table: TableName;
  readonly rows: number;
  readonly columns: readonly ColumnSpec[];
  readonly bytes: Uint8Array;
  readonly content: readonly Row[];
}

const datasets = 5;

const randomName = (random: Random): string => `d${random.integer(0, datasets - 1)}`;

interface RandomRecord extends WalRecord {
  /** Of the dataset, as its sender knows it. */
  readonly name: string;
  readonly blocks: readonly RandomBlock[];
}

function randomRecord(world: World, { catalog }: Life): RandomRecord {
  const { random } = world.scheduler;
  const name = randomName(random);
  // Mostly each dataset keeps to its kind; now and then two senders disagree about a new one.
  const events = random.chance(0.05) ? random.chance(0.5) : Number(name.slice(1)) % 2 === 0;
  const kind = events ? 'events' : 'metrics';
  const blocks = tablesUsed[kind].map((table) => {
    const content = Array.from({ length: random.integer(1, 4) }, () => ({
      id: world.ledger.nextId(),
      day: random.integer(1, 3),
    }));
    const bytes = encodeRows(content, randomPadding(random));
    const columns = kind === 'events' ? eventColumns(random) : metricColumns;
    return { table, rows: content.length, columns, bytes, content };
  });
  const presumed = catalog.loaded ? undefined : true;
  return { tenant, name, dataset: catalog.idOf(tenant, name), presumed, kind, blocks };
}

const eventColumns = (random: Random): readonly ColumnSpec[] => {
  const fields = Array.from({ length: 6 }, (_, field) => `f${field}:num`).filter(() => random.chance(0.3));
  return [eventTimeColumn, ...fields.map((name) => ({ name, type: 'Nullable(Float64)' }))];
};

const metricColumns: readonly ColumnSpec[] = [{ name: 'series_id', type: 'UInt64' }];

/** A few bytes, several sectors, or bytes that a reader of the log could mistake for a record. */
function randomPadding(random: Random): Uint8Array {
  if (random.chance(0.1)) return forgedRecord();
  return Buffer.alloc(random.chance(0.3) ? random.integer(0, 2000) : random.integer(0, 40), 0x78);
}

/** A whole record, but for another position. */
function forgedRecord(): Uint8Array {
  const rows = [{ id: forgedId, day: 1 }];
  const bytes = encodeRows(rows, Buffer.alloc(0));
  const block = { table: 'events', rows: 1, columns: [eventTimeColumn], bytes } as const;
  const record = encodeRecord({ tenant, dataset: 'd0', kind: 'events', blocks: [block] });
  placeRecord(record, { segment: 0, position: 0 });
  return Buffer.concat(record.buffers);
}

const rowsOf = (blocks: readonly RandomBlock[], dataset: string): ReadonlyMap<string, readonly number[]> =>
  new Map(
    blocks.map(({ table, content }) => [
      `${databaseOf(tenant)}.${physicalTable(dataset, table)}`,
      content.map(({ id }) => id),
    ]),
  );

const describe = (request: SentRequest): string => `rows ${[...request.rows.values()].flat().join(',')}`;
