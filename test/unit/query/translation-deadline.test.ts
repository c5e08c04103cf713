import { expect, it } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { TranslationDeadline } from '../../../src/query/translation-deadline.ts';

const { translationCheckIntervalMs: intervalMs, translationTimeoutMs, translationWallFactor } = limits;

/** A machine whose thread gets a share of its core; counts how often the CPU time was read. */
class Machine {
  nowMs = 1000;
  cpuMs: number | undefined = 70;
  reads = 0;
  exceeded: string[] = [];
  #due: { atMs: number; action: () => void } | undefined;

  deadline(maxCpuMs: number): TranslationDeadline {
    return new TranslationDeadline({
      maxCpuMs,
      readCpuMs: () => {
        this.reads += 1;
        return this.cpuMs;
      },
      clock: {
        monotonicMs: () => this.nowMs,
        after: (ms, action) => {
          const due = { atMs: this.nowMs + ms, action };
          this.#due = due;
          return () => {
            if (this.#due === due) this.#due = undefined;
          };
        },
      },
      onExceeded: (reason) => this.exceeded.push(reason),
    });
  }

  /** Until nothing is due, or that much time has passed. @param share of a core that the thread has */
  run(ms: number, share: number): void {
    const endMs = this.nowMs + ms;
    while (this.#due !== undefined && this.#due.atMs <= endMs) {
      const { atMs, action } = this.#due;
      this.#due = undefined;
      this.#pass(atMs - this.nowMs, share);
      action();
    }
    this.#pass(endMs - this.nowMs, share);
  }

  #pass(ms: number, share: number): void {
    this.nowMs += ms;
    if (this.cpuMs !== undefined) this.cpuMs += ms * share;
  }
}

it('reads nothing of what ends within the first interval, and nothing after the end', () => {
  const machine = new Machine();
  const deadline = machine.deadline(1000);
  machine.run(intervalMs - 1, 1);
  deadline.stop();
  machine.run(60_000, 1);
  expect(machine).toMatchObject({ reads: 0, exceeded: [] });
});

it('counts CPU time, looked at no more often than it can be exceeded', () => {
  const machine = new Machine();
  machine.deadline(1000);
  machine.run(1000, 1);
  expect(machine.exceeded).toEqual([]);
  machine.run(intervalMs, 1);
  expect(machine.exceeded).toEqual(['more than 1000 ms of CPU time']);
  expect(machine.reads).toBe(2);
});

it('waits for a thread that waits for its core', () => {
  const machine = new Machine();
  machine.deadline(1000);
  machine.run(9000, 0.1);
  expect(machine.exceeded).toEqual([]);
  machine.run(2000, 0.1);
  expect(machine.exceeded).toHaveLength(1);
});

it('does not wait for ever', () => {
  const machine = new Machine();
  machine.deadline(1000);
  machine.run(translationTimeoutMs - 1, 0);
  expect(machine.exceeded).toEqual([]);
  machine.run(intervalMs + 1, 0);
  expect(machine.exceeded).toEqual([`more than ${translationTimeoutMs} ms`]);
});

it('counts the wall clock, generously, where CPU time cannot be read', () => {
  const machine = new Machine();
  machine.cpuMs = undefined;
  machine.deadline(1000);
  machine.run(1000 * translationWallFactor - 1, 1);
  expect(machine.exceeded).toEqual([]);
  machine.run(intervalMs + 1, 1);
  expect(machine.exceeded).toEqual(['more than 1000 ms of CPU time']);
});
