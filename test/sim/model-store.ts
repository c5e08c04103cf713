import { crc32 } from 'node:zlib';
import type { InsertBatch, Store } from '../../src/clickhouse/store.ts';
import { StoreError } from '../../src/clickhouse/store-error.ts';
import type { Faults } from './faults.ts';
import { ModelEngine } from './model-engine.ts';
import type { ModelTable, Part } from './model-table.ts';
import type { Scheduler, SimProcess } from './scheduler.ts';
import { decodeRows, type Row } from './simulated-rows.ts';

/** Codes that a failing ClickHouse answers with; undefined: the connection broke. */
const failureCodes = [undefined, 159, 202, 241, 243, 252, 319, 999] as const;

const tooManyParts = 252;

/**
 * ClickHouse as far as the drain and the catalog can tell. It outlives the processes that use it. It loses
 * replies, fails between two parts, answers late or too late, is away for a while; every one of its failures
 * passes.
 *
 * An embedded store dies with its process. A remote one goes on with an insert whose sender is gone, and dies
 * by itself now and then. A store that dies may have recorded a part as stored that it does not have. After a
 * power cut, it may also have lost parts of unfinished inserts, any of its records of inserts, and rows that
 * were loaded for a comparison.
 */
export class ModelStore {
  readonly #faults: Faults;
  readonly #server: SimProcess;
  readonly #embedded: boolean;
  readonly #engine: ModelEngine;
  /** Checksum of what was inserted under each token. */
  readonly #contents = new Map<string, number>();
  /** Parts that unfinished inserts have committed. */
  #unreturned: PlacedPart[] = [];
  /** What inserts are about to commit. */
  readonly #coming = new Set<PlacedPart>();
  /** Tokens of the inserts that run. */
  #running: string[] = [];
  /** How often it has died. */
  #deaths = 0;
  readonly #arrived = new Set<number>();
  /** Rows in the order in which they first arrived. */
  readonly arrivals: number[] = [];
  /** What a correct program never sends. */
  readonly violations: string[] = [];

  constructor(scheduler: Scheduler, faults: Faults) {
    const { random } = faults;
    this.#faults = faults;
    this.#server = scheduler.process();
    this.#embedded = random.chance(0.5);
    this.#engine = new ModelEngine(random.integer(1, 20));
  }

  /** How often each row is stored in each table. */
  get tables(): ReadonlyMap<string, ModelTable> {
    return this.#engine.tables;
  }

  isStored(id: number): boolean {
    return [...this.tables.values()].some(({ rows }) => rows.has(id));
  }

