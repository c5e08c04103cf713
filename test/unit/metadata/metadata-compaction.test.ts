import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/limits/limits.ts';
import { planCompaction, type Retention } from '../../../src/metadata/metadata-compaction.ts';
import { type EntryOutline, type MetadataKind, takesEffect } from '../../../src/metadata/metadata-log.ts';

const hour = 3_600_000;
const retentions = new Map<MetadataKind, Retention>([
  ['dashboard', { values: 3, minAgeMs: 24 * hour }],
  ['lease', { values: 1, minAgeMs: hour }],
]);

interface Entry extends EntryOutline {
  /** When it was written, in hours. */
  readonly at: number;
}

const outline = (
  id: string,
  base: string,
  { kind = 'dashboard', ageHours = 100, length = 1, isOldest = false } = {},
): EntryOutline => ({
  tenant: 't',
  kind: kind as MetadataKind,
  key: 'k',
  id,
  base,
  position: 0,
  isOldest,
  length,
  ageSeconds: ageHours * 3600,
});

describe('a compaction', () => {
  it('keeps the last values, and marks the oldest of them', () => {
    const entries = [
      outline('1', ''),
      outline('2', '1'),
      outline('3', '2'),
      outline('4', '3'),
      outline('5', '4'),
    ];
    expect(planCompaction(entries, retentions)).toMatchObject({ oldest: ['3'], removed: ['1', '2'] });
    expect(planCompaction(entries.slice(0, 3), retentions).removed).toEqual([]);
  });

  it('removes nothing that is young, nor what is before it', () => {
    const entries = [
      outline('1', ''),
      outline('2', '1', { ageHours: 23 }),
      outline('3', '2'),
      outline('4', '3'),
      outline('5', '4'),
    ];
    expect(planCompaction(entries, retentions)).toMatchObject({ oldest: ['2'], removed: ['1'] });
  });

  it('removes entries that took no effect with those around them, and keeps them behind', () => {
    const entries = [
      outline('1', ''),
      outline('late', 'x'),
      outline('2', '1'),
      outline('3', '2'),
      outline('lost', '2'),
      outline('4', '3'),
    ];
    expect(planCompaction(entries, retentions)).toMatchObject({ oldest: ['2'], removed: ['1', 'late'] });
  });

  it('keeps the end of a record alone, and removes it when it is a month old', () => {
    const end = (ageHours: number) => outline('3', '2', { length: 0, ageHours });
    const before = [outline('1', ''), outline('2', '1')];
    expect(planCompaction([...before, end(100)], retentions)).toMatchObject({
      oldest: ['3'],
      removed: ['1', '2'],
    });
    expect(planCompaction([end(29 * 24)], retentions).removed).toEqual([]);
    expect(planCompaction([end(31 * 24)], retentions)).toMatchObject({ oldest: [], removed: ['3'] });
  });

  it('keeps as much of each kind as is said, and all of others', () => {
    const chain = (kind: string) =>
      [1, 2, 3, 4].map((n) =>
        outline(`${kind}${n}`, n === 1 ? '' : `${kind}${n - 1}`, { kind, ageHours: 2 }),
      );
    const { removed } = planCompaction(
      [...chain('dashboard'), ...chain('lease'), ...chain('role')],
      retentions,
    );
    expect(removed).toEqual(['lease1', 'lease2', 'lease3']);
  });

  it('removes a bounded number at once, and goes on with the rest', () => {
    const count = limits.maxCompactedEntries + 500;
    const entries = Array.from({ length: count }, (_, n) =>
      outline(`${n}`, n === 0 ? '' : `${n - 1}`, { kind: 'lease' }),
    );
    const first = planCompaction(entries, retentions);
    expect(first.removed).toHaveLength(limits.maxCompactedEntries);
    const rest = entries
      .slice(limits.maxCompactedEntries)
      .map((entry) => ({ ...entry, isOldest: first.oldest.includes(entry.id) }));
    expect(planCompaction(rest, retentions)).toMatchObject({
      oldest: [`${count - 1}`],
      removed: expect.objectContaining({ length: 499 }),
    });
  });
});

/** A node's copy: what is in force of each key, and how far it has read. */
class Reader {
  readonly current = new Map<string, string>();
  #next = 0;

