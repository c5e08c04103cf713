import type { LowVolumeOptions } from '../../src/drain/low-volume-tables.ts';
import { createLogger, type Logger } from '../../src/lib/log.ts';
import { seededRandom } from '../support/lib/random.ts';
import { SimDisk } from './disk.ts';
import { Faults } from './faults.ts';
import { Ledger } from './ledger.ts';
import { ModelStore } from './model-store.ts';
import { Scheduler } from './scheduler.ts';

/** All that outlives a life of the service. Everything in it follows from the seed. */
export class World {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  /** The directory of the log. */
  readonly disk: SimDisk;
  /** The directory of the dead letters: no row here is bad, so it stays empty. */
  readonly deadLetters: SimDisk;
  readonly store: ModelStore;
  readonly ledger = new Ledger();
  readonly log: Logger;
  readonly powerCuts: boolean;
  /** The same in all lives: a table that one life inserts alone, the next one must insert alone, too. */
  readonly lowVolume: LowVolumeOptions;
  readonly #violations: string[] = [];
  readonly #traced: boolean;

  constructor(seed: number, traced: boolean) {
    this.scheduler = new Scheduler(seededRandom(seed));
    this.faults = new Faults(this.scheduler);
    this.disk = new SimDisk(this.faults);
    this.deadLetters = new SimDisk(this.faults);
    this.store = new ModelStore(this.scheduler, this.faults);
    this.powerCuts = this.scheduler.random.chance(0.7);
    const { random } = this.scheduler;
    const many = random.chance(0.6);
    const insertsPerSecond = random.integer(1, 20);
    this.lowVolume = {
      maxUnbatchedTables: many ? random.integer(0, 6) : 100,
      minUnbatchedBytes: random.integer(0, 4000),
      maxWaitMs: random.integer(1, [100, 5000][random.integer(0, 1)] ?? 0),
      maxBytes: random.integer(1000, 100_000),
      insertsPerSecond,
      maxBatchedDatasets: 1 + (insertsPerSecond % 4),
    };
    this.log = createLogger(traced ? 'info' : 'silent');
    this.#traced = traced;
  }

  /** What a correct program never lets happen. */
  get violations(): readonly string[] {
    return [...this.#violations, ...this.disk.violations, ...this.store.violations];
  }

  /** The process is gone, sometimes by a power cut, if these happen. */
  crash(powerCutChance: number): void {
    this.ledger.disconnect();
    if (this.powerCuts && this.scheduler.random.chance(powerCutChance)) {
      this.trace(() => 'the power is cut');
      this.disk.cutPower();
      this.store.crash(true);
    } else {
      this.trace(() => 'the process is killed');
      this.disk.kill();
      this.store.crash(false);
    }
  }

  violate(what: string): void {
    this.#violations.push(what);
    this.trace(() => `VIOLATION: ${what}`);
  }

  /** Logs the steps of a run that is traced. */
  trace(line: () => string): void {
    if (this.#traced) process.stderr.write(`${this.scheduler.nowMs.toFixed(0).padStart(8)} ms  ${line()}\n`);
  }
}
