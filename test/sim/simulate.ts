import { errorText } from '../../src/errors.ts';
import { runClient } from './client.ts';
import { checkOrder, checkPromise, checkRest } from './invariants.ts';
import { type Life, startLife } from './life.ts';
import type { SimProcess } from './scheduler.ts';
import { World } from './world.ts';

/** What happened in one run; `violations` is empty when every promise was kept. */
export interface RunReport {
  readonly seed: number;
  readonly lives: number;
  readonly steps: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly unanswered: number;
  readonly violations: readonly string[];
}

/** Steps in which a service without faults must have come to rest; it needs a few thousand. */
const maxQuietSteps = 30_000;
/** Longer than any simulated run. */
const foreverMs = 1e9;

/**
 * One run: some lives of the service on one disk and one store, under faults, each ended at a random moment.
 * Then one life in which the faults end, and one without any. After these, every promise is checked.
 * @param traced tells the story of the run on stderr
 */
export async function simulate(seed: number, traced = false): Promise<RunReport> {
  const world = new World(seed, traced);
  const run = new Run(world);
  // A promise that fails with nobody to hear of it would end the real process.
  const onUnheard = (thrown: unknown) => world.violate(`nobody handled: ${stackOf(thrown)}`);
  process.on('unhandledRejection', onUnheard);
  try {
    await run.all();
  } finally {
    process.off('unhandledRejection', onUnheard);
  }
  const { ledger, violations } = world;
  return {
    seed,
    lives: run.lives,
    steps: run.steps,
    acknowledged: ledger.count('acknowledged'),
    refused: ledger.count('refused'),
    unanswered: ledger.count('unanswered'),
    violations,
  };
}

class Run {
  readonly #world: World;
  lives = 0;
  steps = 0;
  #lastClient = 0;

  constructor(world: World) {
    this.#world = world;
  }

  async all(): Promise<void> {
    const world = this.#world;
    const good = () => world.violations.length === 0;
    for (let left = world.scheduler.random.integer(1, 16); left > 0 && good(); left -= 1) {
      await this.#troubledLife();
    }
    world.faults.quiet = true;
    const troubledSteps = [0, 300, 1000][world.scheduler.random.integer(0, 2)] ?? 0;
    const last = good() ? await this.#lastLife(3, troubledSteps) : undefined;
    // Nobody writes: what the previous life finished must survive a power cut.
    if (good()) await this.#lastLife(0, 0);
    if (!good() || last === undefined) return;
    checkPromise(world, last.catalog);
    checkOrder(world);
  }

  /** Ends between any two steps, by a kill or a power cut, sometimes while it is stopping after a signal. */
  async #troubledLife(): Promise<void> {
    const world = this.#world;
    const { random } = world.scheduler;
    const process = world.scheduler.process();
    let life: Life | undefined;
    const serving = new Task(async () => {
      life = await this.#start(process);
      await this.#clients(life, random.integer(1, 6), 1000);
    });
    await this.#until(serving, random.integer(0, [30, 150, 500][random.integer(0, 2)] ?? 0));
    if (!serving.failed && life !== undefined && random.chance(0.3)) {
      const graceMs = random.integer(0, 20_000);
      world.trace(() => 'stops');
      await this.#until(new Task(stop(life, graceMs)), random.integer(0, 3000));
    } else if (!serving.failed && random.chance(0.8)) {
      // The worst moments are those in which something is not on the disk yet.
      const contents = random.chance(0.7);
      const { disk } = world;
      await this.#until(serving, 300, () => (contents ? disk.hasDirtyContents : disk.isDirty));
      await this.#until(serving, random.integer(0, 3));
    }
    if (serving.failed && life !== undefined) world.violate(`a sender saw ${stackOf(serving.error)}`);
    else if (serving.failed) world.trace(() => `the start failed: ${errorText(serving.error)}`);
    process.end();
    world.crash(world.disk.hasDirtyContents ? 0.9 : 0.5);
  }

  /**
   * Stops by itself, without faults, and must then have left nothing behind.
   * @param troubledSteps at its beginning it has faults for so many steps, and lives on when they pass
   */
  async #lastLife(clients: number, troubledSteps: number): Promise<Life | undefined> {
    const world = this.#world;
    const process = world.scheduler.process();
    let life: Life | undefined;
    const start = async () => {
      life = await this.#start(process);
    };
    if ((await this.#mustEnd(new Task(start))) && life !== undefined) {
      const serving = new Task(this.#clients.bind(this, life, clients, 10));
      world.faults.quiet = false;
      await this.#until(serving, troubledSteps);
      world.faults.quiet = true;
      const ended =
        (await this.#mustEnd(serving)) &&
        // A file whose removal failed is removed with the next segment, so there must be one.
        (await this.#mustEnd(new Task(this.#clients.bind(this, life, clients, 10)))) &&
        (await this.#mustEnd(new Task(stop(life, foreverMs))));
      if (ended) checkRest(world, life.wal, life.backlog);
    }
    process.end();
    world.crash(1);
    return life;
  }

  /** Without faults, work succeeds and comes to an end. */
  async #mustEnd(task: Task): Promise<boolean> {
    await this.#until(task, maxQuietSteps);
    if (task.failed) this.#world.violate(`without faults, the service saw ${stackOf(task.error)}`);
    else if (!task.done) this.#world.violate('without faults, the service does not come to rest');
    return task.done;
  }

  async #start(process: SimProcess): Promise<Life> {
    const life = await startLife(this.#world, process);
    this.lives += 1;
    this.#world.trace(() => `life ${this.lives} has started with ${life.backlog.size} segments`);
    return life;
  }

  async #clients(life: Life, count: number, requests: number): Promise<void> {
    const clients = Array.from({ length: count }, (_, index) => this.#lastClient + index + 1);
    this.#lastClient += count;
    await Promise.all(clients.map((client) => runClient(this.#world, life, client, requests)));
  }

  /** Steps until a task ends, a condition is true, or so many steps were made. */
  async #until(task: Task, maxSteps: number, reached = () => false): Promise<void> {
    await this.#world.scheduler.settle();
    for (let left = maxSteps; left > 0 && !task.done && !task.failed && !reached(); left -= 1) {
      this.steps += 1;
      if (!(await this.#world.scheduler.step())) {
        this.#world.violate('everybody waits, and nothing is left that could happen');
        return;
      }
    }
  }
}

/** As the service's `stop` ends its durable path. */
const stop =
  ({ wal, drain, monitor }: Life, graceMs: number) =>
  async (): Promise<void> => {
    await wal.close();
    await drain.stop(graceMs);
    monitor.stop();
  };

/** Work that goes on while the scheduler steps, and that may never end. */
class Task {
  done = false;
  failed = false;
  error: unknown;

  constructor(work: () => Promise<void>) {
    work().then(
      () => {
        this.done = true;
      },
      (error: unknown) => {
        this.failed = true;
        this.error = error;
      },
    );
  }
}

const stackOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