  read(log: readonly Entry[]): void {
    for (const entry of log) {
      if (entry.position < this.#next) continue;
      this.#next = entry.position + 1;
      if (!takesEffect(entry, this.current.get(entry.key))) continue;
      if (entry.length === 0) this.current.delete(entry.key);
      else this.current.set(entry.key, entry.id);
    }
  }
}

type Step =
  | { readonly do: 'write'; readonly key: string; readonly by: number; readonly chance: number }
  | { readonly do: 'wait'; readonly hours: number }
  | { readonly do: 'compact'; readonly order: readonly number[]; readonly isStale: boolean };

/** A log that some write, each on what it has read, and that is compacted meanwhile. */
class CompactedLog {
  #entries: Entry[] = [];
  #nowHours = 0;
  #written = 0;
  /** Reads each entry when it is written, so no compaction concerns it. */
  readonly #witness = new Reader();
  readonly #writers = [new Reader(), new Reader(), new Reader()];
  /** What another node took for the log, for its compaction. */
  #seenBefore: Entry[] = [];
  removals = 0;

  do(step: Step): void {
    if (step.do === 'wait') this.#nowHours += step.hours;
    else if (step.do === 'write') this.#write(step);
    else this.#compact(step);
    this.#expectAgreement();
  }

  /** The writers, which have not read for a while. */
  expectWritersToAgree(): void {
    for (const writer of this.#writers) {
      writer.read(this.#entries);
      expect(shown(writer)).toEqual(shown(this.#witness));
    }
  }

  #write({ key, by, chance }: Extract<Step, { do: 'write' }>): void {
    const writer = this.#writers[by];
    // Some are late.
    if (chance % 4 > 0) writer?.read(this.#entries);
    const base = writer?.current.get(key) ?? '';
    const ends = base !== '' && chance % 10 === 0;
    this.#written += 1;
    const entry = outline(`e${this.#written}`, base, {
      length: ends ? 0 : 1,
      kind: key === 'x' ? 'dashboard' : 'lease',
    });
    this.#entries = [...this.#entries, { ...entry, key, position: this.#written, at: this.#nowHours }];
    this.#witness.read(this.#entries);
  }

  #compact({ order, isStale }: Extract<Step, { do: 'compact' }>): void {
    const known = isStale ? this.#seenBefore : this.#entries;
    this.#seenBefore = this.#entries;
    const outlines = known.map((entry) => ({ ...entry, ageSeconds: (this.#nowHours - entry.at) * 3600 }));
    const { oldest, removed } = planCompaction(outlines, retentions);
    this.#entries = this.#entries.map((entry) =>
      oldest.includes(entry.id) ? { ...entry, isOldest: true } : entry,
    );
    this.#expectAgreement();
    // The store removes them part by part, in any order, and a crash may leave some.
    const left = [...removed];
    for (const at of order) {
      const [id] = left.splice(at % Math.max(1, left.length), 1);
      this.#entries = this.#entries.filter((entry) => entry.id !== id);
      this.#expectAgreement();
    }
    this.removals += removed.length - left.length;
  }

  #expectAgreement(): void {
    const fresh = new Reader();
    fresh.read(this.#entries);
    expect(shown(fresh)).toEqual(shown(this.#witness));
  }
}

const shown = ({ current }: Reader) => [...current].sort();

describe('readers of a log that is compacted', () => {
  const stepsWith = (hours: readonly number[]): fc.Arbitrary<Step[]> =>
    fc.array(
      fc.oneof(
        {
          weight: 8,
          arbitrary: fc.record({
            do: fc.constant('write' as const),
            key: fc.constantFrom('x', 'y'),
            by: fc.nat(2),
            chance: fc.nat(1000),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(...hours) }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            do: fc.constant('compact' as const),
            order: fc.array(fc.nat(), { maxLength: 20 }),
            isStale: fc.boolean(),
          }),
        },
      ),
      { minLength: 20, maxLength: 80 },
    );

  it('agree at every time, however late writers are and in whatever order entries go', () => {
    let removals = 0;
    fc.assert(
      fc.property(stepsWith([1, 25, 800]), (steps) => {
        const log = new CompactedLog();
        for (const step of steps) log.do(step);
        removals += log.removals;
      }),
    );
    expect(removals).toBeGreaterThan(100);
  });

  it('agree if they have not read for long, but for less than a month', () => {
    let removals = 0;
    fc.assert(
      fc.property(stepsWith([1, 2]), (steps) => {
        const log = new CompactedLog();
        for (const step of steps) log.do(step);
        log.expectWritersToAgree();
        removals += log.removals;
      }),
    );
    expect(removals).toBeGreaterThan(100);
  });
});