  /** The process is gone, and perhaps the power of its machine. */
  crash(powerCut: boolean): void {
    if (this.#embedded) this.#die(powerCut);
  }

  #die(powerCut: boolean): void {
    const { random } = this.#faults;
    this.#deaths += 1;
    this.#running = [];
    for (const { table, part } of this.#coming) if (random.chance(0.5)) table.remember(part);
    this.#coming.clear();
    if (powerCut) {
      for (const { table, part } of this.#unreturned) if (random.chance(0.5)) table.undo(part);
      for (const table of this.tables.values()) table.forget(random);
      this.#engine.comparisons.forget(random);
    }
    this.#unreturned = [];
  }

  /**
   * The store as one process reaches it.
   * @param onInsert called with a batch at the moment at which the process sends it
   */
  connect(client: SimProcess, onInsert: (batch: InsertBatch) => void): Store {
    const server = this.#embedded ? client : this.#server;
    const call = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      await client.delay();
      const outcome = await settled(work);
      // The reply is on its way; it never comes to a process that has ended.
      await client.delay();
      if ('error' in outcome) {
        const { error } = outcome;
        // Nobody drops tables here, and no row is bad.
        if (!(error instanceof StoreError && error.retryable))
          this.violations.push(`refused: ${String(error)}`);
        throw error;
      }
      this.#mayFail('the reply was lost');
      return outcome.result;
    };
    return {
      command: (statement) =>
        call(async () => {
          this.#mayFail('a statement failed');
          const missing = this.#engine.comparisons.insert(statement);
          if (missing === undefined) this.#engine.command(statement);
          else await this.#commit(this.#engine.table(missing.table, []), missing.token, missing.rows, server);
        }),
      select: (query) =>
        call(async () => {
          this.#mayFail('a query failed');
          const [, token] = /FROM system\.processes WHERE startsWith\(.*, '(.+\/)'\)$/.exec(query) ?? [];
          const running = this.#running.filter((other) => `${other}/`.startsWith(token ?? '')).length;
          return Buffer.from(token === undefined ? this.#engine.select(query) : `[${running}]`);
        }),
      insert: (batch) => {
        onInsert(batch);
        return call(() => this.#orGiveUp(client, this.#insert(batch, server)));
      },
      close: async () => {},
    };
  }

  #mayFail(what: string): void {
    if (!this.#faults.insert()) return;
    const code = failureCodes[this.#faults.random.integer(0, failureCodes.length - 1)];
    throw new StoreError(`simulated: ${what}`, code, undefined);
  }

  /** A sender may lose patience with an insert, which goes on. An embedded store has no such senders. */
  async #orGiveUp(client: SimProcess, insert: Promise<void>): Promise<void> {
    if (this.#embedded || !this.#faults.insertIsSlow()) return await insert;
    insert.catch(() => {});
    await client.delay();
    throw new StoreError('simulated: no answer in time', undefined, undefined);
  }

  async #insert(batch: InsertBatch, server: SimProcess): Promise<void> {
    const name = `${batch.database}.${batch.table}`;
    const rows = batch.blocks.flatMap((block) => decodeRows(block));
    for (const { id } of rows) {
      if (this.#arrived.has(id)) continue;
      this.#arrived.add(id);
      this.arrivals.push(id);
    }
    this.#mayFail('an insert failed');
    if (this.#engine.comparisons.load(name, rows)) return;
    this.#checkContents(batch);
    if (this.#faults.stuck(name))
      throw new StoreError(`simulated: ${name} is stuck`, tooManyParts, undefined);
    const columns = batch.columns.map(({ name }) => name);
    await this.#commit(this.#engine.table(name, columns), batch.token, rows, server);
  }

  async #commit(table: ModelTable, token: string, rows: readonly Row[], server: SimProcess): Promise<void> {
    const life = this.#deaths;
    const goOn = async () => {
      await server.turns();
      if (this.#deaths === life && !this.#embedded && this.#faults.storeDies()) {
        this.#die(this.#faults.chance(0.5));
      }
      if (this.#deaths !== life) throw new StoreError('simulated: the store died', undefined, undefined);
    };
    const own: PlacedPart[] = [];
    this.#running.push(token);
    try {
      for (const part of table.cut(token, rows)) {
        const placed = { table, part };
        this.#coming.add(placed);
        if (!this.#embedded && this.#faults.insertIsSlow()) {
          await server.wait(this.#faults.random.integer(1, 20_000));
        }
        await goOn();
        this.#coming.delete(placed);
        this.#mayFail('an insert failed between two parts');
        if (!table.commit(part)) continue;
        own.push(placed);
        this.#unreturned.push(placed);
      }
      await goOn();
    } finally {
      // It syncs a part and its name when it commits the part, so an insert that has ended, with or without
      // success, is synced.
      if (this.#deaths === life)
        this.#unreturned = this.#unreturned.filter((placed) => !own.includes(placed));
      const index = this.#running.indexOf(token);
      if (this.#deaths === life && index >= 0) this.#running.splice(index, 1);
    }
  }

  /** A token that comes with other contents would make the store drop rows that it does not have. */
  #checkContents({ token, columns, blocks }: InsertBatch): void {
    const checksum = crc32(Buffer.concat([Buffer.from(JSON.stringify(columns)), ...blocks]));
    const known = this.#contents.get(token);
    if (known !== undefined && known !== checksum) {
      this.violations.push(`the token ${token} came with two different contents`);
    }
    this.#contents.set(token, checksum);
  }
}

interface PlacedPart {
  readonly table: ModelTable;
  readonly part: Part;
}

type Settled<Result> = { readonly result: Result } | { readonly error: unknown };

async function settled<Result>(work: () => Promise<Result>): Promise<Settled<Result>> {
  try {
    return { result: await work() };
  } catch (error) {
    return { error };
  }
}
