import { expect, it } from 'vitest';
import { DatasetChanges } from '../../../src/datasets/dataset-changes.ts';
import { AppError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits/limits.ts';

const turn = () => new Promise(setImmediate);
const codeOf = (made: Promise<void>) =>
  made.then(
    () => 'made',
    (error: unknown) => (error instanceof AppError ? error.code : 'failed'),
  );

/** Records the changes that are made. */
class Made {
  readonly changes = new DatasetChanges();
  readonly names: string[] = [];
  #running = 0;

  make(tenant: string, id: string, name: string, setting: 'retention' | 'limits' = 'retention') {
    return codeOf(
      this.changes.make(tenant, id, setting, async () => {
        this.#running += 1;
        expect(this.#running).toBe(1);
        await turn();
        this.names.push(name);
        this.#running -= 1;
        if (name.endsWith('fails')) throw new Error('it fails');
      }),
    );
  }
}

it('a change takes the place of those that wait, and never of one that has begun', async () => {
  const made = new Made();
  const first = made.make('a', 'app', 'first');
  const replaced = [made.make('a', 'app', 'second'), made.make('a', 'app', 'third')];
  const others = [made.make('a', 'web', 'web'), made.make('a', 'app', 'limits', 'limits')];
  expect(await Promise.all([first, ...replaced, ...others])).toEqual(Array(5).fill('made'));
  expect(made.names).toEqual(['first', 'third', 'web', 'limits']);
  expect(await made.make('a', 'app', 'later')).toBe('made');
});

it('all who wait for a change learn that it failed, and the next one is made', async () => {
  const made = new Made();
  const first = made.make('a', 'app', 'first');
  const failing = [made.make('a', 'app', 'second'), made.make('a', 'app', 'third fails')];
  expect(await Promise.all([first, ...failing])).toEqual(['made', 'failed', 'failed']);
  expect(await made.make('a', 'app', 'next')).toBe('made');
  expect(made.names).toEqual(['first', 'third fails', 'next']);
});

it('a tenant that fills the queue is refused, and another one has the next turn', async () => {
  const made = new Made();
  const flood = Array.from({ length: limits.maxPendingDatasetChanges + 10 }, (_, index) =>
    made.make('a', `app${index}`, `a${index}`),
  );
  const other = made.make('b', 'app', 'b');
  const outcomes = await Promise.all(flood);
  expect(await other).toBe('made');
  expect(outcomes.filter((code) => code === 'overloaded')).toHaveLength(10);
  expect(made.names.indexOf('b')).toBeLessThanOrEqual(2);
  expect(await made.make('a', 'app70', 'refused before')).toBe('made');
});

it('no more callers than allowed wait for the same change', async () => {
  const made = new Made();
  const first = made.make('a', 'app', 'first');
  const callers = Array.from({ length: limits.maxCallersPerDatasetChange + 2 }, () =>
    made.make('a', 'app', 'same'),
  );
  const outcomes = await Promise.all(callers);
  expect(await first).toBe('made');
  expect(outcomes.filter((code) => code === 'overloaded')).toHaveLength(2);
  expect(made.names).toEqual(['first', 'same']);
});
