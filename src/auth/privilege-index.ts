import {
  type Privilege,
  type PrivilegeName,
  privilegeNames,
  type ReadableRows,
  type Tag,
} from '../model/identity.ts';

/** A set of privilege names, one bit each. */
export type PrivilegeSet = number;

export const privilegeSet = (names: readonly PrivilegeName[]): PrivilegeSet =>
  names.reduce((set, name) => set | (1 << privilegeNames.indexOf(name)), 0);

interface Reading {
  /** Its position among all privileges. Readable rows keep this order. */
  readonly position: number;
  readonly tag: Tag | undefined;
}

interface OnDataset {
  held: PrivilegeSet;
  readonly readings: Reading[];
  /** Filled at the first request. */
  rows: ReadableRows | undefined;
}

/**
 * The privileges of a principal by dataset, so that those on one of thousands of datasets are found at once.
 */
export class PrivilegeIndex {
  /** Held on all datasets. */
  everywhere: PrivilegeSet = 0;
  /** Held on at least one dataset. */
  somewhere: PrivilegeSet = 0;
  readonly #datasets = new Map<string, OnDataset>();
  readonly #readings: Reading[] = [];
  readonly #otherRows: ReadableRows;

  /** @param reading the privileges that allow reading rows */
  constructor(privileges: readonly Privilege[], reading: PrivilegeSet) {
    for (const [position, { privilege, dataset, tag }] of privileges.entries()) {
      const held = privilegeSet([privilege]);
      const readings = (held & reading) === 0 ? [] : [{ position, tag }];
      this.somewhere |= held;
      if (dataset === undefined) {
        this.everywhere |= held;
        this.#readings.push(...readings);
        continue;
      }
      const known = this.#datasets.get(dataset) ?? { held: 0, readings: [], rows: undefined };
      known.held |= held;
      known.readings.push(...readings);
      this.#datasets.set(dataset, known);
    }
    this.#otherRows = rowsOf(this.#readings);
  }

  /** The privileges on this dataset. */
  on(dataset: string): PrivilegeSet {
    return this.everywhere | (this.#datasets.get(dataset)?.held ?? 0);
  }

  /** Returns the same object each time. */
  rows(dataset: string): ReadableRows {
    const known = this.#datasets.get(dataset);
    if (known === undefined) return this.#otherRows;
    known.rows ??= rowsOf([...this.#readings, ...known.readings].sort((a, b) => a.position - b.position));
    return known.rows;
  }
}

/** Privileges add up: one without a tag allows all rows. */
function rowsOf(readings: readonly Reading[]): ReadableRows {
  if (readings.length === 0) return 'none';
  const tags: Tag[] = [];
  for (const { tag } of readings) {
    if (tag === undefined) return 'all';
    tags.push(tag);
  }
  return tags;
}
