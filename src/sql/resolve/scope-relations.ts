import { spend } from '../budget.ts';
import type { Expr } from '../ir.ts';
import { identifiersOf } from '../syntax/identifier.ts';
import type { ScopeColumns } from './scope-columns.ts';

/** A relation of FROM as names see it. */
export interface ScopeRelation {
  /** Undefined for a subquery without alias, whose columns have no qualified name. */
  readonly name: string | undefined;
  readonly columns: ScopeColumns;
  /** Relations whose columns aren't known beforehand (labels): any other name is a column, too. */
  readonly otherColumn: ((name: string) => Expr) | undefined;
  /** A function that gives rows of one value: the relation's own name is that value. */
  readonly value?: () => Expr;
}

/**
 * Relations side by side. Each of a chain of joins sees those to its left: they share one list and one index
 * of it, of which each knows the beginning that is its own.
 */
export class ScopeRelations {
  readonly length: number;
  readonly #all: ScopeRelation[];
  /** The first relation of each name. */
  readonly #places: Map<string, number>;

  private constructor(all: ScopeRelation[], places: Map<string, number>) {
    this.#all = all;
    this.#places = places;
    this.length = all.length;
  }

  static of(relations: Iterable<ScopeRelation>): ScopeRelations {
    return new ScopeRelations([], new Map()).#extended(relations);
  }

  /** These, and others behind them. */
  with(others: ScopeRelations): ScopeRelations {
    const isWhole = this.#all.length === this.length;
    return (isWhole ? this : ScopeRelations.of(this)).#extended(others);
  }

  #extended(relations: Iterable<ScopeRelation>): ScopeRelations {
    for (const relation of relations) {
      spend('steps');
      const place = this.#all.push(relation) - 1;
      for (const identifier of relation.name === undefined ? [] : identifiersOf(relation.name)) {
        if (!this.#places.has(identifier)) this.#places.set(identifier, place);
      }
    }
    return new ScopeRelations(this.#all, this.#places);
  }

  /** The first that an identifier means. */
  named(identifier: string): ScopeRelation | undefined {
    spend('steps');
    const place = this.#places.get(identifier);
    return place === undefined || place >= this.length ? undefined : this.#all[place];
  }

  [Symbol.iterator](): Generator<ScopeRelation> {
    return this.#between(0, this.length);
  }

  /** Those before the place `first`, and those from the place `end` on. */
  *without(first: number, end: number): Generator<ScopeRelation> {
    yield* this.#between(0, first);
    yield* this.#between(end, this.length);
  }

  *#between(first: number, end: number): Generator<ScopeRelation> {
    for (let place = first; place < end; place += 1) {
      spend('steps');
      const relation = this.#all[place];
      if (relation !== undefined) yield relation;
    }
  }
}
